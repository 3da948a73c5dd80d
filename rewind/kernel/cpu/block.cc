// Kernels that move blocks of space into depth or the batch, and back. Each is one permuted copy, or one per
// place in the block.
#include <algorithm>

#include "rewind/kernel/cpu/shape_kernels.h"

namespace rw {
namespace {

// `space` is (n, h * b, w * b, c), `depth` is (n, h, w, b * b * c) in the order (row, column, channel); or
// the same with channels in front.
void move_depth(KernelContext& ctx, bool to_depth) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (x.size == 0) return;
  const View &space = to_depth ? x : y, &depth = to_depth ? y : x;
  const int64_t b = ctx.attr<int64_t>("block_size");
  const bool last = ctx.attr<std::string>("data_format") == "NHWC";
  const int ha = last ? 1 : 2, wa = last ? 2 : 3, ca = last ? 3 : 1;
  const IntVector s = dense_strides(*space.shape), d = dense_strides(*depth.shape);
  const size_t H = size_t(ha), W = size_t(wa), C = size_t(ca);
  const int64_t c = space.dim(ca);
  CopyAxes axes;
  const auto axis = [&](int64_t size, int64_t in_space, int64_t in_depth) {
    if (to_depth) axes.push_back({size, in_depth, in_space});
    else axes.push_back({size, in_space, in_depth});
  };
  axis(space.dim(0), s[0], d[0]);
  axis(depth.dim(ha), b * s[H], d[H]);
  axis(b, s[H], b * c * d[C]);
  axis(depth.dim(wa), b * s[W], d[W]);
  axis(b, s[W], c * d[C]);
  axis(c, s[C], d[C]);
  strided_copy(x.dtype, y.data, x.data, std::move(axes));
}
void space_to_depth(KernelContext& ctx) { move_depth(ctx, true); }
void depth_to_space(KernelContext& ctx) { move_depth(ctx, false); }

// Batch (p * n + i) of `batched` holds, at place s, the element s * block + p of image i of `space`, which
// has lost `edge` elements in front (its padding, or its crop).
void move_batch(KernelContext& ctx, bool to_batch) {
  const View &x = ctx.in(0), &y = ctx.out(0);
  if (y.size == 0) return;
  const View &space = to_batch ? x : y, &batched = to_batch ? y : x;
  const IntVector block = host_ints(ctx.in(1)), edges = host_ints(ctx.in(2));
  const IntVector s = dense_strides(*space.shape), d = dense_strides(*batched.shape);
  if (to_batch && std::any_of(edges.begin(), edges.end(), [](int64_t e) { return e > 0; }))
    zero_elements(y.dtype, y.data, y.size);
  if (x.size == 0) return;
  const size_t m = block.size();
  IntVector place(m, 0);
  for (int64_t p = 0;; ++p) {
    CopyAxes axes;
    int64_t in_space = 0, in_batched = p * space.dim(0) * d[0];
    const auto axis = [&](int64_t size, int64_t space_step, int64_t batched_step) {
      if (to_batch) axes.push_back({size, batched_step, space_step});
      else axes.push_back({size, space_step, batched_step});
    };
    axis(space.dim(0), s[0], d[0]);
    for (size_t k = 0; k < m; ++k) {
      // Smallest and largest s with 0 <= s * block + place - edge < size.
      const int64_t shift = edges[2 * k] - place[k], size = space.dim(int(k) + 1);
      const int64_t low = shift <= 0 ? 0 : (shift + block[k] - 1) / block[k];
      const int64_t reach = size - 1 + shift;
      const int64_t high = reach < 0 ? -1 : std::min(reach / block[k], batched.dim(int(k) + 1) - 1);
      axis(std::max<int64_t>(0, high - low + 1), block[k] * s[k + 1], d[k + 1]);
      in_space += (low * block[k] - shift) * s[k + 1];
      in_batched += low * d[k + 1];
    }
    for (size_t k = m + 1; k < s.size(); ++k) axis(space.dim(int(k)), s[k], d[k]);
    const int64_t to = to_batch ? in_batched : in_space, from = to_batch ? in_space : in_batched;
    const bool any = std::all_of(axes.begin(), axes.end(), [](const CopyAxis& a) { return a.size > 0; });
    if (any)
      strided_copy(x.dtype, element(x.dtype, y.data, to), element(x.dtype, x.data, from), std::move(axes));
    size_t k = m;
    while (k > 0 && ++place[k - 1] == block[k - 1]) place[--k] = 0;
    if (k == 0) return;
  }
}
void space_to_batch(KernelContext& ctx) { move_batch(ctx, true); }
void batch_to_space(KernelContext& ctx) { move_batch(ctx, false); }

}  // namespace

void register_block_kernels() {
  register_kernel("SpaceToDepth", DeviceType::kCpu, space_to_depth);
  register_kernel("DepthToSpace", DeviceType::kCpu, depth_to_space);
  register_kernel("SpaceToBatchND", DeviceType::kCpu, space_to_batch);
  register_kernel("BatchToSpaceND", DeviceType::kCpu, batch_to_space);
}

}  // namespace rw
