#include "rewind/tensor/ops/ints.h"

#include <algorithm>
#include <limits>

#include "rewind/tensor/apply.h"

namespace rw {
namespace {

bool fits(int64_t v) {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}

Tensor make(const int64_t* values, size_t count, const Shape& shape) {
  if (!std::all_of(values, values + count, fits)) return tensor_from_bytes(values, DType::kInt64, shape);
  const std::vector<int32_t> narrow(values, values + count);
  return tensor_from_bytes(narrow.data(), DType::kInt32, shape);
}
Tensor make_list(const int64_t* values, size_t count) { return make(values, count, Shape{int64_t(count)}); }

Tensor make_pairs(const std::pair<int64_t, int64_t>* pairs, size_t count) {
  std::vector<int64_t> flat;
  for (size_t i = 0; i < count; ++i) {
    flat.push_back(pairs[i].first);
    flat.push_back(pairs[i].second);
  }
  return make(flat.data(), flat.size(), Shape{int64_t(count), 2});
}

}  // namespace

Ints::Ints(std::initializer_list<int64_t> values) : tensor_(make_list(values.begin(), values.size())) {}
Ints::Ints(const std::vector<int64_t>& values) : tensor_(make_list(values.data(), values.size())) {}
Ints::Ints(const std::vector<int>& values) : Ints(std::vector<int64_t>(values.begin(), values.end())) {}
Ints::Ints(const Shape& shape) : tensor_(make_list(shape.begin(), shape.dims().size())) {}
Ints::Ints(int64_t value) : tensor_(make(&value, 1, Shape())) {}

Tensor Ints::vector() const {
  if (tensor_.rank() != 0) return tensor_;
  const int64_t length = 1;
  const Tensor one = make_list(&length, 1);
  return apply_one(RW_OP("Reshape"), {&tensor_, &one});
}

Paddings::Paddings(std::initializer_list<std::pair<int64_t, int64_t>> pairs)
    : tensor_(make_pairs(pairs.begin(), pairs.size())) {}
Paddings::Paddings(const std::vector<std::pair<int64_t, int64_t>>& pairs)
    : tensor_(make_pairs(pairs.data(), pairs.size())) {}

}  // namespace rw
