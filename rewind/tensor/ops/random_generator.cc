// Generator: RngReadAndSkip advances the state, the draw is a stateless op on what it gave.
#include <mutex>

#include "rewind/kernel/random_streams.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/random_scale.h"

namespace rw::random {
namespace {

Tensor part(const Tensor& state, int64_t begin, int64_t size, DType dtype) {
  const Tensor from = constant(std::vector<int64_t>{begin});
  const Tensor count = constant(std::vector<int64_t>{size});
  const Tensor piece = apply_one(RW_OP("Slice"), {&state, &from, &count});
  if (dtype == DType::kInt64) return piece;
  return apply_one(RW_OP("Cast"), {&piece}, {{"DstT", dtype}});
}

// A seed fills the counter and key as one wide number: the sign goes on.
Tensor state_of_seed(int64_t seed) { return constant(std::vector<int64_t>{seed, seed >> 63, seed >> 63}); }

template <class... Range>
Tensor draw(const Op& op, const Tensor& dims, const Tensor& key, const Tensor& counter, DType dtype,
            const Range&... range) {
  const Tensor alg = constant(1);
  return apply_one(op, {&dims, &key, &counter, &alg, &range...}, {{"dtype", dtype}});
}

struct Shared {
  std::mutex mutex;
  std::optional<Generator> generator;
};
Shared& shared() {
  static auto* s = new Shared;
  return *s;
}

}  // namespace

Generator::Generator(const Tensor& state)
    : state_(state, {.trainable = false, .name = "StateVar", .dtype = DType::kInt64}) {}

Generator Generator::from_seed(int64_t seed) { return Generator(state_of_seed(seed)); }
Generator Generator::from_key_counter(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  return Generator(constant(std::vector<int64_t>{int64_t(counter_low), int64_t(counter_high), int64_t(key)}));
}
Generator Generator::from_state(const Operand& state) { return Generator(state.tensor(DType::kInt64)); }
Generator Generator::from_non_deterministic_state() {
  // The place is unique in this process, the key in the world.
  const RandomStream s = reserve_random("Generator", DType::kInt64, 0, 0, uint64_t{1} << 40);
  return from_key_counter(s.key, s.low, s.high);
}

void Generator::reset_from_seed(int64_t seed) const { state_.assign(state_of_seed(seed)); }

Tensor Generator::skip(const Operand& delta) const {
  const Tensor& given = delta.tensor(DType::kUint64);
  const Tensor count = given.dtype() == DType::kUint64
                           ? given
                           : apply_one(RW_OP("Cast"), {&given}, {{"DstT", DType::kUint64}});
  const Tensor alg = constant(algorithm());
  return apply_one(RW_OP("RngReadAndSkip"), {&state_.handle(), &alg, &count});
}

Generator::KeyCounter Generator::advance(const Tensor& dims) const {
  const Tensor axis = constant(0);
  const Tensor wide = apply_one(RW_OP("Cast"), {&dims}, {{"DstT", DType::kUint64}});
  const Tensor state = skip(apply_one(RW_OP("Prod"), {&wide, &axis}));
  return {part(state, 2, 1, DType::kUint64), part(state, 0, 2, DType::kUint64)};
}

Tensor Generator::uniform(const ShapeArgument& shape, const UniformOptions& o) const {
  const Tensor dims = shape.tensor();
  if (is_integer(o.dtype)) {
    const auto [low, high] = detail::integer_range("uniform", o);
    const KeyCounter kc = advance(dims);
    return draw(RW_OP("StatelessRandomUniformIntV2"), dims, kc.key, kc.counter, o.dtype, low, high);
  }
  const KeyCounter kc = advance(dims);
  return detail::scale_uniform(draw(RW_OP("StatelessRandomUniformV2"), dims, kc.key, kc.counter, o.dtype), o);
}

Tensor Generator::uniform_full_int(const ShapeArgument& shape, DType dtype) const {
  const Tensor dims = shape.tensor();
  const KeyCounter kc = advance(dims);
  return draw(RW_OP("StatelessRandomUniformFullIntV2"), dims, kc.key, kc.counter, dtype);
}

Tensor Generator::normal(const ShapeArgument& shape, const NormalOptions& o) const {
  const Tensor dims = shape.tensor();
  const KeyCounter kc = advance(dims);
  return detail::scale_normal(draw(RW_OP("StatelessRandomNormalV2"), dims, kc.key, kc.counter, o.dtype), o);
}

Tensor Generator::truncated_normal(const ShapeArgument& shape, const NormalOptions& o) const {
  const Tensor dims = shape.tensor();
  const KeyCounter kc = advance(dims);
  return detail::scale_normal(draw(RW_OP("StatelessTruncatedNormalV2"), dims, kc.key, kc.counter, o.dtype),
                              o);
}

Tensor Generator::make_seeds(int64_t count) const {
  const Tensor keys = uniform_full_int({count}, DType::kInt64);
  const Tensor zeros = apply_one(RW_OP("ZerosLike"), {&keys});
  return apply_one(RW_OP("Pack"), {&keys, &zeros});
}

std::vector<Generator> Generator::split(int64_t count) const {
  const Tensor keys = uniform_full_int({count}, DType::kInt64);
  std::vector<Generator> generators;
  for (const int64_t key : keys.data<int64_t>()) generators.push_back(from_key_counter(uint64_t(key), 0));
  return generators;
}

Tensor Generator::key() const {
  const Tensor one = part(state_.value(), 2, 1, DType::kInt64);
  const Tensor scalar = constant(std::vector<int32_t>{});
  return apply_one(RW_OP("Reshape"), {&one, &scalar});
}

Generator get_global_generator() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (!s.generator) s.generator = Generator::from_non_deterministic_state();
  return *s.generator;
}

void set_global_generator(const Generator& generator) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.generator = generator;
}

}  // namespace rw::random
