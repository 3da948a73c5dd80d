// What the kernels that read or write by index share: indices checked once and widened to int64, element
// copies by size, and a split of scattered writes over threads that keeps their order.
#pragma once

#include <cstdint>
#include <string>

#include "rewind/base/function_ref.h"
#include "rewind/base/intrusive.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/object.h"

namespace rw {

// The elements of an index tensor as int64: the tensor's own memory, or scratch.
const int64_t* widened(KernelContext& ctx, const View& indices);
// The same for input i, each checked to be in [0, limit). Throws InvalidArgumentError with the first bad one
// and its place: "indices[0, 2] = 7 is not in [0, 5)".
const int64_t* checked_indices(KernelContext& ctx, int i, int64_t limit);
// "indices[0, 2]": the place of a flat position in input i, or in its first `axes` axes.
std::string place_of(const KernelContext& ctx, int i, int64_t position, int axes = -1);

// Index tuples along the last axis of input i, as in gather_nd, turned into numbers of slices.
struct SliceNumbers {
  const int64_t* numbers;  // -1: out of range, to be ignored
  int64_t count;           // of tuples
  int64_t slice;           // elements in a slice
  int64_t slices;          // how many there are
};
// `dims` are the sizes the tuples index into; the attribute bad_indices_policy, where the op has it, says
// whether a bad tuple is an error or ignored.
SliceNumbers slice_numbers(KernelContext& ctx, int i, const Shape& dims);

// Calls f.operator()<U>() with a type that copies as elements of `dtype` do.
struct Bytes16 {
  uint64_t half[2];
};
template <class F>
void dispatch_copy(DType dtype, F&& f) {
  if (dtype == DType::kString) return f.template operator()<std::string>();
  if (is_host_only(dtype)) return f.template operator()<Ref<Object>>();
  switch (size_of(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: return f.template operator()<Bytes16>();
  }
}

// Runs body(row_begin, row_end, column_begin, column_end) on several threads over parts of a matrix of `rows`
// x `columns` that scattered writes go to, when `work` (elements moved) is worth it. Each body walks all
// writes in their order and does those that fall into its part, so that every element sees the same sequence
// whatever the split.
void parallel_scatter(int64_t rows, int64_t columns, int64_t work,
                      FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> body);

}  // namespace rw
