#include "rewind/keras/losses.h"

#include "rewind/base/error.h"
#include "rewind/keras/loss_config.h"

namespace rw::keras {
inline namespace losses {
namespace {

template <class O>
LossOptions common(const O& o) {
  return {o.reduction, o.name, o.dtype};
}

}  // namespace

#define RW_KERAS_SIMPLE_LOSS(Class, function)                                                             \
  Class::Class(const LossOptions& o)                                                                      \
      : Loss(#function, [](const Tensor& y, const Tensor& p) { return LossValues(function(y, p)); }, o) { \
    set_origin(described<Class>(*this, o));                                                               \
  }
RW_KERAS_SIMPLE_LOSS(MeanSquaredError, mean_squared_error)
RW_KERAS_SIMPLE_LOSS(MeanAbsoluteError, mean_absolute_error)
RW_KERAS_SIMPLE_LOSS(MeanAbsolutePercentageError, mean_absolute_percentage_error)
RW_KERAS_SIMPLE_LOSS(MeanSquaredLogarithmicError, mean_squared_logarithmic_error)
RW_KERAS_SIMPLE_LOSS(LogCosh, log_cosh)
RW_KERAS_SIMPLE_LOSS(Hinge, hinge)
RW_KERAS_SIMPLE_LOSS(SquaredHinge, squared_hinge)
RW_KERAS_SIMPLE_LOSS(CategoricalHinge, categorical_hinge)
RW_KERAS_SIMPLE_LOSS(KLDivergence, kl_divergence)
RW_KERAS_SIMPLE_LOSS(Poisson, poisson)
#undef RW_KERAS_SIMPLE_LOSS

BinaryCrossentropy::BinaryCrossentropy(const BinaryCrossentropyOptions& o)
    : Loss(
          "binary_crossentropy",
          [c = CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](
              const Tensor& y, const Tensor& p) { return LossValues(binary_crossentropy(y, p, c)); },
          common(o)) {
  set_origin(described<BinaryCrossentropy>(*this, o));
}

CategoricalCrossentropy::CategoricalCrossentropy(const CategoricalCrossentropyOptions& o)
    : Loss(
          "categorical_crossentropy",
          [c = CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](
              const Tensor& y, const Tensor& p) { return LossValues(categorical_crossentropy(y, p, c)); },
          common(o)) {
  set_origin(described<CategoricalCrossentropy>(*this, o));
}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& o)
    : Loss(
          "sparse_categorical_crossentropy",
          [c = SparseCrossentropyOptions{o.from_logits, o.ignore_class}](const Tensor& y, const Tensor& p) {
            return sparse_categorical_crossentropy(y, p, c);
          },
          common(o)) {
  set_origin(described<SparseCategoricalCrossentropy>(*this, o));
}

BinaryFocalCrossentropy::BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& o)
    : Loss(
          "binary_focal_crossentropy",
          [c = BinaryFocalOptions{o.apply_class_balancing, o.alpha, o.gamma, o.from_logits, o.label_smoothing,
                                  o.axis}](const Tensor& y, const Tensor& p) {
            return LossValues(binary_focal_crossentropy(y, p, c));
          },
          common(o)) {
  set_origin(described<BinaryFocalCrossentropy>(*this, o));
}

CategoricalFocalCrossentropy::CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& o)
    : Loss(
          "categorical_focal_crossentropy",
          [c = CategoricalFocalOptions{o.alpha, o.gamma, o.from_logits, o.label_smoothing, o.axis}](
              const Tensor& y, const Tensor& p) {
            return LossValues(categorical_focal_crossentropy(y, p, c));
          },
          common(o)) {
  set_origin(described<CategoricalFocalCrossentropy>(*this, o));
}

CategoricalGeneralizedCrossEntropy::CategoricalGeneralizedCrossEntropy(
    const CategoricalGeneralizedCrossEntropyOptions& o)
    : Loss(
          "categorical_generalized_cross_entropy",
          [q = o.q](const Tensor& y, const Tensor& p) {
            return LossValues(categorical_generalized_cross_entropy(y, p, q));
          },
          common(o)) {
  set_origin(described<CategoricalGeneralizedCrossEntropy>(*this, o));
}

CosineSimilarity::CosineSimilarity(const CosineSimilarityOptions& o)
    : Loss(
          "cosine_similarity",
          [axis = o.axis](const Tensor& y, const Tensor& p) {
            return LossValues(cosine_similarity(y, p, axis));
          },
          common(o)) {
  set_origin(described<CosineSimilarity>(*this, o));
}

Huber::Huber(const HuberOptions& o)
    : Loss(
          "huber_loss",
          [delta = o.delta](const Tensor& y, const Tensor& p) { return LossValues(huber(y, p, delta)); },
          common(o)) {
  set_origin(described<Huber>(*this, o));
}

Dice::Dice(const DiceOptions& o)
    : Loss(
          "dice", [axis = o.axis](const Tensor& y, const Tensor& p) { return LossValues(dice(y, p, axis)); },
          common(o)) {
  set_origin(described<Dice>(*this, o));
}

Tversky::Tversky(const TverskyOptions& o)
    : Loss(
          "tversky",
          [o](const Tensor& y, const Tensor& p) {
            return LossValues(tversky(y, p, o.alpha, o.beta, o.axis));
          },
          common(o)) {
  set_origin(described<Tversky>(*this, o));
}

Circle::Circle(const CircleLossOptions& o)
    : Loss(
          "circle",
          [c = CircleOptions{o.gamma, o.margin, o.remove_diagonal}](const Tensor& y, const Tensor& p) {
            return circle(y, p, c);
          },
          common(o)) {
  set_origin(described<Circle>(*this, o));
}

namespace {

struct Named {
  const char* class_name;
  const char* function_name;
  const char* short_name;
  Loss (*make)();
};

const Named kNamed[] = {
    {"MeanSquaredError", "mean_squared_error", "mse", [] { return Loss(MeanSquaredError()); }},
    {"MeanAbsoluteError", "mean_absolute_error", "mae", [] { return Loss(MeanAbsoluteError()); }},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", "mape",
     [] { return Loss(MeanAbsolutePercentageError()); }},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", "msle",
     [] { return Loss(MeanSquaredLogarithmicError()); }},
    {"BinaryCrossentropy", "binary_crossentropy", "bce", [] { return Loss(BinaryCrossentropy()); }},
    {"BinaryFocalCrossentropy", "binary_focal_crossentropy", "",
     [] { return Loss(BinaryFocalCrossentropy()); }},
    {"CategoricalCrossentropy", "categorical_crossentropy", "",
     [] { return Loss(CategoricalCrossentropy()); }},
    {"CategoricalFocalCrossentropy", "categorical_focal_crossentropy", "",
     [] { return Loss(CategoricalFocalCrossentropy()); }},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", "",
     [] { return Loss(SparseCategoricalCrossentropy()); }},
    {"CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy", "",
     [] { return Loss(CategoricalGeneralizedCrossEntropy()); }},
    {"KLDivergence", "kl_divergence", "kld", [] { return Loss(KLDivergence()); }},
    {"Poisson", "poisson", "", [] { return Loss(Poisson()); }},
    {"CosineSimilarity", "cosine_similarity", "", [] { return Loss(CosineSimilarity()); }},
    {"Huber", "huber", "", [] { return Loss(Huber()); }},
    {"LogCosh", "log_cosh", "", [] { return Loss(LogCosh()); }},
    {"Hinge", "hinge", "", [] { return Loss(Hinge()); }},
    {"SquaredHinge", "squared_hinge", "", [] { return Loss(SquaredHinge()); }},
    {"CategoricalHinge", "categorical_hinge", "", [] { return Loss(CategoricalHinge()); }},
    {"Dice", "dice", "", [] { return Loss(Dice()); }},
    {"Tversky", "tversky", "", [] { return Loss(Tversky()); }},
    {"Circle", "circle", "", [] { return Loss(Circle()); }},
    {"CTC", "ctc", "", [] { return Loss(CTC()); }},
};

std::string small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

}  // namespace

Loss get(const std::string& name) {
  std::string known;
  for (const Named& n : kNamed) {
    const bool short_form = *n.short_name && small_letters(name) == n.short_name;
    if (name == n.class_name || name == n.function_name || short_form) return n.make();
    known += std::string(known.empty() ? "" : ", ") + n.function_name;
  }
  fail_invalid("losses.get", "there is no loss \"" + name + "\"; known are " + known);
}

}  // namespace losses

Config to_config(const Loss& v) {
  if (!v) return nullptr;
  if (!v.origin())
    fail_unimplemented("get_config",
                       "the loss \"" + v.name() +
                           "\" is a function of the program's own, which has no config: register it by "
                           "keras::saving::register_keras_serializable(package, name, loss)");
  return v.origin()->serialized("keras.losses");
}
void from_config(const Config& c, Loss* v) {
  if (c.is_null()) *v = Loss();
  else if (c.text() && !class_registry().losses.find(*c.text())) *v = Loss(*c.text());
  else *v = object_from(c, class_registry().losses, "loss", losses::get);
}

template <class L, class O = LossOptions>
static void add_loss(ClassRegistry& r) {
  add_class<losses::LossArguments<L, O>>(r.losses);
}
void add_loss_classes(ClassRegistry& r) {
  add_loss<MeanSquaredError>(r);
  add_loss<MeanAbsoluteError>(r);
  add_loss<MeanAbsolutePercentageError>(r);
  add_loss<MeanSquaredLogarithmicError>(r);
  add_loss<LogCosh>(r);
  add_loss<Hinge>(r);
  add_loss<SquaredHinge>(r);
  add_loss<CategoricalHinge>(r);
  add_loss<KLDivergence>(r);
  add_loss<Poisson>(r);
  add_loss<CTC>(r);
  add_loss<BinaryCrossentropy, BinaryCrossentropyOptions>(r);
  add_loss<CategoricalCrossentropy, CategoricalCrossentropyOptions>(r);
  add_loss<SparseCategoricalCrossentropy, SparseCategoricalCrossentropyOptions>(r);
  add_loss<BinaryFocalCrossentropy, BinaryFocalCrossentropyOptions>(r);
  add_loss<CategoricalFocalCrossentropy, CategoricalFocalCrossentropyOptions>(r);
  add_loss<CategoricalGeneralizedCrossEntropy, CategoricalGeneralizedCrossEntropyOptions>(r);
  add_loss<CosineSimilarity, CosineSimilarityOptions>(r);
  add_loss<Huber, HuberOptions>(r);
  add_loss<Dice, DiceOptions>(r);
  add_loss<Tversky, TverskyOptions>(r);
  add_loss<Circle, CircleLossOptions>(r);
}

}  // namespace rw::keras
