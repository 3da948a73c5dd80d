#include "rewind/kernel/cpu/scatter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/indexing.h"

namespace rw {
namespace {

constexpr ScatterKind kAdd = ScatterKind::kAdd;
constexpr ScatterKind kSub = ScatterKind::kSub;
constexpr ScatterKind kMin = ScatterKind::kMin;
constexpr ScatterKind kMax = ScatterKind::kMax;

void copy_all(const View& from, const View& to) {
  dispatch_copy(from.dtype, [&]<class U>() {
    parallel_for(from.size, 1 << 16, [&](int64_t begin, int64_t end) {
      std::copy_n(from.as<U>() + begin, end - begin, to.as<U>() + begin);
    });
  });
}

// bool and string add up too: true stays true, texts are joined.
bool add_objects(const View& target, const View& updates, const SliceNumbers& s) {
  auto each = [&](auto combine) {
    for (int64_t k = 0; k < s.count; ++k)
      for (int64_t c = 0; s.numbers[k] >= 0 && c < s.slice; ++c)
        combine(s.numbers[k] * s.slice + c, k * s.slice + c);
  };
  if (target.dtype == DType::kBool)
    each([&](int64_t to, int64_t from) { target.as<bool>()[to] |= updates.as<bool>()[from]; });
  else if (target.dtype == DType::kString)
    each([&](int64_t to, int64_t from) { target.as<std::string>()[to] += updates.as<std::string>()[from]; });
  else return false;
  return true;
}

void scatter_nd(KernelContext& ctx) {
  const View& updates = ctx.in(1);
  const View& out = ctx.out(0);
  const ScatterRow* row = find_scatter(kAdd, out.dtype);
  if (!row && out.dtype != DType::kBool && out.dtype != DType::kString) ctx.fail_dtype(out.dtype);
  if (out.dtype != DType::kString && out.size > 0)
    std::memset(out.data, 0, size_t(out.size) * size_of(out.dtype));
  if (updates.size == 0) return;
  const SliceNumbers s = slice_numbers(ctx, 0, *out.shape);
  if (!row) add_objects(out, updates, s);
  else scatter_into(row->in_place, out.data, updates.data, s.numbers, s.count, s.slices, s.slice, s.slice);
}

void tensor_scatter(KernelContext& ctx) {
  const View& updates = ctx.in(2);
  const View& out = ctx.out(0);
  const ScatterRow* row = find_scatter(ctx.data<ScatterKind>(), out.dtype);
  if (!row) ctx.fail_dtype(out.dtype);
  copy_all(ctx.in(0), out);
  if (updates.size == 0) return;
  const SliceNumbers s = slice_numbers(ctx, 1, *out.shape);
  scatter_into(row->in_place, out.data, updates.data, s.numbers, s.count, s.slices, s.slice, s.slice);
}

void tensor_scatter_update(KernelContext& ctx) {
  const View& updates = ctx.in(2);
  const View& out = ctx.out(0);
  copy_all(ctx.in(0), out);
  if (updates.size == 0) return;
  const SliceNumbers s = slice_numbers(ctx, 1, *out.shape);
  replace_rows(out, updates, s.numbers, s.count, s.slices, s.slice, s.slice);
}

}  // namespace

const ScatterRow* find_scatter(ScatterKind kind, DType dtype) {
  static const auto table = [] {
    std::array<std::array<const ScatterRow*, 24>, 16> t{};
    for (const ScatterRow* row = isa_loops().scatter; row->kind != ScatterKind::kNone; ++row)
      t[size_t(row->kind)][size_t(row->dtype)] = row;
    return t;
  }();
  return table[size_t(kind)][size_t(dtype)];
}

void scatter_into(ScatterLoop loop, void* target, const void* updates, const int64_t* index, int64_t count,
                  int64_t rows, int64_t columns, int64_t update_step) {
  parallel_scatter(rows, columns, count * columns, [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    loop(target, updates, {index, count, columns, update_step, r0, r1, c0, c1});
  });
}

void replace_rows(const View& target, const View& updates, const int64_t* index, int64_t count, int64_t rows,
                  int64_t columns, int64_t update_step) {
  dispatch_copy(target.dtype, [&]<class U>() {
    U* to = target.as<U>();
    const U* from = updates.as<U>();
    parallel_scatter(rows, columns, count * columns, [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
      for (int64_t k = 0; k < count; ++k) {
        if (index[k] < r0 || index[k] >= r1) continue;
        std::copy_n(from + k * update_step + c0, c1 - c0, to + index[k] * columns + c0);
      }
    });
  });
}

void register_scatter_cpu_kernels() {
  register_kernel("ScatterNd", DeviceType::kCpu, scatter_nd);
  register_kernel("TensorScatterUpdate", DeviceType::kCpu, tensor_scatter_update);
  register_kernel("TensorScatterAdd", DeviceType::kCpu, tensor_scatter, &kAdd);
  register_kernel("TensorScatterSub", DeviceType::kCpu, tensor_scatter, &kSub);
  register_kernel("TensorScatterMin", DeviceType::kCpu, tensor_scatter, &kMin);
  register_kernel("TensorScatterMax", DeviceType::kCpu, tensor_scatter, &kMax);
}

}  // namespace rw
