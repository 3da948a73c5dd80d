#include "rewind/kernel/cpu/elementwise.h"

#include <cstring>
#include <map>
#include <string_view>

#include "rewind/kernel/cpu/broadcast.h"
#include "rewind/kernel/cpu/large_result.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

const char* at(const View& v, int64_t offset) {
  return static_cast<const char*>(v.data) + offset * int64_t(size_of(v.dtype));
}
char* out_at(const View& v, int64_t offset) { return const_cast<char*>(at(v, offset)); }

// Runs shorter than this are gathered into blocks first: a call of a loop costs more than so few elements.
constexpr int64_t kShortRun = 24;
constexpr int64_t kBlockElements = 1024;

template <class T>
void spread(const char* from, int64_t offset, int64_t step, char* to, int64_t n) {
  const T* a = reinterpret_cast<const T*>(from) + offset;
  T* o = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) o[i] = a[i * step];
}

void spread(const View& v, int64_t offset, int64_t step, char* to, int64_t n) {
  const char* from = static_cast<const char*>(v.data);
  switch (size_of(v.dtype)) {
    case 1: return spread<uint8_t>(from, offset, step, to, n);
    case 2: return spread<uint16_t>(from, offset, step, to, n);
    case 4: return spread<uint32_t>(from, offset, step, to, n);
    default: return spread<uint64_t>(from, offset, step, to, n);
  }
}

// Broadcasts whose innermost axis is short, in blocks: inputs that do not lie as the output does are written
// out.
template <size_t N, class Loop>
void run_short_rows(const BroadcastWalk& plan, const std::array<const View*, N>& in, const View& out,
                    Loop loop) {
  const size_t last = plan.dims.size() - 1;
  const int64_t inner = plan.dims[last];
  const int64_t rows = out.size / inner;
  const int64_t block_rows = std::max<int64_t>(1, kBlockElements / inner);
  parallel_for(rows, std::max(block_rows, kElementwiseGrain / inner), [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[N][kBlockElements * 8];
    SmallVector<int64_t, 6> index(last + 1);
    for (int64_t first = begin; first < end; first += block_rows) {
      const int64_t count = std::min(block_rows, end - first);
      std::array<const char*, N> from;
      for (size_t k = 0; k < N; ++k) {
        if (in[k]->size == out.size) {
          from[k] = at(*in[k], first * inner);
          continue;
        }
        const auto& strides = plan.strides[k];
        const int64_t bytes = int64_t(size_of(in[k]->dtype));
        int64_t offset = 0;
        int64_t rest = first;
        for (size_t d = last; d-- > 0;) {
          index[d] = rest % plan.dims[d];
          rest /= plan.dims[d];
          offset += index[d] * strides[d];
        }
        for (int64_t r = 0; r < count; ++r) {
          spread(*in[k], offset, strides[last], buffers[k] + r * inner * bytes, inner);
          for (size_t d = last; d-- > 0;) {
            offset += strides[d];
            if (++index[d] < plan.dims[d]) break;
            offset -= plan.dims[d] * strides[d];
            index[d] = 0;
          }
        }
        from[k] = buffers[k];
      }
      loop(from, out_at(out, first * inner), count * inner);
    }
  });
}

bool has_short_rows(const BroadcastWalk& plan) {
  return plan.dims.back() < kShortRun && plan.dims.size() > 1;
}

void run_flat(BinaryLoop loop, const View& x, int64_t x_step, const View& y, int64_t y_step,
              const View& out) {
  if (out.size <= kElementwiseGrain) return loop(x.data, x_step, y.data, y_step, out.data, out.size);
  const LargeResult result(out, {&x, &y});
  parallel_for(out.size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    result.write(begin, end - begin, [&](int64_t i, char* to, int64_t n) {
      loop(at(x, (begin + i) * x_step), x_step, at(y, (begin + i) * y_step), y_step, to, n);
    });
  });
}

void run_unary(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const UnaryLoop loop = ctx.data<UnaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  run_unary_loop(loop, x, ctx.out(0));
}

void run_binary(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const BinaryLoop loop = ctx.data<BinaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  run_binary_loop(loop, x, ctx.in(1), ctx.out(0));
}

void run_ternary(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const TernaryLoop loop = ctx.data<TernaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  run_ternary_loop(loop, x, ctx.in(1), ctx.in(2), ctx.out(0));
}

// All loops by op, made once.
template <class Loop>
using LoopMap = std::map<std::string_view, LoopsOf<Loop>>;

template <class Loop>
LoopMap<Loop> collect(const LoopRow<Loop>* const* tables) {
  LoopMap<Loop> map;
  for (; *tables; ++tables)
    for (const LoopRow<Loop>* row = *tables; row->op; ++row)
      map[row->op].by_dtype[size_t(row->in)] = row->loop;
  return map;
}

const LoopMap<UnaryLoop>& unary_map() {
  static const auto& map = *new LoopMap<UnaryLoop>(collect(isa_loops().elementwise->unary));
  return map;
}
const LoopMap<BinaryLoop>& binary_map() {
  static const auto& map = *new LoopMap<BinaryLoop>(collect(isa_loops().elementwise->binary));
  return map;
}
const LoopMap<TernaryLoop>& ternary_map() {
  static const auto& map = *new LoopMap<TernaryLoop>(collect(isa_loops().elementwise->ternary));
  return map;
}

template <class Loop>
const LoopsOf<Loop>* find(const LoopMap<Loop>& map, std::string_view op) {
  const auto it = map.find(op);
  return it == map.end() ? nullptr : &it->second;
}

template <class Loop>
void register_all(const LoopMap<Loop>& map, Kernel kernel) {
  for (const auto& [op, loops] : map)
    if (op_table().find(op)) register_kernel(op, DeviceType::kCpu, kernel, &loops);
}

}  // namespace

BroadcastWalk plan_walk(std::initializer_list<const Shape*> inputs, const Shape& out) {
  BroadcastWalk plan;
  plan.num_inputs = int(inputs.size());
  const int rank = out.rank();
  const Shape* const* in = inputs.begin();
  uint32_t kinds = 0;  // bit k: input k steps along the current axis
  SmallVector<uint32_t, 6> moves;
  for (int a = 0; a < rank; ++a) {
    if (out[a] == 1) continue;
    uint32_t here = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int axis = a - (rank - in[k]->rank());
      if (axis >= 0 && (*in[k])[axis] != 1) here |= 1u << k;
    }
    if (!plan.dims.empty() && here == kinds) {
      plan.dims.back() *= out[a];
    } else {
      plan.dims.push_back(out[a]);
      moves.push_back(here);
      kinds = here;
    }
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    moves.push_back(0);
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    plan.strides[k].resize(plan.dims.size());
    int64_t step = 1;
    for (size_t d = plan.dims.size(); d-- > 0;) {
      const bool steps = (moves[d] >> k) & 1;
      plan.strides[k][d] = steps ? step : 0;
      if (steps) step *= plan.dims[d];
    }
  }
  return plan;
}

BroadcastPlan plan_broadcast(const Shape& x, const Shape& y, const Shape& out) {
  BroadcastWalk walk = plan_walk({&x, &y}, out);
  return {std::move(walk.dims), std::move(walk.strides[0]), std::move(walk.strides[1])};
}

void run_unary_loop(UnaryLoop loop, const View& x, const View& out) {
  if (x.size <= kElementwiseGrain) return loop(x.data, out.data, x.size);
  const LargeResult result(out, {&x});
  parallel_for(x.size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    result.write(begin, end - begin, [&](int64_t i, char* to, int64_t n) { loop(at(x, begin + i), to, n); });
  });
}

void run_binary_loop(BinaryLoop loop, const View& x, const View& y, const View& out) {
  if (out.size == 0) return;
  if (x.size == out.size && y.size == out.size) return run_flat(loop, x, 1, y, 1, out);
  if (y.size == 1) return run_flat(loop, x, 1, y, 0, out);
  if (x.size == 1) return run_flat(loop, x, 0, y, 1, out);
  const BroadcastWalk plan = plan_walk({x.shape, y.shape}, *out.shape);
  if (has_short_rows(plan)) {
    return run_short_rows<2>(plan, {&x, &y}, out,
                             [&](const std::array<const char*, 2>& from, char* to, int64_t n) {
                               loop(from[0], 1, from[1], 1, to, n);
                             });
  }
  const LargeResult result(out, {&x, &y});
  for_each_run(plan, out.size, [&](const auto& offsets, const auto& steps, int64_t begin, int64_t n) {
    result.write(begin, n, [&](int64_t i, char* to, int64_t count) {
      loop(at(x, offsets[0] + i * steps[0]), steps[0], at(y, offsets[1] + i * steps[1]), steps[1], to, count);
    });
  });
}

void run_ternary_loop(TernaryLoop loop, const View& x, const View& y, const View& z, const View& out) {
  if (out.size == 0) return;
  const BroadcastWalk plan = plan_walk({x.shape, y.shape, z.shape}, *out.shape);
  if (has_short_rows(plan)) {
    return run_short_rows<3>(plan, {&x, &y, &z}, out,
                             [&](const std::array<const char*, 3>& from, char* to, int64_t n) {
                               loop(from[0], 1, from[1], 1, from[2], 1, to, n);
                             });
  }
  const LargeResult result(out, {&x, &y, &z});
  for_each_run(plan, out.size, [&](const auto& offsets, const auto& steps, int64_t begin, int64_t n) {
    result.write(begin, n, [&](int64_t i, char* to, int64_t count) {
      loop(at(x, offsets[0] + i * steps[0]), steps[0], at(y, offsets[1] + i * steps[1]), steps[1],
           at(z, offsets[2] + i * steps[2]), steps[2], to, count);
    });
  });
}

const UnaryLoops* unary_loops_of(std::string_view op) { return find(unary_map(), op); }
const BinaryLoops* binary_loops_of(std::string_view op) { return find(binary_map(), op); }
const TernaryLoops* ternary_loops_of(std::string_view op) { return find(ternary_map(), op); }

void register_unary_loops() { register_all(unary_map(), run_unary); }
void register_binary_loops() { register_all(binary_map(), run_binary); }
void register_ternary_loops() { register_all(ternary_map(), run_ternary); }

}  // namespace rw
