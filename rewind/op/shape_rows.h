// The parts of the shape family, one file each, and what their shape rules share.
#pragma once

#include <span>

#include "rewind/op/table.h"

namespace rw {

void register_layout_rows(OpTable& table);  // reshape, transpose, broadcast, shape queries
void register_slice_rows(OpTable& table);   // slice, strided_slice and what belongs to it
void register_join_rows(OpTable& table);    // concat, stack, split, unstack
void register_pad_rows(OpTable& table);     // pad, tile, reverse, roll
void register_block_rows(OpTable& table);   // space_to_depth, space_to_batch and back

inline Shape shape_of(const IntVector& dims) {
  return Shape(std::span<const int64_t>(dims.data(), dims.size()));
}
std::string list_text(const IntVector& values);  // "[2, 3]"
// Every size of the first input's rank is unknown; nothing is known without a rank.
Shape same_rank_unknown(const Shape& shape);
// Product and sum that report overflow.
int64_t checked_product(const ShapeContext& ctx, int64_t a, int64_t b);
int64_t checked_sum(const ShapeContext& ctx, int64_t a, int64_t b);
// a and b as one size: fails when both are known and differ.
int64_t merge_sizes(const ShapeContext& ctx, int64_t a, int64_t b, const char* what);

}  // namespace rw
