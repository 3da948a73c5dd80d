#include "rewind/tensor/ops/random.h"

#include "rewind/base/error.h"
#include "rewind/kernel/random_streams.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/effect_log.h"
#include "rewind/tensor/ops/random_scale.h"
#include "rewind/tensor/random_seed.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/trace.h"

namespace rw::random {
namespace {

Attrs seed_attrs(const OpSeeds& seeds) { return {{"seed", seeds.seed}, {"seed2", seeds.seed2}}; }

// A stateful draw: the stream is advanced once, here; the draw itself is pure and can be made again.
template <class... Range>
Tensor draw(const Op& keyed, std::string_view stateful, const ShapeArgument& shape, DType dtype, Seed seed,
            const Range&... range) {
  const OpSeeds seeds = next_op_seeds(seed);
  const Tensor dims = shape.tensor();
  // The graph draws, every time that it runs; a batch draws for all its elements.
  const ThreadState& state = thread_state();
  if (state.trace || (state.depth > 0 && !state.effects)) {
    Attrs attrs = seed_attrs(seeds);
    if (sizeof...(range) == 0) attrs = attrs.with("dtype", dtype);
    Tensor result = apply_one(find_op(stateful), {&dims, &range...}, attrs);
    if (seeds.once && !state.trace) forget_random(stateful, dtype, seeds.seed, seeds.seed2);
    return result;
  }
  uint64_t count = 1;
  for (const int64_t d : known_ints(dims)) count *= uint64_t(d);
  RandomStream s{uint64_t(seeds.seed), 0, uint64_t(seeds.seed2)};
  if (!seeds.once)
    s = happens_once(
        [&] { return reserve_random(stateful, dtype, seeds.seed, seeds.seed2, count * kReservedBlocks); });
  const Tensor key = constant(std::vector<uint64_t>{s.key});
  const Tensor counter = constant(std::vector<uint64_t>{s.low, s.high});
  const Tensor alg = constant(1);
  return apply_one(keyed, {&dims, &key, &counter, &alg, &range...}, {{"dtype", dtype}});
}

// Key and counter of a stateless draw by two seeds.
template <class... Range>
Tensor stateless(const Op& keyed, const ShapeArgument& shape, const Operand& seed, DType dtype,
                 const Range&... range) {
  const Tensors kc = apply(RW_OP("StatelessRandomGetKeyCounter"), {&seed.tensor()});
  const Tensor dims = shape.tensor();
  const Tensor alg = constant(1);
  return apply_one(keyed, {&dims, &kc[0], &kc[1], &alg, &range...}, {{"dtype", dtype}});
}

}  // namespace

void set_seed(int64_t seed) { set_global_seed(seed); }

Tensor uniform(const ShapeArgument& shape, const UniformOptions& o) {
  if (is_integer(o.dtype)) {
    const auto [low, high] = detail::integer_range("uniform", o);
    if (o.dtype != DType::kInt32 && o.dtype != DType::kInt64)
      fail_invalid("uniform",
                   "dtype must be a float type, int32 or int64: got " + std::string(name_of(o.dtype)));
    return draw(RW_OP("StatelessRandomUniformIntV2"), "RandomUniformInt", shape, o.dtype, o.seed, low, high);
  }
  return detail::scale_uniform(
      draw(RW_OP("StatelessRandomUniformV2"), "RandomUniform", shape, o.dtype, o.seed), o);
}
Tensor uniform(const ShapeArgument& shape, const Tensor& minval, const Tensor& maxval, DType dtype) {
  return uniform(shape, {.minval = minval, .maxval = maxval, .dtype = dtype});
}

Tensor normal(const ShapeArgument& shape, const NormalOptions& o) {
  return detail::scale_normal(
      draw(RW_OP("StatelessRandomNormalV2"), "RandomStandardNormal", shape, o.dtype, o.seed), o);
}
Tensor normal(const ShapeArgument& shape, const Tensor& mean, const Tensor& stddev, DType dtype) {
  return normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype});
}

Tensor truncated_normal(const ShapeArgument& shape, const NormalOptions& o) {
  return detail::scale_normal(
      draw(RW_OP("StatelessTruncatedNormalV2"), "TruncatedNormal", shape, o.dtype, o.seed), o);
}

Tensor shuffle(const Operand& value, Seed seed) {
  const OpSeeds seeds = next_op_seeds(seed);
  Tensor result = apply_one(RW_OP("RandomShuffle"), {&value.tensor()}, seed_attrs(seeds));
  if (seeds.once && !current_trace()) forget_random("RandomShuffle", result.dtype(), seeds.seed, seeds.seed2);
  return result;
}

Tensor categorical(const Operand& logits, int64_t num_samples, DType dtype, Seed seed) {
  const OpSeeds seeds = next_op_seeds(seed);
  const Tensor samples = scalar_tensor(num_samples, DType::kInt32);
  Tensor result = apply_one(RW_OP("Multinomial"), {&logits.tensor(), &samples},
                            seed_attrs(seeds).with("output_dtype", dtype));
  if (seeds.once && !current_trace()) forget_random("Multinomial", dtype, seeds.seed, seeds.seed2);
  return result;
}

Tensor stateless_uniform(const ShapeArgument& shape, const Operand& seed, const UniformOptions& o) {
  if (is_integer(o.dtype)) {
    const auto [low, high] = detail::integer_range("stateless_uniform", o);
    return stateless(RW_OP("StatelessRandomUniformIntV2"), shape, seed, o.dtype, low, high);
  }
  return detail::scale_uniform(stateless(RW_OP("StatelessRandomUniformV2"), shape, seed, o.dtype), o);
}

Tensor stateless_uniform_full_int(const ShapeArgument& shape, const Operand& seed, DType dtype) {
  return stateless(RW_OP("StatelessRandomUniformFullIntV2"), shape, seed, dtype);
}

Tensor stateless_normal(const ShapeArgument& shape, const Operand& seed, const NormalOptions& o) {
  return detail::scale_normal(stateless(RW_OP("StatelessRandomNormalV2"), shape, seed, o.dtype), o);
}

Tensor stateless_truncated_normal(const ShapeArgument& shape, const Operand& seed, const NormalOptions& o) {
  return detail::scale_normal(stateless(RW_OP("StatelessTruncatedNormalV2"), shape, seed, o.dtype), o);
}

Tensor stateless_categorical(const Operand& logits, int64_t num_samples, const Operand& seed, DType dtype) {
  const Tensor samples = scalar_tensor(num_samples, DType::kInt32);
  return apply_one(RW_OP("StatelessMultinomial"), {&logits.tensor(), &samples, &seed.tensor()},
                   {{"output_dtype", dtype}});
}

}  // namespace rw::random
