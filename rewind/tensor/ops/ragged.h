// Rows of different lengths.
#pragma once

#include <vector>

#include "rewind/tensor/operand.h"

namespace rw {

// Rows as their values behind each other and where each begins: row i is values[row_splits[i] :
// row_splits[i + 1]].
struct RaggedRows {
  Tensor values;
  Tensor row_splits;  // int64, one more than rows

  // One row per first index, as long as the longest, or as `shape` says; what is missing is the default.
  Tensor to_tensor(const Operand& default_value, const std::vector<int64_t>& shape = {}) const;
  Tensor to_tensor() const;  // zeros, empty strings
};

namespace ragged {
// Row i counts from starts[i] to limits[i], which is left out.
RaggedRows range(const Operand& starts, const Operand& limits, const Operand& deltas);
}  // namespace ragged

struct BincountOptions {
  int64_t minlength = 0;
  int64_t maxlength = -1;  // values from here on are not counted; -1: there is no end
  Tensor weights = {};
  DType dtype = DType::kInt32;  // without weights
  bool binary_output = false;
  int axis = 0;  // -1: counts each row of a matrix by itself
};
// How often each number occurs: counts[v] of the integers v, or the sum of their weights.
Tensor bincount(const Operand& arr, const BincountOptions& options = {});

}  // namespace rw
