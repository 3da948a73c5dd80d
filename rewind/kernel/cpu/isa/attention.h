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

struct AttentionLoops {
  int rows, panel;  // of a tile
  // x (rows, columns) with any steps to panels, with zeros past the edge.
  void (*pack)(const float* x, int64_t row_step, int64_t column_step, int64_t rows, int64_t columns,
               float* panels);
  void (*product)(const PanelProduct& p);
  // x[i] * number, x[i] / number, x[i] + y[i * step].
  void (*multiply)(float* x, float number, int64_t n);
  void (*divide)(float* x, float number, int64_t n);
  void (*add)(float* x, const float* y, int64_t step, int64_t n);
  // x[i] where mask[i * step] == keeps, number elsewhere. Steps are 0 or 1.
  void (*hide)(float* x, const uint8_t* mask, int64_t step, uint8_t keeps, float number, int64_t n);
  float (*largest)(const float* x, int64_t n);
  void (*multiply_pair)(const float* x, const float* y, float* out, int64_t n);
  // grad = (grad - sum) * weight.
  void (*softmax_grad)(float* grad, const float* weight, float sum, int64_t n);
};

}  // namespace rw
