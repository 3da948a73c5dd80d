// The configs of losses; for the library's own files.
#pragma once

#include <type_traits>

#include "rewind/keras/losses.h"
#include "rewind/keras/registry.h"

namespace rw::keras {
inline namespace losses {

template <class L, class O>
struct LossArguments {
  using Made = L;
  O options = {};
  L make() const { return L(options); }
};
// Keras leaves the options of some losses out of their configs, also where they are not the usual ones.
template <class L, class O>
void fields(ConfigFields& f, LossArguments<L, O>& a) {
  O& o = a.options;
  f("name", o.name);
  f("reduction", o.reduction);
  if (o.reduction == "auto") o.reduction = "sum_over_batch_size";  // of Keras 2
  f.unless("dtype", o.dtype, DType::kFloat32);
  f.ignore("fn");
  if constexpr (std::is_same_v<L, CosineSimilarity>) f.unless("axis", o.axis, -1);
  else if constexpr (requires { o.axis.size(); }) f.list_or_null("axis", o.axis);
  else if constexpr (requires { o.axis; }) f("axis", o.axis);
  if constexpr (requires { o.from_logits; }) f("from_logits", o.from_logits);
  if constexpr (requires { o.label_smoothing; }) f("label_smoothing", o.label_smoothing);
  if constexpr (requires { o.apply_class_balancing; }) f("apply_class_balancing", o.apply_class_balancing);
  if constexpr (requires { o.alpha; }) f("alpha", o.alpha);
  if constexpr (requires { o.beta; }) f("beta", o.beta);
  if constexpr (requires { o.gamma; }) f("gamma", o.gamma);
  if constexpr (requires { o.ignore_class; }) f("ignore_class", o.ignore_class);
  if constexpr (requires { o.q; }) f("q", o.q);
  if constexpr (requires { o.delta; }) f.unless("delta", o.delta, 1.0);
  if constexpr (requires { o.margin; }) f("margin", o.margin);
  if constexpr (requires { o.remove_diagonal; }) f("remove_diagonal", o.remove_diagonal);
}
template <class L, class O>
std::shared_ptr<const Origin> described(const Loss& loss, O options) {
  options.name = loss.name();
  return origin_of(LossArguments<L, O>{std::move(options)});
}

}  // namespace losses
}  // namespace rw::keras
