// Kernels of the random ops. A stateless op draws from the key and counter it is given; a stateful one first
// advances its stream, then draws in the same way.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "rewind/base/dispatch.h"
#include "rewind/base/math/math.h"
#include "rewind/kernel/cpu/random_draw.h"
#include "rewind/kernel/kernel.h"
#include "rewind/kernel/random_streams.h"

namespace rw {
namespace {

using Draw = bool (*)(const Philox&, const View&);

uint64_t integer(const View& v, int64_t i) {
  switch (v.dtype) {
    case DType::kInt32: return uint64_t(int64_t(v.as<int32_t>()[i]));
    case DType::kUint32: return v.as<uint32_t>()[i];
    default: return v.as<uint64_t>()[i];
  }
}

void check_algorithm(KernelContext& ctx, int64_t alg) {
  if (alg != 1 && alg != 3)
    ctx.fail("alg must be 1 (Philox) or 3 (the library's choice): got " + std::to_string(alg));
}

// (shape, key, counter, alg)
Philox keyed(KernelContext& ctx) {
  check_algorithm(ctx, *ctx.in(3).as<int32_t>());
  const View& counter = ctx.in(2);
  const auto* c = counter.as<uint64_t>();
  return {*ctx.in(1).as<uint64_t>(), c[0], counter.size > 1 ? c[1] : 0};
}

Philox seeded(const View& seed) { return scramble_seeds(integer(seed, 0), integer(seed, 1)); }

Philox reserved(KernelContext& ctx, uint64_t blocks) {
  const RandomStream s = reserve_random(ctx.op().name, ctx.out(0).dtype, ctx.attr<int64_t>("seed"),
                                        ctx.attr<int64_t>("seed2"), blocks);
  return {s.key, s.low, s.high};
}

template <Draw kDraw>
void keyed_draw(KernelContext& ctx) {
  if (!kDraw(keyed(ctx), ctx.out(0))) ctx.fail_dtype(ctx.out(0).dtype);
}

template <Draw kDraw>
void seeded_draw(KernelContext& ctx) {
  if (!kDraw(seeded(ctx.in(1)), ctx.out(0))) ctx.fail_dtype(ctx.out(0).dtype);
}

template <Draw kDraw>
void stateful_draw(KernelContext& ctx) {
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  if (!kDraw(reserved(ctx, uint64_t(out.size) * kReservedBlocks), out)) ctx.fail_dtype(out.dtype);
}

void reserve(KernelContext& ctx) {
  const View& shape = ctx.in(0);
  uint64_t count = 1;
  for (int64_t i = 0; i < shape.size; ++i) count *= uint64_t(integer(shape, i));
  RandomStream s;
  if (count > 0)
    s = reserve_random(ctx.attr<std::string>("op"), ctx.attr<DType>("dtype"), ctx.attr<int64_t>("seed"),
                       ctx.attr<int64_t>("seed2"), count * kReservedBlocks);
  *ctx.out(0).as<uint64_t>() = s.key;
  ctx.out(1).as<uint64_t>()[0] = s.low;
  ctx.out(1).as<uint64_t>()[1] = s.high;
}

void check_range(KernelContext& ctx, const View& low, const View& high) {
  dispatch<kIntTypes>(low.dtype, [&]<class T>() {
    const T a = *low.as<T>();
    const T b = *high.as<T>();
    if (a >= b)
      ctx.fail("minval must be less than maxval: got " + std::to_string(a) + " and " + std::to_string(b));
  });
}

void keyed_uniform_int(KernelContext& ctx) {
  const Philox state = keyed(ctx);
  if (ctx.out(0).size == 0) return;
  check_range(ctx, ctx.in(4), ctx.in(5));
  if (!draw_uniform_int(state, ctx.out(0), ctx.in(4), ctx.in(5))) ctx.fail_dtype(ctx.out(0).dtype);
}

void seeded_uniform_int(KernelContext& ctx) {
  if (ctx.out(0).size == 0) return;
  check_range(ctx, ctx.in(2), ctx.in(3));
  if (!draw_uniform_int(seeded(ctx.in(1)), ctx.out(0), ctx.in(2), ctx.in(3)))
    ctx.fail_dtype(ctx.out(0).dtype);
}

void stateful_uniform_int(KernelContext& ctx) {
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  check_range(ctx, ctx.in(1), ctx.in(2));
  draw_uniform_int(reserved(ctx, uint64_t(out.size) * kReservedBlocks), out, ctx.in(1), ctx.in(2));
}

void key_counter(KernelContext& ctx) {
  const Philox state = seeded(ctx.in(0));
  *ctx.out(0).as<uint64_t>() = state.key;
  ctx.out(1).as<uint64_t>()[0] = state.low;
  ctx.out(1).as<uint64_t>()[1] = state.high;
  if (ctx.num_outputs() > 2) *ctx.out(2).as<int32_t>() = 1;
}

void algorithm(KernelContext& ctx) { *ctx.out(0).as<int32_t>() = 1; }

// Inverts the distribution function: rows of logits one after the other, two words a sample.
void categorical(KernelContext& ctx, const Philox& state) {
  const View& logits = ctx.in(0);
  const View& out = ctx.out(0);
  if (out.size == 0) return;
  const int64_t classes = logits.dim(1);
  const int64_t samples = out.dim(1);
  PhiloxWords words(state);
  std::vector<double> cumulative(size_t(classes), 0.0);
  const bool known = dispatch<kRealTypes>(logits.dtype, [&]<class T>() {
    for (int64_t row = 0; row < logits.dim(0); ++row) {
      const T* x = logits.as<T>() + row * classes;
      double largest = std::is_same_v<T, Half> ? -65504.0 : -double(std::numeric_limits<Compute<T>>::max());
      for (int64_t j = 0; j < classes; ++j) {
        const auto v = double(static_cast<Compute<T>>(x[j]));
        if (std::isfinite(v)) largest = std::max(largest, v);
      }
      double total = 0;
      for (int64_t j = 0; j < classes; ++j) {
        const auto v = double(static_cast<Compute<T>>(x[j]));
        if (std::isfinite(v)) total += scalar::exp(v - largest);
        cumulative[size_t(j)] = total;
      }
      for (int64_t j = 0; j < samples; ++j) {
        const double target = words.unit() * total;
        const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), target) - cumulative.begin();
        if (out.dtype == DType::kInt32) out.as<int32_t>()[row * samples + j] = int32_t(at);
        else out.as<int64_t>()[row * samples + j] = at;
      }
    }
  });
  if (!known) ctx.fail_dtype(logits.dtype);
}

void seeded_categorical(KernelContext& ctx) { categorical(ctx, seeded(ctx.in(2))); }

void stateful_categorical(KernelContext& ctx) {
  const uint64_t samples = (uint64_t(ctx.out(0).dim(1)) + 3) / 4 * 4;
  categorical(ctx, reserved(ctx, uint64_t(ctx.out(0).dim(0)) * samples * kReservedBlocks));
}

void shuffle(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const int64_t n = x.rank() == 0 ? 1 : x.dim(0);
  if (x.size == 0) return;
  if (n > UINT32_MAX) ctx.fail("more rows than 2^32 cannot be shuffled: " + x.describe());
  std::vector<int64_t> order(size_t(n), 0);
  std::iota(order.begin(), order.end(), 0);
  if (n > 1) {
    PhiloxWords words(reserved(ctx, (uint64_t(n) + 3) / 4));
    for (int64_t i = 0; i + 1 < n; ++i)
      std::swap(order[size_t(i)], order[size_t(i + words() % uint32_t(n - i))]);
  }
  const int64_t row = x.size / n;
  if (x.dtype == DType::kString) {
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(x.as<std::string>() + order[size_t(i)] * row, row, out.as<std::string>() + i * row);
    return;
  }
  if (is_host_only(x.dtype)) ctx.fail_dtype(x.dtype);
  const size_t bytes = size_t(row) * size_of(x.dtype);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out.as<char>() + size_t(i) * bytes, x.as<char>() + size_t(order[size_t(i)]) * bytes, bytes);
}

// The state of a Generator: int64 (counter low, counter high, key).
int64_t* generator_state(KernelContext& ctx) {
  const View state = ctx.variable(0);
  if (state.dtype != DType::kInt64 || state.rank() != 1 || state.size < 3)
    ctx.fail("the generator's state must be a vector of three int64 (counter and key): got " +
             state.describe());
  return state.as<int64_t>();
}

void skip(int64_t* state, uint64_t delta) {
  const Philox next = Philox{0, uint64_t(state[0]), uint64_t(state[1])}.skipped(delta * kReservedBlocks);
  state[0] = int64_t(next.low);
  state[1] = int64_t(next.high);
}

void read_and_skip(KernelContext& ctx) {
  check_algorithm(ctx, *ctx.in(1).as<int32_t>());
  int64_t* state = generator_state(ctx);
  std::copy_n(state, 3, ctx.out(0).as<int64_t>());
  skip(state, *ctx.in(2).as<uint64_t>());
}

void skip_only(KernelContext& ctx) {
  check_algorithm(ctx, *ctx.in(1).as<int64_t>());
  skip(generator_state(ctx), uint64_t(*ctx.in(2).as<int64_t>()));
}

}  // namespace

void register_random_cpu_kernels() {
  const auto cpu = DeviceType::kCpu;
  register_kernel("_ReserveRandom", cpu, reserve);
  register_kernel("StatelessRandomUniformV2", cpu, keyed_draw<draw_uniform>);
  register_kernel("StatelessRandomNormalV2", cpu, keyed_draw<draw_normal>);
  register_kernel("StatelessTruncatedNormalV2", cpu, keyed_draw<draw_truncated_normal>);
  register_kernel("StatelessRandomUniformFullIntV2", cpu, keyed_draw<draw_full_int>);
  register_kernel("StatelessRandomUniformIntV2", cpu, keyed_uniform_int);
  register_kernel("StatelessRandomUniform", cpu, seeded_draw<draw_uniform>);
  register_kernel("StatelessRandomNormal", cpu, seeded_draw<draw_normal>);
  register_kernel("StatelessTruncatedNormal", cpu, seeded_draw<draw_truncated_normal>);
  register_kernel("StatelessRandomUniformFullInt", cpu, seeded_draw<draw_full_int>);
  register_kernel("StatelessRandomUniformInt", cpu, seeded_uniform_int);
  register_kernel("StatelessMultinomial", cpu, seeded_categorical);
  register_kernel("StatelessRandomGetKeyCounter", cpu, key_counter);
  register_kernel("StatelessRandomGetKeyCounterAlg", cpu, key_counter);
  register_kernel("StatelessRandomGetAlg", cpu, algorithm);
  register_kernel("RandomUniform", cpu, stateful_draw<draw_uniform>);
  register_kernel("RandomStandardNormal", cpu, stateful_draw<draw_normal>);
  register_kernel("TruncatedNormal", cpu, stateful_draw<draw_truncated_normal>);
  register_kernel("RandomUniformInt", cpu, stateful_uniform_int);
  register_kernel("Multinomial", cpu, stateful_categorical);
  register_kernel("RandomShuffle", cpu, shuffle);
  register_kernel("RngReadAndSkip", cpu, read_and_skip);
  register_kernel("RngSkip", cpu, skip_only);
}

}  // namespace rw
