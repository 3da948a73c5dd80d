// Updates of variables in place, and reads of their rows. A variable's shape and type are known only here.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/gather.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/cpu/scatter.h"

namespace rw {
namespace {

constexpr ScatterKind kAdd = ScatterKind::kAdd;
constexpr ScatterKind kSub = ScatterKind::kSub;
constexpr ScatterKind kMul = ScatterKind::kMul;
constexpr ScatterKind kDiv = ScatterKind::kDiv;
constexpr ScatterKind kMin = ScatterKind::kMin;
constexpr ScatterKind kMax = ScatterKind::kMax;
constexpr ScatterKind kUpdate = ScatterKind::kNone;

void check_dtype(KernelContext& ctx, const View& var, DType dtype) {
  if (var.dtype != dtype)
    ctx.fail("the variable is " + std::string(name_of(var.dtype)) + ", the op is for " +
             std::string(name_of(dtype)) + "; rw::cast converts");
}

const ScatterRow& loop_for(KernelContext& ctx, DType dtype) {
  const ScatterRow* row = find_scatter(ctx.data<ScatterKind>(), dtype);
  if (!row) ctx.fail_dtype(dtype);
  return *row;
}

void assign_update(KernelContext& ctx) {
  const View var = ctx.variable(0);
  const View& value = ctx.in(1);
  check_dtype(ctx, var, value.dtype);
  if (!(*var.shape == *value.shape))
    ctx.fail("the value must have the variable's shape: the variable is " + var.describe() +
             ", the value is " + value.describe());
  const int64_t first = 0;
  scatter_into(loop_for(ctx, var.dtype).in_place, var.data, value.data, &first, 1, 1, var.size, var.size);
}

// Whole numbers cannot be divided by zero.
void refuse_zeros(KernelContext& ctx, const View& updates) {
  dispatch<kIntTypes>(updates.dtype, [&]<class T>() {
    const T* x = updates.as<T>();
    if (std::find(x, x + updates.size, T(0)) != x + updates.size)
      ctx.fail("integers cannot be divided by zero");
  });
}

// Combines or replaces rows; one row of updates per index, or a scalar for all.
void apply_rows(KernelContext& ctx, const View& var, const View& updates, const int64_t* index, int64_t count,
                int64_t rows, int64_t columns) {
  View from = updates;
  int64_t step = columns;
  if (updates.rank() == 0 && count * columns != 1) {
    step = 0;
    if (columns > 1) {
      dispatch_copy(var.dtype, [&]<class U>() {
        if constexpr (std::is_trivially_copyable_v<U>) {
          from.data = ctx.scratch<U>(size_t(columns));
          std::fill_n(from.as<U>(), columns, *updates.as<U>());
        } else {
          ctx.fail("updates must hold one row per index: got a scalar");
        }
      });
    }
  }
  const ScatterKind kind = ctx.data<ScatterKind>();
  if (kind == kUpdate) return replace_rows(var, from, index, count, rows, columns, step);
  if (kind == kDiv) refuse_zeros(ctx, updates);
  scatter_into(loop_for(ctx, var.dtype).in_place, var.data, from.data, index, count, rows, columns, step);
}

void scatter(KernelContext& ctx) {
  const View var = ctx.variable(0);
  const View& indices = ctx.in(1);
  const View& updates = ctx.in(2);
  check_dtype(ctx, var, updates.dtype);
  if (var.rank() < 1) ctx.fail("the variable must have at least one axis: got " + var.describe());
  if (updates.rank() > 0) {
    Shape want = *indices.shape;
    for (int d = 1; d < var.rank(); ++d) want.append(var.dim(d));
    if (!(want == *updates.shape))
      ctx.fail("updates must have shape " + want.to_string() +
               " (indices, then a row of the variable): got " + updates.describe());
  }
  if (indices.size == 0) return;
  const int64_t rows = var.dim(0);
  const int64_t* index = checked_indices(ctx, 1, rows);
  if (var.size > 0) apply_rows(ctx, var, updates, index, indices.size, rows, var.size / rows);
}

void scatter_nd(KernelContext& ctx) {
  const View var = ctx.variable(0);
  const View& indices = ctx.in(1);
  const View& updates = ctx.in(2);
  check_dtype(ctx, var, updates.dtype);
  if (var.rank() < 1) ctx.fail("the variable must have at least one axis: got " + var.describe());
  if (indices.rank() < 1) ctx.fail("indices must have at least one axis: got " + indices.describe());
  const int64_t depth = indices.shape->back();
  Shape want;
  for (int d = 0; d + 1 < indices.rank(); ++d) want.append(indices.dim(d));
  for (int d = int(std::min<int64_t>(depth, var.rank())); d < var.rank(); ++d) want.append(var.dim(d));
  if (!(want == *updates.shape))
    ctx.fail("updates must have shape " + want.to_string() +
             " (indices without their last axis, then a slice of the variable): got " + updates.describe());
  const SliceNumbers s = slice_numbers(ctx, 1, *var.shape);
  if (updates.size == 0) return;
  apply_rows(ctx, var, updates, s.numbers, s.count, s.slices, s.slice);
}

void resource_gather(KernelContext& ctx) {
  const View var = ctx.variable(0);
  check_dtype(ctx, var, ctx.attr<DType>("dtype"));
  if (var.rank() < 1) ctx.fail("the variable must have at least one axis: got " + var.describe());
  const View& indices = ctx.in(1);
  int64_t batch_dims = ctx.attr<int64_t>("batch_dims");
  if (batch_dims < -indices.rank() || batch_dims > indices.rank())
    ctx.fail("batch_dims must be in [-rank, rank] of indices: got " + std::to_string(batch_dims) +
             ", indices is " + indices.describe());
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims >= var.rank())
    ctx.fail("batch_dims must be less than the rank of the variable: got " + std::to_string(batch_dims) +
             ", the variable is " + var.describe());
  for (int d = 0; d < int(batch_dims); ++d)
    if (var.dim(d) != indices.dim(d))
      ctx.fail("the first batch_dims axes must match: the variable is " + var.describe() + ", indices is " +
               indices.describe());
  gather_along(ctx, var, 1, batch_dims, batch_dims);
}

void resource_gather_nd(KernelContext& ctx) {
  const View var = ctx.variable(0);
  check_dtype(ctx, var, ctx.attr<DType>("dtype"));
  if (var.rank() < 1) ctx.fail("the variable must have at least one axis: got " + var.describe());
  gather_slices(ctx, var);
}

}  // namespace

void register_state_cpu_kernels() {
  register_kernel("AssignAddVariableOp", DeviceType::kCpu, assign_update, &kAdd);
  register_kernel("AssignSubVariableOp", DeviceType::kCpu, assign_update, &kSub);
  register_kernel("ResourceScatterAdd", DeviceType::kCpu, scatter, &kAdd);
  register_kernel("ResourceScatterSub", DeviceType::kCpu, scatter, &kSub);
  register_kernel("ResourceScatterMul", DeviceType::kCpu, scatter, &kMul);
  register_kernel("ResourceScatterDiv", DeviceType::kCpu, scatter, &kDiv);
  register_kernel("ResourceScatterMin", DeviceType::kCpu, scatter, &kMin);
  register_kernel("ResourceScatterMax", DeviceType::kCpu, scatter, &kMax);
  register_kernel("ResourceScatterUpdate", DeviceType::kCpu, scatter, &kUpdate);
  register_kernel("ResourceScatterNdAdd", DeviceType::kCpu, scatter_nd, &kAdd);
  register_kernel("ResourceScatterNdSub", DeviceType::kCpu, scatter_nd, &kSub);
  register_kernel("ResourceScatterNdMin", DeviceType::kCpu, scatter_nd, &kMin);
  register_kernel("ResourceScatterNdMax", DeviceType::kCpu, scatter_nd, &kMax);
  register_kernel("ResourceScatterNdUpdate", DeviceType::kCpu, scatter_nd, &kUpdate);
  register_kernel("ResourceGather", DeviceType::kCpu, resource_gather);
  register_kernel("ResourceGatherNd", DeviceType::kCpu, resource_gather_nd);
}

}  // namespace rw
