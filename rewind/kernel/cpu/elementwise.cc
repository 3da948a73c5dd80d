#include "rewind/kernel/cpu/elementwise.h"

#include <string_view>

#include "rewind/device/parallel.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

const char* at(const View& v, int64_t offset) {
  return static_cast<const char*>(v.data) + offset * int64_t(size_of(v.dtype));
}

void run_unary(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const UnaryLoop loop = ctx.data<UnaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  if (x.size <= kElementwiseGrain) return loop(x.data, out.data, x.size);
  parallel_for(x.size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    loop(at(x, begin), const_cast<char*>(at(out, begin)), end - begin);
  });
}

void run_flat(BinaryLoop loop, const View& x, int64_t x_step, const View& y, int64_t y_step, const View& out) {
  if (out.size <= kElementwiseGrain) return loop(x.data, x_step, y.data, y_step, out.data, out.size);
  parallel_for(out.size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    loop(at(x, begin * x_step), x_step, at(y, begin * y_step), y_step, const_cast<char*>(at(out, begin)), end - begin);
  });
}

void run_broadcast(BinaryLoop loop, const View& x, const View& y, const View& out) {
  const BroadcastPlan plan = plan_broadcast(*x.shape, *y.shape, *out.shape);
  const size_t last = plan.dims.size() - 1;
  const int64_t inner = plan.dims[last];
  const int64_t rows = out.size / inner;
  const int64_t grain = std::max<int64_t>(1, kElementwiseGrain / inner);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t x_at = 0;
      int64_t y_at = 0;
      for (size_t d = last; d-- > 0;) {
        const int64_t i = rest % plan.dims[d];
        rest /= plan.dims[d];
        x_at += i * plan.x_strides[d];
        y_at += i * plan.y_strides[d];
      }
      loop(at(x, x_at), plan.x_strides[last], at(y, y_at), plan.y_strides[last],
           const_cast<char*>(at(out, row * inner)), inner);
    }
  });
}

void run_binary(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& y = ctx.in(1);
  const View& out = ctx.out(0);
  const BinaryLoop loop = ctx.data<BinaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  if (out.size == 0) return;
  if (x.size == out.size && y.size == out.size) return run_flat(loop, x, 1, y, 1, out);
  if (y.size == 1) return run_flat(loop, x, 1, y, 0, out);
  if (x.size == 1) return run_flat(loop, x, 0, y, 1, out);
  run_broadcast(loop, x, y, out);
}

template <class Loops, class Row>
void register_rows(const Row* rows, Kernel kernel) {
  Loops* loops = nullptr;
  std::string_view current;
  for (const Row* row = rows; row->op; ++row) {
    if (current != row->op) {
      current = row->op;
      loops = nullptr;
      if (op_table().find(current)) {
        loops = new Loops;
        register_kernel(current, DeviceType::kCpu, kernel, loops);
      }
    }
    if (loops) loops->by_dtype[size_t(row->in)] = row->loop;
  }
}

}  // namespace

BroadcastPlan plan_broadcast(const Shape& x, const Shape& y, const Shape& out) {
  BroadcastPlan plan;
  const int rank = out.rank();
  auto dim = [rank](const Shape& s, int axis) {
    const int shifted = axis - (rank - s.rank());
    return shifted < 0 ? 1 : s[shifted];
  };
  // Axes are merged while both inputs keep their kind: stepping or standing still.
  int x_kind = -1;
  int y_kind = -1;
  SmallVector<std::pair<bool, bool>, 6> moves;
  for (int a = 0; a < rank; ++a) {
    const int64_t size = out[a];
    if (size == 1) continue;
    const int xk = dim(x, a) != 1;
    const int yk = dim(y, a) != 1;
    if (xk == x_kind && yk == y_kind) {
      plan.dims.back() *= size;
    } else {
      plan.dims.push_back(size);
      moves.push_back({xk != 0, yk != 0});
      x_kind = xk;
      y_kind = yk;
    }
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    moves.push_back({false, false});
  }
  plan.x_strides.resize(plan.dims.size());
  plan.y_strides.resize(plan.dims.size());
  int64_t x_step = 1;
  int64_t y_step = 1;
  for (size_t d = plan.dims.size(); d-- > 0;) {
    plan.x_strides[d] = moves[d].first ? x_step : 0;
    plan.y_strides[d] = moves[d].second ? y_step : 0;
    if (moves[d].first) x_step *= plan.dims[d];
    if (moves[d].second) y_step *= plan.dims[d];
  }
  return plan;
}

void register_unary_loops() { register_rows<UnaryLoops>(isa_loops().unary, run_unary); }
void register_binary_loops() { register_rows<BinaryLoops>(isa_loops().binary, run_binary); }

}  // namespace rw
