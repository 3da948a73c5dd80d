#include "rewind/tensor/ragged_tensor.h"

#include <algorithm>
#include <ostream>

#include "rewind/base/error.h"
#include "rewind/tensor/indexing.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/effect.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/string.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

constexpr const char* kTag = "RaggedTensor";

// Where row_splits[i] is as far as known: from 0, rising, up to the number of values.
Tensor checked_splits(const Operand& splits, const Tensor& values) {
  const Tensor all = cast_to(splits.tensor(DType::kInt64), DType::kInt64);
  if (all.rank() != 1) fail_invalid(kTag, "row_splits must be a list: got " + all.shape().to_string());
  if (!value_known(all)) return all;
  const std::vector<int64_t> known = known_ints(all);
  if (known.empty() || known[0] != 0) fail_invalid(kTag, "row_splits must begin with 0");
  if (!std::is_sorted(known.begin(), known.end())) fail_invalid(kTag, "row_splits must rise");
  const int64_t count = values.rank() > 0 ? values.shape()[0] : 0;
  if (values.rank() == 0 || (count >= 0 && known.back() != count))
    fail_invalid(kTag, "row_splits must end with the number of values: got " + std::to_string(known.back()) +
                           ", the values are " + values.shape().to_string());
  return all;
}

Tensor vector_of(int64_t number) { return constant(std::vector<int64_t>{number}); }
Tensor splits_of_lengths(const Operand& lengths) {
  const Tensor each = cast_to(lengths.tensor(DType::kInt64), DType::kInt64);
  if (each.rank() != 1) fail_invalid(kTag, "row_lengths must be a list: got " + each.shape().to_string());
  return concat({vector_of(0), cumsum(each)}, 0);
}
Tensor first_of(const Tensor& splits) { return part_of_vector(splits, 0, sizes_of(splits)[0] - 1); }
Tensor behind_first(const Tensor& splits) { return part_of_vector(splits, 1, -1); }
Tensor lengths_of(const Tensor& splits) { return behind_first(splits) - first_of(splits); }
Size rows_of(const Tensor& splits) { return sizes_of(splits)[0] - 1; }
// The number of the row in which each of `count` values stands.
Tensor rowids_of(const Tensor& splits, const Size& count) {
  return searchsorted(splits, numbers_below(count), "right", DType::kInt64) - constant(int64_t{1});
}
Size count_of(const Tensor& values) { return sizes_of(values)[0]; }

void require_rank_one(const char* what, const RaggedTensor& x) {
  if (x.ragged_rank() != 1)
    fail_invalid(kTag, std::string(what) + " is for rows of values: ragged_rank is " +
                           std::to_string(x.ragged_rank()));
}

// The values of the outermost rows as what has as many elements.
const Tensor& level_values(const RaggedTensor& x, size_t level) {
  return level + 1 < x.nested_row_splits.size() ? x.nested_row_splits[level + 1] : x.flat_values;
}
Size level_count(const RaggedTensor& x, size_t level) {
  const Tensor& values = level_values(x, level);
  return level + 1 < x.nested_row_splits.size() ? sizes_of(values)[0] - 1 : sizes_of(values)[0];
}

void require_same_rows(const RaggedTensor& a, const RaggedTensor& b) {
  if (a.ragged_rank() != b.ragged_rank())
    fail_invalid(kTag, "both sides must have the same rows: ragged_rank is " +
                           std::to_string(a.ragged_rank()) + " and " + std::to_string(b.ragged_rank()));
  for (size_t i = 0; i < a.nested_row_splits.size(); ++i)
    if (a.nested_row_splits[i].impl() != b.nested_row_splits[i].impl())
      debugging::assert_equal(a.nested_row_splits[i], b.nested_row_splits[i],
                              "both sides must have the same rows");
}

// A tensor beside rows: a number for all, or one for each row.
Tensor beside(const RaggedTensor& a, const Operand& b) {
  const Tensor& other = b.tensor(a.dtype());
  if (other.rank() == 0) return other;
  if (other.rank() != 2 || other.shape()[1] != 1 || a.ragged_rank() != 1 || a.flat_values.rank() != 1)
    fail_unimplemented(
        kTag, "a tensor beside rows must be a number, or (rows, 1): got " + other.shape().to_string());
  return gather(reshape(other, {-1}), a.value_rowids());
}

template <class F>
RaggedTensor both(const RaggedTensor& a, const RaggedTensor& b, F f) {
  require_same_rows(a, b);
  return a.with_flat_values(f(a.flat_values, b.flat_values));
}

std::string element_text(const Tensor& element) {
  if (element.rank() > 0) {
    std::string text = "[";
    for (int64_t i = 0; i < element.shape()[0]; ++i) text += (i > 0 ? ", " : "") + element_text(element[i]);
    return text + "]";
  }
  // Numbers of a list are shorter than one alone: "1." and "b'a'" of "tf.Tensor([1.], shape=(1,), ...)".
  const std::string list = expand_dims(element, 0).to_string();
  const size_t begin = list.find('[') + 1;
  std::string text = list.substr(begin, list.rfind("], shape=") - begin);
  if (is_floating(element.dtype()) && text.ends_with('.')) text += '0';
  if (element.dtype() == DType::kBool) text.erase(0, text.find_first_not_of(' '));
  return text;
}

std::string rows_text(const RaggedTensor& x, size_t level, int64_t begin, int64_t end) {
  std::string text = "[";
  for (int64_t i = begin; i < end; ++i) {
    text += i > begin ? ", " : "";
    if (level == x.nested_row_splits.size()) {
      text += element_text(x.flat_values[i]);
    } else {
      const auto splits = x.nested_row_splits[level].data<int64_t>();
      text += rows_text(x, level + 1, splits[size_t(i)], splits[size_t(i) + 1]);
    }
  }
  return text + "]";
}

}  // namespace

// ---- makers

RaggedTensor RaggedTensor::from_row_splits(const Tensor& values, const Operand& row_splits) {
  return {values, {checked_splits(row_splits, values)}};
}
RaggedTensor RaggedTensor::from_row_splits(const RaggedTensor& values, const Operand& row_splits) {
  RaggedTensor out{values.flat_values, {checked_splits(row_splits, first_of(values.row_splits()))}};
  out.nested_row_splits.insert(out.nested_row_splits.end(), values.nested_row_splits.begin(),
                               values.nested_row_splits.end());
  return out;
}
RaggedTensor RaggedTensor::from_row_lengths(const Tensor& values, const Operand& row_lengths) {
  return from_row_splits(values, splits_of_lengths(row_lengths));
}
RaggedTensor RaggedTensor::from_row_lengths(const RaggedTensor& values, const Operand& row_lengths) {
  return from_row_splits(values, splits_of_lengths(row_lengths));
}
RaggedTensor RaggedTensor::from_row_starts(const Tensor& values, const Operand& row_starts) {
  const Tensor starts = cast_to(row_starts.tensor(DType::kInt64), DType::kInt64);
  return from_row_splits(values, concat({starts, reshape(count_of(values).tensor(), {1})}, 0));
}
RaggedTensor RaggedTensor::from_row_limits(const Tensor& values, const Operand& row_limits) {
  return from_row_splits(values,
                         concat({vector_of(0), cast_to(row_limits.tensor(DType::kInt64), DType::kInt64)}, 0));
}
RaggedTensor RaggedTensor::from_value_rowids(const Tensor& values, const Operand& value_rowids,
                                             const std::optional<int64_t>& nrows) {
  const Tensor ids = cast_to(value_rowids.tensor(DType::kInt64), DType::kInt64);
  if (ids.rank() != 1) fail_invalid(kTag, "value_rowids must be a list: got " + ids.shape().to_string());
  if (value_known(ids)) {
    const std::vector<int64_t> known = known_ints(ids);
    if (!std::is_sorted(known.begin(), known.end()) || (!known.empty() && known[0] < 0))
      fail_invalid(kTag, "value_rowids must rise from 0 or more");
    if (nrows && !known.empty() && known.back() >= *nrows)
      fail_invalid(kTag, "value_rowids must be below nrows, " + std::to_string(*nrows) + ": got " +
                             std::to_string(known.back()));
  }
  const Size count =
      nrows ? Size(*nrows) : Size(rw::reduce_max(concat({vector_of(-1), ids}, 0)) + constant(int64_t{1}));
  return from_row_splits(values, searchsorted(ids, numbers_below(count + 1), "left", DType::kInt64));
}
RaggedTensor RaggedTensor::from_nested_row_splits(const Tensor& flat_values,
                                                  const std::vector<Tensor>& nested) {
  if (nested.empty()) fail_invalid(kTag, "nested_row_splits must not be empty");
  RaggedTensor out = from_row_splits(flat_values, nested.back());
  for (size_t i = nested.size() - 1; i-- > 0;) out = from_row_splits(out, nested[i]);
  return out;
}
RaggedTensor RaggedTensor::from_nested_row_lengths(const Tensor& flat_values,
                                                   const std::vector<Tensor>& nested) {
  std::vector<Tensor> splits;
  for (const Tensor& lengths : nested) splits.push_back(splits_of_lengths(lengths));
  return from_nested_row_splits(flat_values, splits);
}

namespace {

// (rows * columns, ...) of (rows, columns, ...).
Tensor flat_rows(const Tensor& tensor) {
  if (tensor.rank() < 2)
    fail_invalid(kTag, "a tensor of rows must have two axes or more: got " + tensor.shape().to_string());
  Sizes sizes = sizes_of(tensor);
  sizes[1] = sizes[0] * sizes[1];
  sizes.erase(sizes.begin());
  return reshape_sizes(tensor, sizes);
}

RaggedTensor first_of_rows(const Tensor& tensor, const Tensor& lengths) {
  const Sizes sizes = sizes_of(tensor);
  const Tensor columns = reshape(numbers_below(sizes[1]), {1, -1}), counts = reshape(lengths, {-1, 1});
  const Tensor kept = reshape(less(columns, counts), {-1});
  return {boolean_mask(flat_rows(tensor), kept), {splits_of_lengths(lengths)}};
}

}  // namespace

RaggedTensor RaggedTensor::from_tensor(const Tensor& tensor) {
  const Tensor flat = flat_rows(tensor);
  const Sizes sizes = sizes_of(tensor);
  return {flat, {numbers_below(sizes[0] + 1) * sizes[1].tensor()}};
}
RaggedTensor RaggedTensor::from_tensor(const Tensor& tensor, const Operand& padding) {
  if (tensor.rank() != 2)
    fail_unimplemented(kTag, "padding is for rows of numbers: got " + tensor.shape().to_string());
  const Tensor is_value = rw::not_equal(tensor, padding.tensor(tensor.dtype()));
  const Tensor places = reshape(numbers_below(sizes_of(tensor)[1] + 1), {1, -1});
  const Tensor counted = cast(is_value, DType::kInt64) * places(ellipsis, Slice(1, none));
  return first_of_rows(
      tensor, rw::reduce_max(
                  concat({cast(zeros_like(counted(ellipsis, Slice(0, 1))), DType::kInt64), counted}, 1), 1));
}
RaggedTensor RaggedTensor::from_tensor_lengths(const Tensor& tensor, const Operand& lengths) {
  const Tensor each = cast_to(lengths.tensor(DType::kInt64), DType::kInt64);
  return first_of_rows(tensor, minimum(each, sizes_of(tensor)[1].tensor()));
}

// ---- what it is

Shape RaggedTensor::shape() const {
  Shape out = Shape::unknown_of_rank(rank());
  if (const Size rows = rows_of(row_splits()); rows.known()) out.set(0, rows.number());
  for (int d = 1; d < flat_values.rank(); ++d) out.set(ragged_rank() + d, flat_values.shape()[d]);
  return out;
}
Tensor RaggedTensor::row_lengths() const { return lengths_of(row_splits()); }
Tensor RaggedTensor::row_starts() const { return first_of(row_splits()); }
Tensor RaggedTensor::row_limits() const { return behind_first(row_splits()); }
Tensor RaggedTensor::value_rowids() const { return rowids_of(row_splits(), level_count(*this, 0)); }
Tensor RaggedTensor::nrows() const { return rows_of(row_splits()).tensor(); }
std::vector<Tensor> RaggedTensor::nested_row_lengths() const {
  std::vector<Tensor> all;
  for (const Tensor& splits : nested_row_splits) all.push_back(lengths_of(splits));
  return all;
}
Tensor RaggedTensor::bounding_shape() const {
  std::vector<Tensor> sizes{reshape(nrows(), {1})};
  for (const Tensor& lengths : nested_row_lengths())
    sizes.push_back(reshape(rw::reduce_max(concat({vector_of(0), lengths}, 0)), {1}));
  const Sizes of_values = sizes_of(flat_values);
  for (size_t d = 1; d < of_values.size(); ++d) sizes.push_back(reshape(of_values[d].tensor(), {1}));
  return concat(sizes, 0);
}
const Tensor& RaggedTensor::values() const {
  require_rank_one("values()", *this);
  return flat_values;
}
RaggedTensor RaggedTensor::inner() const {
  if (ragged_rank() < 2) fail_invalid(kTag, "inner() is for rows of rows: ragged_rank is 1");
  return {flat_values, {nested_row_splits.begin() + 1, nested_row_splits.end()}};
}

// ---- others of it

Tensor RaggedTensor::to_tensor(const Operand& default_value, const std::vector<int64_t>& shape) const {
  const Tensor sizes = shape.empty() ? rw::constant(int64_t{-1}) : rw::constant(shape);
  std::vector<Tensor> inputs{sizes, flat_values, default_value.tensor(dtype())};
  inputs.insert(inputs.end(), nested_row_splits.begin(), nested_row_splits.end());
  return rw::apply(
      RW_OP("RaggedTensorToTensor"), inputs,
      {{"row_partition_types", std::vector<std::string>(nested_row_splits.size(), "ROW_SPLITS")}})[0];
}
Tensor RaggedTensor::to_tensor() const {
  if (dtype() == DType::kString) return to_tensor("");
  if (dtype() == DType::kBool) return to_tensor(false);
  return to_tensor(0);
}
RaggedRows RaggedTensor::rows() const {
  require_rank_one("rows()", *this);
  return {flat_values, row_splits()};
}
RaggedTensor RaggedTensor::slice(int64_t begin, std::optional<int64_t> end) const {
  const Size rows = rows_of(row_splits());
  const auto place = [&](int64_t at) { return at < 0 ? rows + at : Size(at); };
  const Tensor count = rows.tensor(), none = constant(int64_t{0});
  const Tensor first = clip_by_value(place(begin).tensor(), none, count);
  const Tensor last = clip_by_value(end ? place(*end).tensor() : count, first, count);
  return ragged::gather(*this, numbers_below(Size(last - first)) + first);
}
Tensor RaggedTensor::operator[](int64_t row) const {
  require_rank_one("[]", *this);
  return this->row(row).flat_values;
}
RaggedTensor RaggedTensor::row(int64_t row) const {
  const Size rows = rows_of(row_splits());
  const Size place = row < 0 ? rows + row : Size(row);
  if (rows.known() && (place.number() < 0 || place.number() >= rows.number()))
    throw OutOfRangeError("[RaggedTensor] row " + std::to_string(row) + " of " +
                          std::to_string(rows.number()));
  RaggedTensor one = ragged::gather(*this, reshape(place.tensor(), {1}));
  if (one.ragged_rank() > 1) one.nested_row_splits.erase(one.nested_row_splits.begin());
  return one;
}

std::string RaggedTensor::to_string() const {
  if (!value_known(row_splits()))
    return "<tf.RaggedTensor " + std::string(name_of(dtype())) + " " + shape().to_string() +
           " of a function>";
  return "<tf.RaggedTensor " + rows_text(*this, 0, 0, rows_of(row_splits()).number()) + ">";
}
std::ostream& operator<<(std::ostream& out, const RaggedTensor& tensor) { return out << tensor.to_string(); }

// ---- element by element

RaggedTensor operator-(const RaggedTensor& a) { return a.with_flat_values(-a.flat_values); }

#define RW_RAGGED_OPERATOR(op)                                                  \
  RaggedTensor operator op(const RaggedTensor& a, const RaggedTensor& b) {      \
    return both(a, b, [](const Tensor& x, const Tensor& y) { return x op y; }); \
  }                                                                             \
  RaggedTensor operator op(const RaggedTensor& a, const Operand& b) {           \
    return a.with_flat_values(a.flat_values op beside(a, b));                   \
  }
RW_RAGGED_OPERATOR(+)
RW_RAGGED_OPERATOR(-)
RW_RAGGED_OPERATOR(*)
RW_RAGGED_OPERATOR(/)
#undef RW_RAGGED_OPERATOR

namespace ragged {

RaggedTensor equal(const RaggedTensor& a, const RaggedTensor& b) {
  return both(a, b, [](const Tensor& x, const Tensor& y) { return rw::equal(x, y); });
}
RaggedTensor less(const RaggedTensor& a, const RaggedTensor& b) {
  return both(a, b, [](const Tensor& x, const Tensor& y) { return rw::less(x, y); });
}
#define RW_RAGGED_COMPARISON(name)                                    \
  RaggedTensor name(const RaggedTensor& a, const Operand& b) {        \
    return a.with_flat_values(rw::name(a.flat_values, beside(a, b))); \
  }
RW_RAGGED_COMPARISON(equal)
RW_RAGGED_COMPARISON(not_equal)
RW_RAGGED_COMPARISON(less)
RW_RAGGED_COMPARISON(less_equal)
RW_RAGGED_COMPARISON(greater)
RW_RAGGED_COMPARISON(greater_equal)
#undef RW_RAGGED_COMPARISON

namespace {

using Combine = Tensor (*)(const Operand& data, const Operand& segment_ids, const Operand& num_segments);

Tensor combine(const RaggedTensor& x, int axis, Combine f) {
  require_rank_one("a reduction", x);
  if (axis != 0 && axis != 1)
    fail_unimplemented(kTag, "axis must be 0 or 1, the rows or what is in them: got " + std::to_string(axis));
  const Tensor ids = x.value_rowids();
  if (axis == 1) return f(x.flat_values, ids, x.nrows());
  // The place of each value in its row.
  const Tensor places = numbers_below(count_of(x.flat_values)) - rw::gather(x.row_splits(), ids);
  const Tensor longest = rw::reduce_max(rw::concat({vector_of(0), x.row_lengths()}, 0));
  return f(x.flat_values, places, longest);
}

Tensor of_bools(const RaggedTensor& x, int axis, bool all) {
  if (x.dtype() != DType::kBool)
    fail_invalid(kTag, "values must be bool: got " + std::string(name_of(x.dtype())));
  const Tensor held = all ? logical_not(x.flat_values) : x.flat_values;
  const Tensor count =
      combine(x.with_flat_values(cast(held, DType::kInt32)), axis, math::unsorted_segment_sum);
  return all ? rw::equal(count, 0) : rw::not_equal(count, 0);
}

}  // namespace

Tensor reduce_sum(const RaggedTensor& x, int axis) { return combine(x, axis, math::unsorted_segment_sum); }
Tensor reduce_prod(const RaggedTensor& x, int axis) { return combine(x, axis, math::unsorted_segment_prod); }
Tensor reduce_max(const RaggedTensor& x, int axis) { return combine(x, axis, math::unsorted_segment_max); }
Tensor reduce_min(const RaggedTensor& x, int axis) { return combine(x, axis, math::unsorted_segment_min); }
Tensor reduce_mean(const RaggedTensor& x, int axis) {
  const Tensor sum = reduce_sum(x, axis);
  return sum / cast(reduce_sum(x.with_flat_values(ones_like(x.flat_values)), axis), sum.dtype());
}
Tensor reduce_any(const RaggedTensor& x, int axis) { return of_bools(x, axis, false); }
Tensor reduce_all(const RaggedTensor& x, int axis) { return of_bools(x, axis, true); }

RaggedTensor concat(const std::vector<RaggedTensor>& all, int axis) {
  if (all.empty()) fail_invalid("concat", "there must be at least one ragged tensor");
  const int ranks = all[0].ragged_rank();
  for (const RaggedTensor& x : all)
    if (x.ragged_rank() != ranks)
      fail_invalid("concat", "ragged_rank must be one for all: got " + std::to_string(ranks) + " and " +
                                 std::to_string(x.ragged_rank()));
  if (axis != 0 && (axis != 1 || ranks != 1))
    fail_unimplemented("concat", "axis must be 0, or 1 of rows of values: got " + std::to_string(axis));
  // All rows behind each other.
  RaggedTensor out;
  std::vector<Tensor> values;
  for (const RaggedTensor& x : all) values.push_back(x.flat_values);
  out.flat_values = rw::concat(values, 0);
  for (int level = 0; level < ranks; ++level) {
    std::vector<Tensor> lengths;
    for (const RaggedTensor& x : all) lengths.push_back(lengths_of(x.nested_row_splits[size_t(level)]));
    out.nested_row_splits.push_back(splits_of_lengths(rw::concat(lengths, 0)));
  }
  if (axis == 0) return out;
  // Row i of each, one after the other.
  const Size rows = rows_of(all[0].row_splits());
  for (const RaggedTensor& x : all)
    if (const Size count = rows_of(x.row_splits()); !rows.known() || !count.is(rows.number()))
      debugging::assert_equal(count.tensor(), rows.tensor(), "there must be equally many rows");
  const Tensor numbers =
      reshape(transpose(reshape(numbers_below(rows * int64_t(all.size())), {int64_t(all.size()), -1})), {-1});
  const RaggedTensor mixed = gather(out, numbers);
  const Tensor every = numbers_below(rows + 1) * rw::constant(int64_t(all.size()));
  return {mixed.flat_values, {rw::gather(mixed.row_splits(), every)}};
}

RaggedTensor gather(const RaggedTensor& params, const Operand& indices) {
  const Tensor numbers = indices.tensor(DType::kInt64);
  if (numbers.rank() != 1)
    fail_unimplemented("gather", "indices must be a list: got " + numbers.shape().to_string());
  std::vector<Tensor> inputs = params.nested_row_splits;
  inputs.push_back(params.flat_values);
  inputs.push_back(numbers);
  const Tensors out =
      rw::apply(RW_OP("RaggedGather"), inputs, {{"OUTPUT_RAGGED_RANK", int64_t(params.ragged_rank())}});
  RaggedTensor rows{out[out.size() - 1], {}};
  for (size_t i = 0; i + 1 < out.size(); ++i) rows.nested_row_splits.push_back(out[i]);
  return rows;
}

}  // namespace ragged

}  // namespace rw
