#include "rewind/tensor/ops/shape.h"

#include <numeric>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

std::vector<Tensor> to_vector(Tensors&& list) {
  return {std::make_move_iterator(list.begin()), std::make_move_iterator(list.end())};
}

Attrs masks_of(const StridedSliceOptions& o) {
  return {{"begin_mask", o.begin_mask},
          {"end_mask", o.end_mask},
          {"ellipsis_mask", o.ellipsis_mask},
          {"new_axis_mask", o.new_axis_mask},
          {"shrink_axis_mask", o.shrink_axis_mask}};
}

// b in a's integer type, so that two lists of one op agree.
Tensor as_type_of(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return b;
  return apply_one(RW_OP("Cast"), {&b}, {{"DstT", a.dtype()}});
}
bool is_wide(const Tensor& t) { return t.dtype() == DType::kInt64; }

int axis_in(const char* tag, int axis, int rank) {
  if (axis < -rank || axis >= rank) {
    fail_invalid(tag, "axis must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) + "): got " +
                          std::to_string(axis));
  }
  return axis < 0 ? axis + rank : axis;
}

// Rows of `indices` along `axis`: element i as often as repeats says.
Tensor repeat_rows(const Tensor& x, const Tensor& repeats, int axis) {
  Tensor indices;
  if (repeats.impl()->kind == TensorKind::kEager) {
    const Tensor wide = as_type_of(constant(int64_t{0}), repeats);
    std::vector<int64_t> list;
    const auto counts = wide.data<int64_t>();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] < 0)
        fail_invalid("repeat", "repeats must not be negative: got " + std::to_string(counts[i]));
      list.insert(list.end(), size_t(counts[i]), int64_t(i));
    }
    indices = constant(list);
  } else {
    // Position p belongs to the first element whose running total is above p.
    const Tensor zero = constant(0), minus = constant(-1), one_row = constant({1, -1});
    const Tensor counts = as_type_of(zero, repeats);
    const Tensor ends = apply_one(RW_OP("Cumsum"), {&counts, &zero});
    const Tensor total = apply_one(RW_OP("Sum"), {&counts, &zero});
    const Tensor one = constant(1);
    const Tensor places = apply_one(RW_OP("Range"), {&zero, &total, &one});
    const Tensor sorted = reshape(ends, one_row), wanted = reshape(places, one_row);
    indices = reshape(apply_one(RW_OP("UpperBound"), {&sorted, &wanted}), Ints{-1});
  }
  const Tensor along = constant(axis);
  return apply_one(RW_OP("GatherV2"), {&x, &indices, &along});
}

}  // namespace

Tensor reshape(const Operand& tensor, const Ints& shape) {
  return apply_one(RW_OP("Reshape"), {&tensor.tensor(), &shape.tensor()});
}

Tensor transpose(const Operand& a) {
  const Tensor& t = a.tensor();
  if (t.rank() < 0) {
    const Tensor rank = apply_one(RW_OP("Rank"), {&t});
    const Tensor last = (Size(rank) - 1).tensor(DType::kInt32),
                 axes = numbers_below(Size(rank), DType::kInt32);
    return transpose(t, apply_one(RW_OP("Sub"), {&last, &axes}));
  }
  std::vector<int64_t> perm(size_t(t.rank()));
  for (size_t k = 0; k < perm.size(); ++k) perm[k] = int64_t(perm.size() - 1 - k);
  return transpose(a, perm);
}
Tensor transpose(const Operand& a, const Ints& perm) {
  return apply_one(RW_OP("Transpose"), {&a.tensor(), &perm.tensor()});
}

Tensor expand_dims(const Operand& input, const Ints& axis) {
  return apply_one(RW_OP("ExpandDims"), {&input.tensor(), &axis.tensor()});
}
Tensor squeeze(const Operand& input, const std::vector<int64_t>& axis) {
  return apply_one(RW_OP("Squeeze"), {&input.tensor()},
                   axis.empty() ? Attrs() : Attrs{{"squeeze_dims", axis}});
}
Tensor ensure_shape(const Operand& x, const Shape& shape) {
  return apply_one(RW_OP("EnsureShape"), {&x.tensor()}, {{"shape", shape}});
}

Tensor concat(const Operands& list, const Ints& axis) {
  const std::vector<Tensor>& values = list.tensors();
  if (values.empty()) fail_invalid("concat", "there must be at least one tensor");
  if (values.size() == 1) return apply_one(RW_OP("Identity"), {&values[0]});
  SmallVector<const Tensor*, 8> inputs;
  for (const Tensor& t : values) inputs.push_back(&t);
  inputs.push_back(&axis.tensor());
  return apply_one(RW_OP("ConcatV2"), {inputs.data(), inputs.size()});
}

Tensor stack(const Operands& values, int axis) {
  return std::move(rw::apply(RW_OP("Pack"), values.tensors(), {{"axis", axis}})[0]);
}

std::vector<Tensor> unstack(const Operand& value, int axis) {
  const Tensor& t = value.tensor();
  const int64_t num = t.rank() == 0 ? 0 : t.dim(axis_in("unstack", axis, t.rank()));
  if (num < 0)
    fail_invalid("unstack", "the size of axis " + std::to_string(axis) + " is not known: the shape is " +
                                t.shape().to_string());
  return to_vector(rw::apply(RW_OP("Unpack"), {&t}, {{"num", num}, {"axis", axis}}));
}

std::vector<Tensor> split(const Operand& value, const Sections& num_or_size_splits, const Ints& axis) {
  const Tensor along = as_type_of(constant(0), axis.tensor());
  const Attrs attrs{{"num_split", num_or_size_splits.count()}};
  if (num_or_size_splits.equal())
    return to_vector(rw::apply(RW_OP("Split"), {&along, &value.tensor()}, attrs));
  return to_vector(rw::apply(RW_OP("SplitV"), {&value.tensor(), &num_or_size_splits.sizes(), &along}, attrs));
}

Tensor slice(const Operand& input, const Ints& begin, const Ints& size) {
  const Tensor& lead = is_wide(size.tensor()) ? size.tensor() : begin.tensor();
  const Tensor b = as_type_of(lead, begin.tensor()), s = as_type_of(lead, size.tensor());
  return apply_one(RW_OP("Slice"), {&input.tensor(), &b, &s});
}

Tensor strided_slice(const Operand& input, const Ints& begin, const Ints& end,
                     const StridedSliceOptions& options) {
  return strided_slice(input, begin, end, std::vector<int64_t>(size_t(begin.tensor().size()), 1), options);
}
Tensor strided_slice(const Operand& input, const Ints& begin, const Ints& end, const Ints& strides,
                     const StridedSliceOptions& options) {
  Tensor lead = begin.tensor();
  if (is_wide(end.tensor())) lead = end.tensor();
  if (is_wide(strides.tensor())) lead = strides.tensor();
  const Tensor b = as_type_of(lead, begin.tensor()), e = as_type_of(lead, end.tensor()),
               s = as_type_of(lead, strides.tensor());
  return apply_one(RW_OP("StridedSlice"), {&input.tensor(), &b, &e, &s}, masks_of(options));
}

Tensor tile(const Operand& input, const Ints& multiples) {
  return apply_one(RW_OP("Tile"), {&input.tensor(), &multiples.tensor()});
}

Tensor pad(const Operand& tensor, const Paddings& paddings, const std::string& mode,
           const Operand& constant_values) {
  const Tensor& x = tensor.tensor();
  const Tensor& p = paddings.tensor();
  std::string upper;
  for (const char c : mode) upper += char(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  if (upper == "CONSTANT") {
    if (x.dtype() == DType::kString || x.dtype() == DType::kBool) {
      if (constant_values.weak()) return apply_one(RW_OP("Pad"), {&x, &p});
      return apply_one(RW_OP("PadV2"), {&x, &p, &constant_values.tensor()});
    }
    const Tensor& value = constant_values.tensor(x.dtype());
    return apply_one(RW_OP("PadV2"), {&x, &p, &value});
  }
  if (upper != "REFLECT" && upper != "SYMMETRIC")
    fail_invalid("pad", "mode must be CONSTANT, REFLECT or SYMMETRIC: got " + mode);
  return apply_one(RW_OP("MirrorPad"), {&x, &p}, {{"mode", upper}});
}

Tensor reverse(const Operand& tensor, const Ints& axis) {
  const Tensor axes = axis.vector();
  return apply_one(RW_OP("ReverseV2"), {&tensor.tensor(), &axes});
}
Tensor reverse_sequence(const Operand& input, const Ints& seq_lengths, int seq_axis, int batch_axis) {
  return apply_one(RW_OP("ReverseSequence"), {&input.tensor(), &seq_lengths.tensor()},
                   {{"seq_dim", seq_axis}, {"batch_dim", batch_axis}});
}
Tensor roll(const Operand& input, const Ints& shift, const Ints& axis) {
  return apply_one(RW_OP("Roll"), {&input.tensor(), &shift.tensor(), &axis.tensor()});
}

Tensor repeat(const Operand& input, const Ints& repeats, std::optional<int> axis) {
  Tensor x = input.tensor();
  if (!axis) x = reshape(x, Ints{-1});
  if (x.rank() == 0) x = reshape(x, Ints{1});
  Sizes sizes = sizes_of(x);
  const int at = axis_in("repeat", axis.value_or(0), x.rank());
  const Size own = sizes[size_t(at)];
  Tensor counts = repeats.tensor();
  if (counts.rank() > 1)
    fail_invalid("repeat", "repeats must be a number or a list: got shape " + counts.shape().to_string());
  if (counts.rank() == 0 || (counts.rank() == 1 && counts.dim(0) == 1)) {
    counts = broadcast_sizes(counts, {own});
  } else if (own.is(1)) {
    sizes[size_t(at)] = element_count(counts);
    x = broadcast_sizes(x, sizes);
  }
  if (counts.rank() == 1 && counts.dim(0) >= 0 && x.dim(at) >= 0 && counts.dim(0) != x.dim(at)) {
    fail_invalid("repeat", "there must be one number per element of axis " + std::to_string(at) + ": got " +
                               std::to_string(counts.dim(0)) + " for shape " + x.shape().to_string());
  }
  return repeat_rows(x, counts, at);
}

Tensor broadcast_to(const Operand& input, const Ints& shape) {
  return apply_one(RW_OP("BroadcastTo"), {&input.tensor(), &shape.tensor()});
}

Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y) {
  Shape result;
  if (!broadcast_shapes(shape_x, shape_y, &result)) {
    fail_invalid("broadcast_static_shape", "shapes must broadcast together: got " + shape_x.to_string() +
                                               " and " + shape_y.to_string());
  }
  return result;
}
Tensor broadcast_dynamic_shape(const Ints& shape_x, const Ints& shape_y) {
  const Tensor& lead = is_wide(shape_y.tensor()) ? shape_y.tensor() : shape_x.tensor();
  const Tensor x = as_type_of(lead, shape_x.tensor()), y = as_type_of(lead, shape_y.tensor());
  return apply_one(RW_OP("BroadcastArgs"), {&x, &y});
}

std::vector<Tensor> meshgrid(const MixedOperands& list, const std::string& indexing) {
  const std::vector<Tensor>& args = list.tensors();
  if (indexing != "xy" && indexing != "ij")
    fail_invalid("meshgrid", "indexing must be xy or ij: got " + indexing);
  const size_t n = args.size();
  const auto place = [&](size_t i) { return indexing == "xy" && n > 1 && i < 2 ? 1 - i : i; };
  Sizes full(n, 0);
  for (size_t i = 0; i < n; ++i) full[place(i)] = element_count(args[i]);
  std::vector<Tensor> grids;
  for (size_t i = 0; i < n; ++i) {
    std::vector<int64_t> own(n, 1);
    own[place(i)] = -1;
    grids.push_back(broadcast_sizes(reshape(args[i], own), full));
  }
  return grids;
}

Tensor shape(const Operand& input, DType out_type) {
  return apply_one(RW_OP("Shape"), {&input.tensor()}, {{"out_type", out_type}});
}
std::vector<Tensor> shape_n(const MixedOperands& input, DType out_type) {
  return to_vector(rw::apply(RW_OP("ShapeN"), input.tensors(), {{"out_type", out_type}}));
}
Tensor size(const Operand& input, DType out_type) {
  return apply_one(RW_OP("Size"), {&input.tensor()}, {{"out_type", out_type}});
}
Tensor rank(const Operand& input) { return apply_one(RW_OP("Rank"), {&input.tensor()}); }

Tensor space_to_batch(const Operand& input, const Ints& block_shape, const Paddings& paddings) {
  return apply_one(RW_OP("SpaceToBatchND"), {&input.tensor(), &block_shape.tensor(), &paddings.tensor()});
}
Tensor batch_to_space(const Operand& input, const Ints& block_shape, const Paddings& crops) {
  return apply_one(RW_OP("BatchToSpaceND"), {&input.tensor(), &block_shape.tensor(), &crops.tensor()});
}

Tensor math::invert_permutation(const Ints& x) {
  return apply_one(RW_OP("InvertPermutation"), {&x.tensor()});
}

Tensor nn::space_to_depth(const Operand& input, int block_size, const std::string& data_format) {
  return apply_one(RW_OP("SpaceToDepth"), {&input.tensor()},
                   {{"block_size", block_size}, {"data_format", data_format}});
}
Tensor nn::depth_to_space(const Operand& input, int block_size, const std::string& data_format) {
  return apply_one(RW_OP("DepthToSpace"), {&input.tensor()},
                   {{"block_size", block_size}, {"data_format", data_format}});
}

}  // namespace rw
