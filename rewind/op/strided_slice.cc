#include "rewind/op/strided_slice.h"

#include <algorithm>
#include <bit>

#include "rewind/base/error.h"

namespace rw {
namespace {

// One index of the specification, stretched over the input's axes.
struct AxisIndex {
  int64_t begin = 0, end = 0, stride = 1;
  bool open_begin = true, open_end = true, shrink = false, untouched = true;
};

constexpr int kNewAxis = -1, kShrunk = -2;

struct Dense {
  SmallVector<AxisIndex, 6> axes;
  SmallVector<int, 8> result;  // input axis, or kNewAxis, or kShrunk
};

Dense spread(std::string_view tag, int rank, const IntVector& begin, const IntVector& end,
             const IntVector& strides, const SliceMasks& masks) {
  const auto bit = [](int64_t mask, size_t i) { return ((uint64_t(mask) >> i) & 1) != 0; };
  const size_t n = begin.size();
  bool seen_ellipsis = false;
  int new_after_ellipsis = 0;
  for (size_t i = 0; i < n; ++i) {
    if (bit(masks.ellipsis, i)) {
      if (seen_ellipsis) fail_invalid(tag, "only one ellipsis is allowed in a slice");
      seen_ellipsis = true;
    } else if (seen_ellipsis && bit(masks.new_axis, i)) {
      ++new_after_ellipsis;
    }
  }
  // Without one, an ellipsis stands at the end.
  const size_t total = seen_ellipsis ? n : n + 1;
  Dense dense;
  for (size_t i = 0; i < total; ++i) {
    const int at = int(dense.axes.size());
    if (i >= n || bit(masks.ellipsis, i)) {
      const int next = std::min(rank - (int(total) - int(i)) + 1 + new_after_ellipsis, rank);
      for (int k = at; k < next; ++k) {
        dense.axes.emplace_back();
        dense.result.push_back(k);
      }
    } else if (bit(masks.new_axis, i)) {
      dense.result.push_back(kNewAxis);
    } else {
      if (at == rank) {
        fail_invalid(tag, "too many indices: the tensor has " + std::to_string(rank) +
                              (rank == 1 ? " axis" : " axes") + ", index " + std::to_string(i) +
                              " is beyond them");
      }
      const bool shrink = bit(masks.shrink_axis, i);
      dense.axes.push_back(
          {begin[i], end[i], strides[i], bit(masks.begin, i), bit(masks.end, i), shrink, false});
      dense.result.push_back(shrink ? kShrunk : at);
    }
  }
  return dense;
}

// Elements of one axis of known size.
void resolve(std::string_view tag, const AxisIndex& a, int axis, int64_t size, SlicePlan* plan) {
  int64_t begin = 0, count = 1;
  if (a.shrink) {
    begin = a.begin < 0 ? a.begin + size : a.begin;
    if (begin < 0 || begin >= size) {
      fail_invalid(tag, "slice index " + std::to_string(a.begin) + " of dimension " + std::to_string(axis) +
                            " out of bounds: its size is " + std::to_string(size));
    }
  } else {
    const int64_t low = a.stride > 0 ? 0 : -1, high = a.stride > 0 ? size : size - 1;
    const auto canonical = [&](int64_t x) { return std::clamp(x < 0 ? x + size : x, low, high); };
    begin = a.open_begin ? (a.stride > 0 ? low : high) : canonical(a.begin);
    const int64_t end = a.open_end ? (a.stride > 0 ? high : low) : canonical(a.end);
    const int64_t way = end - begin;
    count = way == 0 || (way < 0) != (a.stride < 0) ? 0 : way / a.stride + (way % a.stride != 0);
  }
  plan->begin.push_back(begin);
  plan->step.push_back(a.stride);
  plan->count.push_back(count);
}

}  // namespace

SliceMasks slice_masks(const Attrs& attrs) {
  SliceMasks masks;
  for (const auto& [name, value] : attrs) {
    const int64_t* mask = value.get_if<int64_t>();
    if (!mask) continue;
    if (name == "begin_mask") masks.begin = *mask;
    else if (name == "end_mask") masks.end = *mask;
    else if (name == "ellipsis_mask") masks.ellipsis = *mask;
    else if (name == "new_axis_mask") masks.new_axis = *mask;
    else if (name == "shrink_axis_mask") masks.shrink_axis = *mask;
  }
  return masks;
}

SlicePlan plan_slice(std::string_view tag, const Shape& input, const IntVector& begin, const IntVector& end,
                     const IntVector& strides, const SliceMasks& masks) {
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() >= 32) {
    fail_invalid(tag, "begin, end and strides must be equally long, at most 31: got " +
                          std::to_string(begin.size()) + ", " + std::to_string(end.size()) + " and " +
                          std::to_string(strides.size()));
  }
  const Dense dense = spread(tag, input.rank(), begin, end, strides, masks);
  SlicePlan plan;
  for (int k = 0; k < input.rank(); ++k) {
    const AxisIndex& a = dense.axes[size_t(k)];
    if (a.untouched) plan.untouched |= uint64_t(1) << k;
    if (a.stride == 0) fail_invalid(tag, "strides must not be 0: stride " + std::to_string(k) + " is");
    if (a.shrink && a.stride < 0)
      fail_invalid(tag, "a single index must have stride 1: got " + std::to_string(a.stride));
    if (input[k] >= 0) {
      resolve(tag, a, k, input[k], &plan);
    } else {
      plan.begin.push_back(0);
      plan.step.push_back(a.stride);
      plan.count.push_back(a.shrink ? 1 : -1);
    }
  }
  plan.result_axis.resize(size_t(input.rank()), -1);
  SmallVector<int64_t, 6> dims;
  for (const int r : dense.result) {
    if (r >= 0) plan.result_axis[size_t(r)] = int64_t(dims.size());
    if (r == kNewAxis) dims.push_back(1);
    else if (r != kShrunk) dims.push_back(plan.count[size_t(r)]);
  }
  plan.shape = Shape(std::span<const int64_t>(dims.data(), dims.size()));
  return plan;
}

bool broadcasts_into(const Shape& from, const Shape& to) {
  if (!from.has_rank() || !to.has_rank()) return true;
  const int extra = from.rank() - to.rank();
  for (int k = 0; k < from.rank(); ++k) {
    if (from[k] == 1 || from[k] < 0) continue;
    if (k < extra || (to[k - extra] >= 0 && to[k - extra] != from[k])) return false;
  }
  return true;
}

}  // namespace rw
