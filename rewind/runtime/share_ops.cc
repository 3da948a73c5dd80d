#include "rewind/runtime/share_ops.h"

#include <cstring>

#include "rewind/op/strided_slice.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/list_elements.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

constexpr int64_t kSmallestSharedBytes = 1024;

bool worth_sharing(DType dtype, int64_t size) {
  return size * int64_t(size_of(dtype)) >= kSmallestSharedBytes;
}

void share(const Value& whole, int64_t offset, Shape&& shape, Value& part) {
  part.dtype = whole.dtype;
  part.size = shape.num_elements();
  part.shape = std::move(shape);
  part.storage = whole.storage;
  part.data = static_cast<char*>(whole.data) + offset * int64_t(size_of(whole.dtype));
}

// Whether the box lies in one piece: whole axes, behind one that is cut, behind single elements.
bool in_one_piece(const Shape& shape, const IntVector& begin, const IntVector& count, int64_t* offset) {
  int64_t stride = 1;
  bool cut = false;
  *offset = 0;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    const size_t i = size_t(k);
    if (cut && count[i] != 1) return false;
    if (count[i] != shape[k]) cut = true;
    *offset += begin[i] * stride;
    stride *= shape[k];
  }
  return true;
}

bool share_strided_slice(const Op& op, const Attrs& attrs, Inputs in, std::span<Shape> shapes,
                         ValueList& outputs) {
  const Value& x = *in[0];
  if (!worth_sharing(x.dtype, shapes[0].num_elements())) return false;
  const SlicePlan plan =
      plan_slice(op.tag, x.shape, ints_of(*in[1]), ints_of(*in[2]), ints_of(*in[3]), slice_masks(attrs));
  for (size_t k = 0; k < plan.step.size(); ++k)
    if (plan.step[k] != 1 && plan.count[k] != 1) return false;
  int64_t offset = 0;
  if (!in_one_piece(x.shape, plan.begin, plan.count, &offset)) return false;
  share(x, offset, std::move(shapes[0]), outputs.emplace_back());
  return true;
}

bool share_slice(const Op&, const Attrs&, Inputs in, std::span<Shape> shapes, ValueList& outputs) {
  const Value& x = *in[0];
  if (!worth_sharing(x.dtype, shapes[0].num_elements())) return false;
  const IntVector count(shapes[0].begin(), shapes[0].end());
  int64_t offset = 0;
  if (!in_one_piece(x.shape, ints_of(*in[1]), count, &offset)) return false;
  share(x, offset, std::move(shapes[0]), outputs.emplace_back());
  return true;
}

// Parts that follow one another along `axis`; in one piece when every axis before it has size 1.
bool share_parts(const Value& x, int64_t axis, std::span<Shape> shapes, ValueList& outputs) {
  if (shapes.empty() || x.size == 0) return false;
  if (axis < 0) axis += x.shape.rank();
  for (int k = 0; k < int(axis); ++k)
    if (x.shape[k] != 1) return false;
  for (const Shape& s : shapes)
    if (!worth_sharing(x.dtype, s.num_elements())) return false;
  int64_t offset = 0;
  for (Shape& s : shapes) {
    const int64_t size = s.num_elements();
    share(x, offset, std::move(s), outputs.emplace_back());
    offset += size;
  }
  return true;
}

bool share_unpack(const Op& op, const Attrs& attrs, Inputs in, std::span<Shape> shapes, ValueList& outputs) {
  return share_parts(*in[0], attr_as<int64_t>(op, attrs, "axis"), shapes, outputs);
}
bool share_split(const Op&, const Attrs&, Inputs in, std::span<Shape> shapes, ValueList& outputs) {
  return share_parts(*in[1], ints_of(*in[0])[0], shapes, outputs);
}
bool share_split_v(const Op&, const Attrs&, Inputs in, std::span<Shape> shapes, ValueList& outputs) {
  return share_parts(*in[0], ints_of(*in[2])[0], shapes, outputs);
}

}  // namespace

bool take_block(const Value& x, std::span<const int64_t> places, Value* block) {
  const size_t rank = size_t(x.shape.rank()), n = places.size();
  if (n > rank || x.movable() || is_host_only(x.dtype)) return false;
  Device* device = x.device();
  if (!device || !device->is_host()) return false;
  int64_t offset = 0, size = 1;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = x.shape[int(i)];
    offset *= dim;
    if (i >= n) {
      size *= dim;
      continue;
    }
    const int64_t place = places[i] < 0 ? places[i] + dim : places[i];
    if (place < 0 || place >= dim) return false;
    offset += place;
  }
  Shape shape(x.shape.dims().subspan(n));
  if (worth_sharing(x.dtype, size)) {
    share(x, offset, std::move(shape), *block);
    return true;
  }
  *block = Value::allocate(*device, x.dtype, std::move(shape));
  const size_t width = size_of(x.dtype);
  if (size > 0)
    std::memcpy(block->data, static_cast<const char*>(x.data) + size_t(offset) * width, size_t(size) * width);
  return true;
}

void register_share_rules() {
  register_share_rule("StridedSlice", share_strided_slice);
  register_share_rule("Slice", share_slice);
  register_share_rule("Unpack", share_unpack);
  register_share_rule("Split", share_split);
  register_share_rule("SplitV", share_split_v);
}

}  // namespace rw
