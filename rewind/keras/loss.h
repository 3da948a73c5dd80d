// Losses: what they share. A Loss is a small value: by name, one of the classes in losses.h, or any callable
// (y_true, y_pred) -> values, one for each example.
//
//   auto loss_of = keras::SparseCategoricalCrossentropy({.from_logits = true});
//   rw::Tensor loss = loss_of(y, model(x));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "rewind/keras/origin.h"
#include "rewind/tensor/operand.h"

namespace rw::keras {

// What a loss gives before it is reduced; the mask (undefined: none) tells which values count.
struct LossValues {
  LossValues(Tensor v) : values(std::move(v)) {}  // NOLINT: values alone are the usual case
  LossValues(Tensor v, Tensor m) : values(std::move(v)), mask(std::move(m)) {}
  Tensor values, mask;
};

struct LossOptions {
  std::string reduction = "sum_over_batch_size";  // "sum", "mean", "mean_with_sample_weight", "none"
  std::string name = "";                          // empty: the class's own
  DType dtype = DType::kFloat32;                  // in which the loss is computed
};

class Loss : public WithOrigin {
 public:
  using Call = std::function<LossValues(const Tensor& y_true, const Tensor& y_pred)>;

  Loss() = default;               // none
  Loss(std::nullptr_t) {}         // NOLINT: written as they are
  Loss(const char* name);         // NOLINT
  Loss(const std::string& name);  // NOLINT
  template <class F>
    requires(std::is_invocable_r_v<LossValues, const F&, const Tensor&, const Tensor&> &&
             !std::is_base_of_v<Loss, F>)
  Loss(F f) : Loss("loss", Call(std::move(f)), {}) {}  // NOLINT
  Loss(const std::string& name, Call call, const LossOptions& options);

  bool defined() const { return state_ != nullptr; }
  explicit operator bool() const { return defined(); }
  const std::string& name() const;
  bool by_name() const { return !state().given_name.empty(); }
  const std::string& given_name() const;  // "mse" where it was asked for by that name
  const std::string& reduction() const;

  // The reduced loss. Weights (one an example, or one a value) and mask may be undefined tensors.
  Tensor operator()(const Operand& y_true, const Operand& y_pred, const Tensor& sample_weight = {},
                    const Tensor& mask = {}) const;
  // One value an example.
  LossValues call(const Operand& y_true, const Operand& y_pred) const;

 private:
  struct State {
    std::string name;
    Call call;
    LossOptions options;
    std::string given_name;
  };
  const State& state() const;
  std::shared_ptr<const State> state_;
};

}  // namespace rw::keras
