#include "rewind/keras/initializers.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/ops/random.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/random_seed.h"

namespace rw::keras {

int64_t make_default_seed() {
  constexpr int64_t kLimit = 1'000'000'000;
  if (const OpSeeds seeds = next_op_seeds({}); seeds.seed || seeds.seed2)
    return 1 + (seeds.seed2 ^ (seeds.seed * 7919)) % kLimit;
  std::random_device device;
  return 1 + int64_t(device()) % kLimit;
}

Tensor stateless_seed(int64_t seed) {
  constexpr int64_t kModulus = 0x7fffffff - 1;
  const int64_t folded = ((seed % kModulus) + kModulus) % kModulus;
  return constant(std::vector<int32_t>{int32_t(folded), 0});
}

// ---- the type-erased value --------------------------------------------------------------------------------

Initializer::Initializer(const char* name) : Initializer(initializers::get(name)) {}
Initializer::Initializer(const std::string& name) : Initializer(initializers::get(name)) {}

Initializer::Initializer(const Tensor& value)
    : Initializer("tensor",
                  [value](const Shape& shape, DType dtype) {
                    if (!(shape == value.shape()))
                      fail_invalid("initializer", "the tensor given as initial value has shape " +
                                                      value.shape().to_string() + ", the weight has " +
                                                      shape.to_string());
                    return value.dtype() == dtype ? value : cast(value, dtype);
                  },
                  {}) {}

Initializer::Initializer(std::string name, Call call, std::function<Initializer()> again)
    : state_(std::make_shared<State>(State{std::move(name), std::move(call), std::move(again)})) {}

const std::string& Initializer::name() const {
  static const auto& none = *new std::string;
  return state_ ? state_->name : none;
}

Tensor Initializer::operator()(const Shape& shape, DType dtype) const {
  if (!state_) fail_precondition("initializer", "this initializer is empty");
  if (!shape.fully_known())
    fail_invalid("initializer", "the shape must be known: it is " + shape.to_string());
  return state_->call(shape, dtype);
}

Initializer Initializer::clone() const {
  if (!state_ || !state_->again) return *this;
  Initializer another = state_->again();
  another.set_origin(origin());
  return another;
}

// ---- the kinds --------------------------------------------------------------------------------------------

namespace initializers {
namespace {

// An initializer that draws with `draw(seed, shape, dtype)`; a clone of one without a seed has another.
template <class Draw>
Initializer seeded(const std::string& name, Seed seed, const Draw& draw) {
  const int64_t own = seed ? *seed : make_default_seed();
  return Initializer(
      name, [own, draw](const Shape& shape, DType dtype) { return draw(stateless_seed(own), shape, dtype); },
      [=] { return seeded(name, seed, draw); });
}

Tensor draw_normal(const Tensor& seed, const Shape& shape, DType dtype, double mean, double stddev) {
  return random::stateless_normal(
      shape, seed,
      {.mean = scalar_tensor(mean, dtype), .stddev = scalar_tensor(stddev, dtype), .dtype = dtype});
}
Tensor draw_truncated(const Tensor& seed, const Shape& shape, DType dtype, double mean, double stddev) {
  return random::stateless_truncated_normal(
      shape, seed,
      {.mean = scalar_tensor(mean, dtype), .stddev = scalar_tensor(stddev, dtype), .dtype = dtype});
}
Tensor draw_uniform(const Tensor& seed, const Shape& shape, DType dtype, double minval, double maxval) {
  return random::stateless_uniform(
      shape, seed,
      {.minval = scalar_tensor(minval, dtype), .maxval = scalar_tensor(maxval, dtype), .dtype = dtype});
}

struct Fans {
  double in = 1, out = 1;
};

double product_of(const Shape& shape, const std::vector<int>& axes) {
  double product = 1;
  for (const int axis : axes) {
    const int at = axis < 0 ? axis + shape.rank() : axis;
    if (at < 0 || at >= shape.rank())
      fail_invalid("VarianceScaling",
                   "axis " + std::to_string(axis) + " is not one of shape " + shape.to_string());
    product *= double(shape[at]);
  }
  return product;
}

Fans compute_fans(const Shape& shape, const VarianceScalingOptions& o) {
  if (o.input_axes && o.output_axes)
    return {product_of(shape, *o.input_axes), product_of(shape, *o.output_axes)};
  const int rank = shape.rank();
  if (rank == 0) return {};
  if (rank == 1) return {double(shape[0]), double(shape[0])};
  double field = 1;
  for (int i = 0; i < rank - 2; ++i) field *= double(shape[i]);
  return {double(shape[rank - 2]) * field, double(shape[rank - 1]) * field};
}

Tensor scaled(const VarianceScalingOptions& o, const Tensor& seed, const Shape& shape, DType dtype) {
  const Fans fans = compute_fans(shape, o);
  const double fan = o.mode == "fan_in" ? fans.in : o.mode == "fan_out" ? fans.out : (fans.in + fans.out) / 2;
  const double scale = o.scale / std::max(1.0, fan);
  // A normal cut off at two standard deviations has this share of its own.
  constexpr double kCutStddev = 0.8796256610342398;
  if (o.distribution == "truncated_normal")
    return draw_truncated(seed, shape, dtype, 0.0, std::sqrt(scale) / kCutStddev);
  if (o.distribution == "untruncated_normal") return draw_normal(seed, shape, dtype, 0.0, std::sqrt(scale));
  const double limit = std::sqrt(3.0 * scale);
  return draw_uniform(seed, shape, dtype, -limit, limit);
}

Initializer variance_scaling(const std::string& name, VarianceScalingOptions o) {
  if (!(o.scale > 0)) fail_invalid(name, "scale must be positive: it is " + number_text(o.scale));
  if (o.mode != "fan_in" && o.mode != "fan_out" && o.mode != "fan_avg")
    fail_invalid(name, "mode must be fan_in, fan_out or fan_avg: it is " + o.mode);
  if (o.distribution == "normal") o.distribution = "truncated_normal";
  if (o.distribution != "uniform" && o.distribution != "truncated_normal" &&
      o.distribution != "untruncated_normal")
    fail_invalid(name, "distribution must be uniform, truncated_normal or untruncated_normal: it is " +
                           o.distribution);
  return seeded(name, o.seed, [o](const Tensor& seed, const Shape& shape, DType dtype) {
    return scaled(o, seed, shape, dtype);
  });
}

Tensor orthogonal(double gain, const Tensor& seed, const Shape& shape, DType dtype) {
  if (shape.rank() < 2)
    fail_invalid("Orthogonal", "the shape must have at least two axes: it is " + shape.to_string());
  int64_t rows = 1;
  for (int i = 0; i < shape.rank() - 1; ++i) rows *= shape[i];
  const int64_t cols = shape.back();
  const Tensor a = draw_normal(seed, {std::max(rows, cols), std::min(rows, cols)}, dtype, 0.0, 1.0);
  const linalg::QrResult qr = linalg::qr(a);
  Tensor q = qr.q * sign(linalg::diag_part(qr.r));
  if (rows < cols) q = transpose(q);
  return scalar_tensor(gain, dtype) * reshape(q, shape);
}

// ---- configs

void fields(ConfigFields& f, NormalOptions& o) {
  f("seed", o.seed);
  f("mean", o.mean);
  f("stddev", o.stddev);
}
void fields(ConfigFields& f, UniformOptions& o) {
  f("seed", o.seed);
  f("minval", o.minval);
  f("maxval", o.maxval);
}
void fields(ConfigFields& f, VarianceScalingOptions& o) {
  f("seed", o.seed);
  f("scale", o.scale);
  f("mode", o.mode);
  f("distribution", o.distribution);
  f("input_axes", o.input_axes);
  f("output_axes", o.output_axes);
}
void fields(ConfigFields& f, SeedOptions& o) {
  f("seed", o.seed);
  f.only("input_axes", nullptr);
  f.only("output_axes", nullptr);
}
void fields(ConfigFields& f, OrthogonalOptions& o) {
  f("seed", o.seed);
  f("gain", o.gain);
}

struct ZerosArguments {
  static constexpr const char* kName = "Zeros";
  Initializer make() const { return Zeros(); }
};
void fields(ConfigFields&, ZerosArguments&) {}
struct OnesArguments {
  static constexpr const char* kName = "Ones";
  Initializer make() const { return Ones(); }
};
void fields(ConfigFields&, OnesArguments&) {}
struct ConstantArguments {
  static constexpr const char* kName = "Constant";
  double value = 0.0;
  Initializer make() const { return Constant(value); }
};
void fields(ConfigFields& f, ConstantArguments& a) { f("value", a.value); }
struct IdentityArguments {
  static constexpr const char* kName = "Identity";
  double gain = 1.0;
  Initializer make() const { return Identity(gain); }
};
void fields(ConfigFields& f, IdentityArguments& a) { f.unless("gain", a.gain, 1.0); }

#define RW_ARGUMENTS(Name, Options)                    \
  struct Name##Arguments {                             \
    static constexpr const char* kName = #Name;        \
    Options options = {};                              \
    Initializer make() const { return Name(options); } \
  };                                                   \
  void fields(ConfigFields& f, Name##Arguments& a) { fields(f, a.options); }
RW_ARGUMENTS(RandomNormal, NormalOptions)
RW_ARGUMENTS(TruncatedNormal, NormalOptions)
RW_ARGUMENTS(RandomUniform, UniformOptions)
RW_ARGUMENTS(VarianceScaling, VarianceScalingOptions)
RW_ARGUMENTS(GlorotUniform, SeedOptions)
RW_ARGUMENTS(GlorotNormal, SeedOptions)
RW_ARGUMENTS(LecunUniform, SeedOptions)
RW_ARGUMENTS(LecunNormal, SeedOptions)
RW_ARGUMENTS(HeUniform, SeedOptions)
RW_ARGUMENTS(HeNormal, SeedOptions)
RW_ARGUMENTS(Orthogonal, OrthogonalOptions)
#undef RW_ARGUMENTS

struct Named {
  const char* name;
  const char* snake;
  Initializer (*make)();
};

const Named kNamed[] = {
    {"Zeros", "zeros", [] { return Zeros(); }},
    {"Zeros", "zero", [] { return Zeros(); }},
    {"Ones", "ones", [] { return Ones(); }},
    {"Ones", "one", [] { return Ones(); }},
    {"Constant", "constant", [] { return Constant(); }},
    {"Identity", "identity", [] { return Identity(); }},
    {"IdentityInitializer", "identity", [] { return Identity(); }},
    {"RandomNormal", "random_normal", [] { return RandomNormal(); }},
    {"RandomNormal", "normal", [] { return RandomNormal(); }},
    {"RandomUniform", "random_uniform", [] { return RandomUniform(); }},
    {"RandomUniform", "uniform", [] { return RandomUniform(); }},
    {"TruncatedNormal", "truncated_normal", [] { return TruncatedNormal(); }},
    {"VarianceScaling", "variance_scaling", [] { return VarianceScaling(); }},
    {"GlorotUniform", "glorot_uniform", [] { return GlorotUniform(); }},
    {"GlorotNormal", "glorot_normal", [] { return GlorotNormal(); }},
    {"LecunUniform", "lecun_uniform", [] { return LecunUniform(); }},
    {"LecunNormal", "lecun_normal", [] { return LecunNormal(); }},
    {"HeUniform", "he_uniform", [] { return HeUniform(); }},
    {"HeNormal", "he_normal", [] { return HeNormal(); }},
    {"Orthogonal", "orthogonal", [] { return Orthogonal(); }},
    {"OrthogonalInitializer", "orthogonal", [] { return Orthogonal(); }},
};

}  // namespace

Initializer Zeros() {
  return with_origin(
      Initializer("Zeros", [](const Shape& shape, DType dtype) { return zeros(shape, dtype); }, {}),
      ZerosArguments{});
}
Initializer Ones() {
  return with_origin(
      Initializer("Ones", [](const Shape& shape, DType dtype) { return ones(shape, dtype); }, {}),
      OnesArguments{});
}
Initializer Constant(double value) {
  return with_origin(
      Initializer(
          "Constant",
          [value](const Shape& shape, DType dtype) { return fill(shape, scalar_tensor(value, dtype)); }, {}),
      ConstantArguments{value});
}
Initializer Identity(double gain) {
  return with_origin(Initializer("Identity",
                                 [gain](const Shape& shape, DType dtype) {
                                   if (shape.rank() != 2)
                                     fail_invalid("Identity",
                                                  "the shape must have two axes: it is " + shape.to_string());
                                   return scalar_tensor(gain, dtype) *
                                          eye(shape[0], {.num_columns = shape[1], .dtype = dtype});
                                 },
                                 {}),
                     IdentityArguments{gain});
}

Initializer RandomNormal(const NormalOptions& o) {
  return with_origin(seeded("RandomNormal", o.seed,
                            [o](const Tensor& seed, const Shape& shape, DType dtype) {
                              return draw_normal(seed, shape, dtype, o.mean, o.stddev);
                            }),
                     RandomNormalArguments{o});
}
Initializer TruncatedNormal(const NormalOptions& o) {
  return with_origin(seeded("TruncatedNormal", o.seed,
                            [o](const Tensor& seed, const Shape& shape, DType dtype) {
                              return draw_truncated(seed, shape, dtype, o.mean, o.stddev);
                            }),
                     TruncatedNormalArguments{o});
}
Initializer RandomUniform(const UniformOptions& o) {
  return with_origin(seeded("RandomUniform", o.seed,
                            [o](const Tensor& seed, const Shape& shape, DType dtype) {
                              return draw_uniform(seed, shape, dtype, o.minval, o.maxval);
                            }),
                     RandomUniformArguments{o});
}

Initializer VarianceScaling(const VarianceScalingOptions& o) {
  return with_origin(variance_scaling("VarianceScaling", o), VarianceScalingArguments{o});
}
Initializer GlorotUniform(const SeedOptions& o) {
  return with_origin(
      variance_scaling("GlorotUniform", {.mode = "fan_avg", .distribution = "uniform", .seed = o.seed}),
      GlorotUniformArguments{o});
}
Initializer GlorotNormal(const SeedOptions& o) {
  return with_origin(variance_scaling("GlorotNormal", {.mode = "fan_avg", .seed = o.seed}),
                     GlorotNormalArguments{o});
}
Initializer LecunUniform(const SeedOptions& o) {
  return with_origin(variance_scaling("LecunUniform", {.distribution = "uniform", .seed = o.seed}),
                     LecunUniformArguments{o});
}
Initializer LecunNormal(const SeedOptions& o) {
  return with_origin(variance_scaling("LecunNormal", {.seed = o.seed}), LecunNormalArguments{o});
}
Initializer HeUniform(const SeedOptions& o) {
  return with_origin(variance_scaling("HeUniform", {.scale = 2.0, .distribution = "uniform", .seed = o.seed}),
                     HeUniformArguments{o});
}
Initializer HeNormal(const SeedOptions& o) {
  return with_origin(variance_scaling("HeNormal", {.scale = 2.0, .seed = o.seed}), HeNormalArguments{o});
}

Initializer Orthogonal(const OrthogonalOptions& o) {
  return with_origin(seeded("Orthogonal", o.seed,
                            [o](const Tensor& seed, const Shape& shape, DType dtype) {
                              return orthogonal(o.gain, seed, shape, dtype);
                            }),
                     OrthogonalArguments{o});
}

Initializer get(const std::string& name) {
  std::string known;
  for (const Named& n : kNamed) {
    if (name == n.name || name == n.snake) return n.make();
    known += std::string(known.empty() ? "" : ", ") + n.snake;
  }
  fail_invalid("initializers.get", "there is no initializer \"" + name + "\"; known are " + known);
}

}  // namespace initializers

Config to_config(const Initializer& v) {
  if (!v) return nullptr;
  if (!v.origin())
    fail_unimplemented("get_config",
                       "the initializer \"" + v.name() +
                           "\" is a function or a tensor, which has no config: register it by "
                           "keras::saving::register_keras_serializable(package, name, initializer)");
  return v.origin()->serialized("keras.initializers");
}
void from_config(const Config& c, Initializer* v) {
  *v = c.is_null() ? Initializer()
                   : object_from(c, class_registry().initializers, "initializer", initializers::get);
}

void add_initializer_classes(ClassRegistry& r) {
  using namespace initializers;
  add_class<ZerosArguments>(r.initializers);
  add_class<OnesArguments>(r.initializers);
  add_class<ConstantArguments>(r.initializers);
  add_class<IdentityArguments>(r.initializers);
  r.initializers.add("IdentityInitializer", make_from<IdentityArguments, Initializer>);
  add_class<RandomNormalArguments>(r.initializers);
  add_class<TruncatedNormalArguments>(r.initializers);
  add_class<RandomUniformArguments>(r.initializers);
  add_class<VarianceScalingArguments>(r.initializers);
  add_class<GlorotUniformArguments>(r.initializers);
  add_class<GlorotNormalArguments>(r.initializers);
  add_class<LecunUniformArguments>(r.initializers);
  add_class<LecunNormalArguments>(r.initializers);
  add_class<HeUniformArguments>(r.initializers);
  add_class<HeNormalArguments>(r.initializers);
  add_class<OrthogonalArguments>(r.initializers);
  r.initializers.add("OrthogonalInitializer", make_from<OrthogonalArguments, Initializer>);
}

}  // namespace rw::keras
