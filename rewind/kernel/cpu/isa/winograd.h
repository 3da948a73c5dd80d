// Winograd's convolution by 3x3 filters, F(4x4, 3x3), on floats with channels last: tiles of 6x6 inputs give
// 4x4 outputs by 36 products of matrices, one a point, instead of 144 multiplications.
//
//   output    Y  = Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A
//   gradient  dg = Gᵀ [ (A dY Aᵀ) ⊙ (Bᵀ d B) ] G
//
// With the points 0, ±3/4, ±3/2, ∞ the relative error is about 1e-6, two to five times that of a direct sum
// and half of what 0, ±1, ±2, ∞ give; their powers are exact.
//
// Left factors lie as (point, row, channel). Right factors lie in panels: the columns of a point are cut into
// panels of 32 (the last may have 16), and a panel lies as (row, column). Channels are padded with zeros.
#pragma once

#include <cstdint>

namespace rw {

inline constexpr int kWinogradPoints = 36;
inline constexpr int kWinogradPanel = 32;

// Where the rows of a right factor lie.
struct WinogradPanels {
  float* at;
  int64_t point_step;     // elements between points
  int64_t rows, columns;  // of a point; columns are a multiple of 16
};

struct WinogradProduct {
  int64_t rows, columns, depth;  // multiples of 8 and of 16; any depth
  int64_t row_step, depth_step;  // of the left factor
  int64_t ldc;
  bool add;  // to what is there already
};

// Taps are pointers to `channels` floats each, in the order of rows and columns.
struct WinogradLoops {
  // 36 taps of a tile -> 36 points; zeros up to `padded` channels.
  void (*data)(const float* const* taps, float* out, int64_t point_step, int64_t channels, int64_t padded);
  // 36 points -> the first `rows` x `columns` of 4 x 4 outputs.
  void (*output)(const float* points, int64_t point_step, float* out, int64_t row_step, int64_t column_step,
                 int rows, int columns, int64_t channels);
  // 9 taps of a filter, or 16 of a tile of the output's gradient -> a row of a right factor.
  void (*filter)(const float* const* taps, WinogradPanels out, int64_t row, int64_t channels);
  void (*gradient)(const float* const* taps, WinogradPanels out, int64_t row, int64_t channels);
  // 36 points -> 9 taps of the filter's gradient, `tap_step` elements from one to the next.
  void (*filter_gradient)(const float* points, int64_t point_step, float* out, int64_t tap_step,
                          int64_t channels);
  void (*product)(const float* a, const float* b, float* c, const WinogradProduct& sizes);
};

}  // namespace rw
