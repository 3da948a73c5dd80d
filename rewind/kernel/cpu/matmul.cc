// Kernels of the matrix products.
#include <algorithm>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/einsum.h"
#include "rewind/kernel/cpu/elementwise.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kRowsGrain = 16384;  // elements that are worth another thread

void matmul(KernelContext& ctx) {
  const View& a = ctx.in(0);
  const View& b = ctx.in(1);
  const View& out = ctx.out(0);
  const bool ta = ctx.attr<bool>("transpose_a");
  const bool tb = ctx.attr<bool>("transpose_b");
  const Gemm g = Gemm::dense(out.dim(0), out.dim(1), a.dim(ta ? 0 : 1), ta, tb);
  Workspace workspace(ctx);
  if (is_direct(a.dtype, g)) {
    return gemm_direct(workspace, g, a.as<float>(), b.as<float>(), out.as<float>(),
                       [&](int64_t begin, int64_t end) { ctx.rows_done(begin, end); });
  }
  if (!gemm(workspace, a.dtype, g, a.data, b.data, out.data)) ctx.fail_dtype(a.dtype);
  if (out.dtype != DType::kFloat32 || out.size == 0) return;
  parallel_for(g.m, std::max<int64_t>(1, kRowsGrain / g.n),
               [&](int64_t begin, int64_t end) { ctx.rows_done(begin, end); });
}

bool reports_rows(const Op&, const Attrs&, DType dtype) { return dtype == DType::kFloat32; }

Shape batch_of(const View& v) { return Shape(v.shape->dims().first(size_t(v.rank() - 2))); }

// A factor in the type of the result: BatchMatMulV3 may widen.
const void* widened(KernelContext& ctx, const View& x, DType to) {
  if (x.dtype == to) return x.data;
  char* out = ctx.scratch<char>(std::max<size_t>(1, size_t(x.size) * size_of(to)));
  bool ok = false;
  dispatch<set_of(DType::kInt8, DType::kUint8)>(x.dtype, [&]<class From>() {
    ok = dispatch<set_of(DType::kInt32, DType::kBfloat16)>(to, [&]<class To>() {
      To* y = reinterpret_cast<To*>(out);
      for (int64_t i = 0; i < x.size; ++i) y[i] = static_cast<To>(static_cast<Compute<To>>(x.as<From>()[i]));
    });
  });
  if (!ok) ctx.fail_dtype(x.dtype);
  return out;
}

// The batch axes are merged as far as both factors step alike. One run of matrices at equal distances is one
// product; a run along which the right factor stands still, and the left one is not transposed, is one tall
// product.
void batch_matmul(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& y = ctx.in(1);
  const View& out = ctx.out(0);
  const char* x_data = static_cast<const char*>(widened(ctx, x, out.dtype));
  const char* y_data = static_cast<const char*>(widened(ctx, y, out.dtype));
  const bool ta = ctx.attr<bool>("adj_x");
  const bool tb = ctx.attr<bool>("adj_y");
  const int64_t m = out.dim(out.rank() - 2);
  const int64_t n = out.dim(out.rank() - 1);
  const int64_t k = x.dim(x.rank() - (ta ? 2 : 1));
  if (out.size == 0) return;

  const BroadcastPlan plan = plan_broadcast(batch_of(x), batch_of(y), batch_of(out));
  const size_t last = plan.dims.size() - 1;
  Gemm g = Gemm::dense(m, n, k, ta, tb, plan.dims[last]);
  g.stride_a *= plan.x_strides[last];
  g.stride_b *= plan.y_strides[last];
  if (g.batch > 1 && g.stride_b == 0 && !ta) {
    g.m *= g.batch;
    g.batch = 1;
  }
  const int64_t runs = out.size / (m * n * plan.dims[last]);
  const int64_t element = int64_t(size_of(out.dtype));
  Workspace workspace(ctx);
  for (int64_t run = 0; run < runs; ++run) {
    int64_t rest = run;
    int64_t x_at = 0;
    int64_t y_at = 0;
    for (size_t d = last; d-- > 0;) {
      x_at += rest % plan.dims[d] * plan.x_strides[d];
      y_at += rest % plan.dims[d] * plan.y_strides[d];
      rest /= plan.dims[d];
    }
    const bool ok =
        gemm(workspace, out.dtype, g, x_data + x_at * m * k * element, y_data + y_at * k * n * element,
             out.as<char>() + run * plan.dims[last] * m * n * element);
    if (!ok) ctx.fail_dtype(out.dtype);
  }
}

}  // namespace

void register_matmul_cpu_kernels() {
  register_kernel("MatMul", DeviceType::kCpu, {matmul, nullptr, reports_rows});
  for (const char* op : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
    register_kernel(op, DeviceType::kCpu, batch_matmul);
  register_einsum_cpu_kernels();
}

}  // namespace rw
