// Random ops: rows and shape rules. Draws are pure functions of key and counter; the stateful ops take both
// from a counter that they advance.
#include "rewind/op/shape_rules.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void require_seed(const ShapeContext& ctx, int i) {
  ctx.require_rank(i, 1);
  const Shape& s = ctx.input(i);
  if (s.has_rank() && s[0] >= 0 && s[0] != 2) ctx.fail("seed must be two numbers: " + ctx.describe(i));
}

// (shape, key, counter, alg[, minval, maxval])
void keyed_shape(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  ctx.require_rank(2, 1);
  ctx.require_scalar(3);
  if (ctx.input(1).has_rank() && ctx.input(1)[0] >= 0 && ctx.input(1)[0] != 1)
    ctx.fail("key must be one number in a vector: " + ctx.describe(1));
  if (ctx.input(2).has_rank() && ctx.input(2)[0] == 0)
    ctx.fail("counter must not be empty: " + ctx.describe(2));
  for (int i = 4; i < ctx.num_inputs(); ++i) ctx.require_scalar(i);
  sizes_from_input(ctx);
}

// (shape, seed[, minval, maxval])
void seeded_shape(ShapeContext& ctx) {
  require_seed(ctx, 1);
  for (int i = 2; i < ctx.num_inputs(); ++i) ctx.require_scalar(i);
  sizes_from_input(ctx);
}

void stateful_int_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  ctx.require_scalar(2);
  sizes_from_input(ctx);
}

void multinomial_shape(ShapeContext& ctx) {
  ctx.require_rank(0, 2);
  ctx.require_scalar(1);
  if (ctx.num_inputs() > 2) require_seed(ctx, 2);
  const Shape& logits = ctx.input(0);
  if (logits.has_rank() && logits[1] == 0) ctx.fail("there must be at least one class: " + ctx.describe(0));
  IntVector samples;
  const bool known = ctx.ints(1, &samples);
  if (known && samples[0] < 0)
    ctx.fail("num_samples must not be negative: got " + std::to_string(samples[0]));
  ctx.output(0, Shape{logits.has_rank() ? logits[0] : Shape::kUnknown, known ? samples[0] : Shape::kUnknown});
}

void key_counter_shape(ShapeContext& ctx) {
  require_seed(ctx, 0);
  ctx.output(0, Shape{1});
  ctx.output(1, Shape{2});
  if (ctx.num_outputs() > 2) ctx.output(2, Shape());
}

void read_and_skip_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  ctx.require_scalar(2);
  ctx.output(0, Shape{3});
}

void skip_shape(ShapeContext& ctx) {
  ctx.require_scalar(1);
  ctx.require_scalar(2);
}

constexpr const char* kFloats = "{half, bfloat16, float, double}";
constexpr const char* kIntegers = "{int32, int64, uint32, uint64}";
constexpr const char* kLogits =
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";

void add_stateless(OpTable& t) {
  struct Row {
    const char* name;
    const char* tag;
    const char* types;
    const char* preset;
  };
  const Row rows[] = {{"StatelessRandomUniform", "stateless_uniform", kFloats, " = float"},
                      {"StatelessRandomNormal", "stateless_normal", kFloats, " = float"},
                      {"StatelessTruncatedNormal", "stateless_truncated_normal", kFloats, " = float"},
                      {"StatelessRandomUniformFullInt", "stateless_uniform", kIntegers, " = uint64"}};
  for (const Row& r : rows) {
    const std::string name = r.name;
    const std::string dtype = std::string("dtype: ") + r.types + r.preset;
    t.add(name + "V2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype); " + dtype +
          "; Tshape: {int32, int64} = int32")
        .shape(keyed_shape)
        .host({"shape", "key", "counter", "alg"})
        .tag(r.tag);
    const char* seeds = r.types == kIntegers ? "{int32, int64, uint32, uint64}" : "{int32, int64}";
    t.add(name + "(shape: T, seed: Tseed) -> (output: dtype); " + dtype +
          "; T: {int32, int64} = int32; Tseed: " + seeds + " = int64")
        .shape(seeded_shape)
        .host({"shape", "seed"})
        .tag(r.tag);
  }
  t.add(std::string("StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, "
                    "minval: dtype, "
                    "maxval: dtype) -> (output: dtype); dtype: ") +
        kIntegers + "; Tshape: {int32, int64} = int32")
      .shape(keyed_shape)
      .host({"shape", "key", "counter", "alg", "minval", "maxval"})
      .tag("stateless_uniform");
  t.add(
       "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> (output: dtype); "
       "dtype: {int32, int64}; T: {int32, int64}; Tseed: {int32, int64} = int64")
      .shape(seeded_shape)
      .host({"shape", "seed", "minval", "maxval"})
      .tag("stateless_uniform");
  t.add(std::string("StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> (output: "
                    "output_dtype); T: ") +
        kLogits + "; Tseed: {int32, int64} = int64; output_dtype: {int32, int64} = int64")
      .shape(multinomial_shape)
      .host({"num_samples", "seed"})
      .tag("stateless_categorical");
  t.add(
       "StatelessRandomGetKeyCounter(seed: Tseed) -> (key: uint64, counter: uint64); Tseed: {int32, int64} = "
       "int64")
      .shape(key_counter_shape)
      .host({"seed", "key", "counter"});
  t.add(
       "StatelessRandomGetKeyCounterAlg(seed: Tseed) -> (key: uint64, counter: uint64, alg: int32); "
       "Tseed: {int32, int64} = int64")
      .shape(key_counter_shape)
      .host({"seed", "key", "counter", "alg"});
  t.add("StatelessRandomGetAlg() -> (alg: int32); stateful").shape(scalar_output).host({"alg"});
}

}  // namespace

void register_random_ops(OpTable& t) {
  // A stateful random op's effect without its draw: where the stream stood. op, dtype: of the random op.
  t.add(
       "_ReserveRandom(shape: T) -> (key: uint64, counter: uint64); seed: int = 0; seed2: int = 0; op: "
       "string; "
       "dtype: type; T: {int32, int64}; stateful")
      .shape([](ShapeContext& ctx) {
        ctx.output(0, Shape{1});
        ctx.output(1, Shape{2});
      })
      .host({"shape", "key", "counter"});
  add_stateless(t);
  for (const auto& [name, tag] :
       {std::pair{"RandomUniform", "uniform"}, std::pair{"RandomStandardNormal", "normal"},
        std::pair{"TruncatedNormal", "truncated_normal"}}) {
    t.add(std::string(name) + "(shape: T) -> (output: dtype); seed: int = 0; seed2: int = 0; dtype: " +
          kFloats + "; T: {int32, int64}; stateful")
        .shape(sizes_from_input)
        .host({"shape"})
        .tag(tag);
  }
  t.add(
       "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> (output: Tout); seed: int = 0; seed2: int "
       "= 0; "
       "Tout: {int32, int64}; T: {int32, int64}; stateful")
      .shape(stateful_int_shape)
      .host({"shape", "minval", "maxval"})
      .tag("uniform");
  t.add("RandomShuffle(value: T) -> (output: T); seed: int = 0; seed2: int = 0; T: type; stateful")
      .shape(same_shape_as_input)
      .tag("shuffle");
  t.add(std::string("Multinomial(logits: T, num_samples: int32) -> (output: output_dtype); seed: int = 0; "
                    "seed2: int = 0; T: ") +
        kLogits + "; output_dtype: {int32, int64} = int64; stateful")
      .shape(multinomial_shape)
      .host({"num_samples"})
      .tag("categorical");
  t.add("RngReadAndSkip(resource: resource, alg: int32, delta: uint64) -> (value: int64); stateful")
      .shape(read_and_skip_shape)
      .host({"alg", "delta", "value"})
      .tag("Generator.skip");
  t.add("RngSkip(resource: resource, algorithm: int64, delta: int64) -> (); stateful")
      .shape(skip_shape)
      .host({"algorithm", "delta"})
      .tag("Generator.skip");
}

}  // namespace rw
