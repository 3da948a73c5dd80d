// RaggedTensor: rows of different lengths, as tf.RaggedTensor; rows of rows too. A struct of tensors, which
// functions take and give.
//
//   auto x = rw::RaggedTensor::from_row_lengths(rw::constant({3, 1, 4, 1, 5}), {2, 0, 3});  // [[3, 1], [],
//   [4, 1, 5]]
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewind/tensor/ops/ragged.h"

namespace rw {

struct RaggedTensor {
  Tensor flat_values;  // all innermost values behind each other
  std::vector<Tensor>
      nested_row_splits;  // int64, outermost first: where rows begin, and where the last one ends

  // ---- makers. `values` are tensors, or ragged themselves. Splits that cannot be are InvalidArgumentErrors
  // where their values are known.
  static RaggedTensor from_row_splits(const Tensor& values, const Operand& row_splits);
  static RaggedTensor from_row_splits(const RaggedTensor& values, const Operand& row_splits);
  static RaggedTensor from_row_lengths(const Tensor& values, const Operand& row_lengths);
  static RaggedTensor from_row_lengths(const RaggedTensor& values, const Operand& row_lengths);
  static RaggedTensor from_row_starts(const Tensor& values, const Operand& row_starts);
  static RaggedTensor from_row_limits(const Tensor& values, const Operand& row_limits);
  // Of rising numbers of rows; nrows is one more than the last where it is not given.
  static RaggedTensor from_value_rowids(const Tensor& values, const Operand& value_rowids,
                                        const std::optional<int64_t>& nrows = {});
  static RaggedTensor from_nested_row_splits(const Tensor& flat_values,
                                             const std::vector<Tensor>& nested_row_splits);
  static RaggedTensor from_nested_row_lengths(const Tensor& flat_values,
                                              const std::vector<Tensor>& nested_row_lengths);
  // The rows of a tensor: whole, without what of `padding` stands at their end, or as long as `lengths` say.
  static RaggedTensor from_tensor(const Tensor& tensor);
  static RaggedTensor from_tensor(const Tensor& tensor, const Operand& padding);
  static RaggedTensor from_tensor_lengths(const Tensor& tensor, const Operand& lengths);
  static RaggedTensor from_rows(const RaggedRows& rows) { return {rows.values, {rows.row_splits}}; }

  // ---- what it is
  int ragged_rank() const { return int(nested_row_splits.size()); }
  DType dtype() const { return flat_values.dtype(); }
  Shape shape() const;  // -1 for sizes that differ or are not known
  int rank() const { return ragged_rank() + flat_values.rank(); }
  const Tensor& row_splits() const { return nested_row_splits.front(); }
  Tensor row_lengths() const;
  Tensor row_starts() const;
  Tensor row_limits() const;
  Tensor value_rowids() const;  // of the values of this level
  Tensor nrows() const;
  Tensor bounding_shape() const;  // of the tensor into which it fits
  std::vector<Tensor> nested_row_lengths() const;
  // Where rows are of values: the tensor of them. Where they are of rows: those.
  const Tensor& values() const;
  RaggedTensor inner() const;

  // ---- others of it
  RaggedTensor with_flat_values(const Tensor& values) const { return {values, nested_row_splits}; }
  RaggedTensor with_values(const Tensor& values) const { return from_row_splits(values, row_splits()); }
  // What is missing is the default; `shape` cuts or fills up to sizes, -1: as large as needed.
  Tensor to_tensor(const Operand& default_value, const std::vector<int64_t>& shape = {}) const;
  Tensor to_tensor() const;              // zeros, empty strings
  RaggedRows rows() const;               // of ragged rank 1
  Tensor operator[](int64_t row) const;  // of ragged rank 1
  RaggedTensor row(int64_t row) const;   // of more
  // Rows [begin, end); negative numbers count from the end.
  RaggedTensor slice(int64_t begin, std::optional<int64_t> end = {}) const;

  // "<tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>", as print(t) shows in TensorFlow. Not in functions.
  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const RaggedTensor& tensor);

// Element by element; both sides have the same rows, or one is a tensor: a number, or (rows, 1).
RaggedTensor operator+(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor operator-(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor operator*(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor operator/(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor operator+(const RaggedTensor& a, const Operand& b);
RaggedTensor operator-(const RaggedTensor& a, const Operand& b);
RaggedTensor operator*(const RaggedTensor& a, const Operand& b);
RaggedTensor operator/(const RaggedTensor& a, const Operand& b);
RaggedTensor operator-(const RaggedTensor& a);

namespace ragged {

// Lists of lists: constant({{3, 1}, {}, {4}}).
template <class T>
RaggedTensor constant(const std::vector<std::vector<T>>& rows) {
  std::vector<T> values;
  std::vector<int64_t> splits{0};
  for (const std::vector<T>& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    splits.push_back(int64_t(values.size()));
  }
  return {rw::constant(values, {int64_t(values.size())}), {rw::constant(splits, {int64_t(splits.size())})}};
}

// f of the flat values of all arguments, which have the same rows.
template <class F, class... R>
RaggedTensor map_flat_values(F f, const RaggedTensor& first, const R&... more) {
  return first.with_flat_values(f(first.flat_values, more.flat_values...));
}

RaggedTensor equal(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor equal(const RaggedTensor& a, const Operand& b);
RaggedTensor not_equal(const RaggedTensor& a, const Operand& b);
RaggedTensor less(const RaggedTensor& a, const RaggedTensor& b);
RaggedTensor less(const RaggedTensor& a, const Operand& b);
RaggedTensor less_equal(const RaggedTensor& a, const Operand& b);
RaggedTensor greater(const RaggedTensor& a, const Operand& b);
RaggedTensor greater_equal(const RaggedTensor& a, const Operand& b);

// Of ragged rank 1. Axis 1: a result per row; axis 0: one per place in the rows, over all rows that are as
// long.
Tensor reduce_sum(const RaggedTensor& x, int axis);
Tensor reduce_prod(const RaggedTensor& x, int axis);
Tensor reduce_max(const RaggedTensor& x, int axis);
Tensor reduce_min(const RaggedTensor& x, int axis);
Tensor reduce_mean(const RaggedTensor& x, int axis);
Tensor reduce_any(const RaggedTensor& x, int axis);
Tensor reduce_all(const RaggedTensor& x, int axis);

// Axis 0: rows behind each other. Axis 1: each row longer, of equally many rows; of ragged rank 1.
RaggedTensor concat(const std::vector<RaggedTensor>& all, int axis);
// Rows by their numbers, (n).
RaggedTensor gather(const RaggedTensor& params, const Operand& indices);

}  // namespace ragged

}  // namespace rw
