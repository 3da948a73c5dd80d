#include "rewind/tensor/indexing.h"

#include "rewind/base/error.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/share_ops.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"
#include "rewind/tensor/variable.h"

namespace rw {
namespace {

// One of begin, end and strides while it is put together.
struct Spec {
  std::vector<int64_t> numbers;
  std::vector<Tensor> tensors;  // one per number, undefined where the number holds
  bool traced = false;
  bool wide = false;  // does not fit int32

  void add(int64_t value, const Tensor& tensor = {}) {
    numbers.push_back(value);
    tensors.push_back(tensor);
    traced |= tensor.defined();
    wide |= value != int32_t(value) || (tensor.defined() && tensor.dtype() == DType::kInt64);
  }
  Tensor tensor(DType dtype) const {
    if (!traced) return constant(numbers, dtype);
    std::vector<Tensor> parts;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!tensors[i].defined()) parts.push_back(scalar_tensor(numbers[i], dtype));
      else if (tensors[i].dtype() == dtype) parts.push_back(tensors[i]);
      else parts.push_back(apply_one(RW_OP("Cast"), {&tensors[i]}, {{"DstT", dtype}}));
    }
    return std::move(rw::apply(RW_OP("Pack"), parts)[0]);
  }
};

Tensor plus_one(const Tensor& t) {
  const Tensor one = scalar_tensor(int64_t{1}, t.dtype());
  return apply_one(RW_OP("AddV2"), {&t, &one});
}

// A block of an eager tensor, taken where no listener of this thread has to hear of an op. Undefined where
// the op is needed.
Tensor block_of(const Tensor& x, std::span<const int64_t> places) {
  const ThreadState& state = thread_state();
  if (state.recorders || state.depth > 0 || state.trace || log_device_placement()) return {};
  if (!x.defined() || x.impl()->kind != TensorKind::kEager) return {};
  Value block;
  if (!take_block(*x.impl(), places, &block)) return {};
  return make_tensor(std::move(block));
}

struct SliceInputs {
  Tensor begin, end, strides;
  Attrs masks;
};

SliceInputs slice_inputs(std::span<const Index> indices) {
  Spec begin, end, step;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
  if (indices.size() > 31)
    fail_invalid("strided_slice", "at most 31 indices are allowed: got " + std::to_string(indices.size()));
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t bit = int64_t{1} << i;
    const Slice& s = indices[i].slice();
    switch (indices[i].kind()) {
      case Index::Kind::kAt:
        shrink_mask |= bit;
        begin.add(s.begin().value(), s.begin().tensor());
        end.add(s.begin().value() + 1,
                s.begin().tensor().defined() ? plus_one(s.begin().tensor()) : Tensor());
        step.add(1);
        break;
      case Index::Kind::kSlice:
        if (s.begin().open()) begin_mask |= bit;
        if (s.end().open()) end_mask |= bit;
        begin.add(s.begin().value(), s.begin().tensor());
        end.add(s.end().value(), s.end().tensor());
        step.add(s.step().open() ? 1 : s.step().value(), s.step().tensor());
        break;
      case Index::Kind::kNewAxis:
      case Index::Kind::kEllipsis:
        (indices[i].kind() == Index::Kind::kNewAxis ? new_axis_mask : ellipsis_mask) |= bit;
        begin.add(0);
        end.add(0);
        step.add(1);
        break;
    }
  }
  std::vector<std::pair<std::string, AttrValue>> masks;
  const auto add = [&](const char* name, int64_t mask) {
    if (mask != 0) masks.emplace_back(name, mask);
  };
  add("begin_mask", begin_mask);
  add("end_mask", end_mask);
  add("ellipsis_mask", ellipsis_mask);
  add("new_axis_mask", new_axis_mask);
  add("shrink_axis_mask", shrink_mask);
  const DType dtype = begin.wide || end.wide || step.wide ? DType::kInt64 : DType::kInt32;
  return {begin.tensor(dtype), end.tensor(dtype), step.tensor(dtype), Attrs(masks)};
}

}  // namespace

SliceBound::SliceBound(const Tensor& value) : open_(false) {
  const DType dtype = value.dtype();
  if (!is_integer(dtype) || value.rank() != 0)
    fail_invalid("index", "a tensor used as an index must be an integer scalar: got " +
                              std::string(name_of(dtype)) + value.shape().to_string() +
                              "; rw::gather takes lists of indices");
  if (value.impl()->kind != TensorKind::kEager) {
    tensor_ = value;
    return;
  }
  const void* data = value.host_data();
  switch (dtype) {
    case DType::kInt64: value_ = *static_cast<const int64_t*>(data); break;
    case DType::kInt32: value_ = *static_cast<const int32_t*>(data); break;
    case DType::kInt16: value_ = *static_cast<const int16_t*>(data); break;
    case DType::kInt8: value_ = *static_cast<const int8_t*>(data); break;
    case DType::kUint8: value_ = *static_cast<const uint8_t*>(data); break;
    case DType::kUint16: value_ = *static_cast<const uint16_t*>(data); break;
    case DType::kUint32: value_ = *static_cast<const uint32_t*>(data); break;
    default: value_ = int64_t(*static_cast<const uint64_t*>(data));
  }
}

Tensor Tensor::index(std::initializer_list<Index> indices) const {
  return index(std::span<const Index>(indices.begin(), indices.size()));
}

Tensor Tensor::index(std::span<const Index> indices) const {
  constexpr size_t kMost = 8;
  int64_t places[kMost];
  size_t n = 0;
  for (; n < indices.size() && n < kMost; ++n) {
    const SliceBound& at = indices[n].slice().begin();
    if (indices[n].kind() != Index::Kind::kAt || at.tensor().defined()) break;
    places[n] = at.value();
  }
  if (n == indices.size())
    if (Tensor block = block_of(*this, {places, n}); block.defined()) return block;
  const SliceInputs in = slice_inputs(indices);
  return apply_one(RW_OP("StridedSlice"), {this, &in.begin, &in.end, &in.strides}, in.masks);
}

void assign_slice(const Variable& variable, std::initializer_list<Index> indices, const Operand& value) {
  const SliceInputs in = slice_inputs({indices.begin(), indices.size()});
  apply(RW_OP("ResourceStridedSliceAssign"),
        {&variable.handle(), &in.begin, &in.end, &in.strides, &value.tensor(variable.dtype())}, in.masks);
}

// The commonest index; nothing is built that can be kept.
Tensor Tensor::operator[](int64_t index) const {
  if (Tensor block = block_of(*this, {&index, 1}); block.defined()) return block;
  static const auto& kOneRow = *new Attrs{{"shrink_axis_mask", 1}};
  static const auto& kStep = *new Tensor(constant(std::vector<int64_t>{1}));
  const int64_t next = index + 1;
  const Tensor begin = tensor_from_bytes(&index, DType::kInt64, {1}),
               end = tensor_from_bytes(&next, DType::kInt64, {1});
  return apply_one(RW_OP("StridedSlice"), {this, &begin, &end, &kStep}, kOneRow);
}

Tensor::Iterator Tensor::begin() const {
  if (rank() == 0) fail_invalid("tensor", "a scalar has no rows to go through");
  return {*this, 0};
}
Tensor::Iterator Tensor::end() const {
  const int64_t rows = rank() == 0 ? 0 : dim(0);
  if (rows < 0)
    fail_staged("tensor", "the number of rows is not known while the function is traced: the shape is " +
                              shape().to_string() + "; rw::while_loop goes through them");
  return {*this, rows};
}

}  // namespace rw
