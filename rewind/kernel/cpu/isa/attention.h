// Loops of fused attention on float: products of matrix tiles, and what happens to rows of scores.
#pragma once

#include <cstdint>

namespace rw {

// c = a b, or c + a b, where b was packed into panels: panel i holds, for each depth p, the `panel` values
// (p, i * panel + j). An element's sum is one chain of multiply-adds in the order of depth.
struct PanelProduct {
  const float* a;
  int64_t a_row, a_depth;  // one of them is 1
  const float* b;
  int64_t b_panel;  // elements between panels
  float* c;
  int64_t c_row;
  int64_t rows, columns, depth;
  bool add;
};

// One change of all scores of a block of rows, as AttentionStep says it. `data` belongs to the block's first
// row and key.
struct ScoreStep {
  enum Kind : uint8_t { kMultiply, kDivide, kAdd, kKeep, kDrop };
  Kind kind;
  float number;
  const void* data;            // summands (float) or a mask (bool)
  int64_t row_step, key_step;  // 0: one for all
};

struct ScoreRows {
  float* data;
  int64_t step;  // elements between rows
  int64_t rows, keys;
  const ScoreStep* steps;
  int count;
};

// What Sum gives for the elements, in its order; they are not kept.
using SumOfRow = float (*)(float* x, int64_t n);

struct AttentionLoops {
  int rows, panel;  // of a tile
  // x (rows, columns) with any steps to panels, with zeros past the edge.
  void (*pack)(const float* x, int64_t row_step, int64_t column_step, int64_t rows, int64_t columns,
               float* panels);
  void (*product)(const PanelProduct& p);
  // Products to scores, and those to their softmax. When keys are left out, whose scores are `left_out`:
  // false as soon as they would weigh more than nothing; then rows are not finished.
  bool (*weights)(const ScoreRows& x, bool leaves_out, float left_out);
  // The gradient of weights to that of products: (grad - sum(grad * weights)) * weights, and back through the
  // steps. The sum runs over `all` keys, of which the rows hold those from `first` on; `work` has room for
  // them.
  void (*weights_grad)(const ScoreRows& grad, const float* weights, SumOfRow sum, int64_t first, int64_t all,
                       float* work);
};

}  // namespace rw
