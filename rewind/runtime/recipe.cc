#include "rewind/runtime/recipe.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "rewind/base/error.h"

namespace rw {

Recipe* RecipeStore::allocate(const Op& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs) {
  const size_t bytes = sizeof(Recipe) + num_outputs * sizeof(RecipeOutput) + num_inputs * sizeof(RecipeInput);
  const size_t units = (bytes + kUnit - 1) / kUnit;
  void* room = nullptr;
  if (units > kUnits) {
    room = ::operator new(bytes);
  } else if (free_[units]) {
    room = std::exchange(free_[units], free_[units]->next);
  } else {
    if (size_t(end_ - at_) < units * kUnit) {
      // The rest of a chunk, less than half a kilobyte, stays unused.
      at_ = chunks_.emplace_back(new char[kChunk]).get();
      end_ = at_ + kChunk;
    }
    room = at_;
    at_ += units * kUnit;
  }
  auto* r = ::new (room) Recipe{.refs = 1,
                                .num_inputs = uint16_t(num_inputs),
                                .num_outputs = uint16_t(num_outputs),
                                .op = &op,
                                .attrs = attrs,
                                .start = 0,
                                .cost = 0,
                                .missing = 0,
                                .after = 0,
                                .place = 0,
                                .heir = nullptr,
                                .line = 0,
                                .uses = 0,
                                .units = uint8_t(units > kUnits ? 0 : units),
                                .in_cuts = false,
                                .was_cut = false,
                                .backward = false};
  for (size_t i = 0; i < num_outputs; ++i)
    ::new (static_cast<void*>(r->outputs() + i)) RecipeOutput{.data = nullptr,
                                                              .handle = nullptr,
                                                              .slot = -1,
                                                              .used = 0,
                                                              .pins = 0,
                                                              .index = uint32_t(i),
                                                              .form = RecipeOutput::kNoForm,
                                                              .fixed = 0,
                                                              .lost = 0,
                                                              .filed = 0};
  return r;
}

void RecipeStore::free(Recipe* r) {
  const size_t units = r->units;
  r->~Recipe();
  if (units == 0) return ::operator delete(r);
  free_[units] = ::new (static_cast<void*>(r)) Free{free_[units]};
}

void RecipeStore::clear() {
  if (chunks_.empty()) return;
  std::fill(std::begin(free_), std::end(free_), nullptr);
  chunks_.resize(1);
  at_ = chunks_[0].get();
  end_ = at_ + kChunk;
}

bool Forms::is(uint32_t number, const Shape& shape, DType dtype, int64_t offset) const {
  const Form& f = list_[number];
  return f.dtype == dtype && f.offset == offset && f.shape == shape;
}

uint32_t Forms::number_of(const Shape& shape, DType dtype, int64_t offset) {
  if (!list_.empty()) {
    if (is(recent_[0], shape, dtype, offset)) return recent_[0];
    std::swap(recent_[0], recent_[1]);
    if (is(recent_[0], shape, dtype, offset)) return recent_[0];
  }
  size_t hash = size_t(dtype) * 31 + size_t(offset);
  for (const int64_t d : shape) hash = hash * 0x9E3779B97F4A7C15u + size_t(d);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (is(it->second, shape, dtype, offset)) return recent_[0] = it->second;
  RW_CHECK(list_.size() < RecipeOutput::kNoForm);
  list_.push_back({shape, dtype, offset, shape.num_elements() * int64_t(size_of(dtype))});
  recent_[0] = uint32_t(list_.size() - 1);
  by_hash_.emplace(hash, recent_[0]);
  return recent_[0];
}

void Forms::clear() {
  list_.clear();
  by_hash_.clear();
  recent_[0] = recent_[1] = 0;
}

double cost_of(const Op& op, std::span<const Value* const> inputs, std::span<const Value> outputs) {
  double bytes = 0;
  double largest[2] = {0, 0};  // inputs, in elements
  for (const Value* v : inputs) {
    bytes += double(v->size) * double(size_of(v->dtype));
    const double size = double(v->size);
    if (size > largest[0]) largest[1] = std::exchange(largest[0], size);
    else if (size > largest[1]) largest[1] = size;
  }
  double made = 0;
  for (const Value& v : outputs) {
    bytes += double(v.size) * double(size_of(v.dtype));
    made = std::max(made, double(v.size));
  }
  double ns = 100 + bytes * 0.1;
  // A product of (m, k) and (k, n) is m k n steps: the root of the product of the three sizes. The same holds
  // of convolutions.
  if (!op.elementwise && largest[1] > 1) ns += 0.02 * std::sqrt(largest[0] * largest[1] * made);
  return ns;
}

}  // namespace rw
