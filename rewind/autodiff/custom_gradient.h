// Functions with a derivative of the user's own.
//
//   auto log1pexp = rw::custom_gradient([](const rw::Tensor& x) {
//     auto e = rw::exp(x);
//     return rw::with_gradient(rw::math::log(1.0 + e), [=](const rw::Tensor& dy) { return dy * (1.0 - 1.0 /
//     (1.0 + e)); });
//   });
//   auto y = log1pexp(x);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/tensor/operand.h"
#include "rewind/tensor/variable.h"

namespace rw {

// What a function with a custom gradient returns: its outputs, and the gradients of its inputs (then of
// `variables`) from those of the outputs.
struct WithGradient {
  std::vector<Tensor> outputs;
  std::function<std::vector<Gradient>(const std::vector<Tensor>&)> gradient;
  std::vector<Variable> variables;  // that the function reads and wants gradients for
};

// Several outputs, several inputs.
inline WithGradient with_gradients(std::vector<Tensor> outputs,
                                   std::function<std::vector<Gradient>(const std::vector<Tensor>&)> gradient,
                                   std::vector<Variable> variables = {}) {
  return {std::move(outputs), std::move(gradient), std::move(variables)};
}

// One output; the gradient is a tensor (one input) or a list (several).
template <class F>
WithGradient with_gradient(Tensor output, F gradient) {
  return {{std::move(output)},
          [gradient = std::move(gradient)](const std::vector<Tensor>& dy) -> std::vector<Gradient> {
            if constexpr (std::is_convertible_v<std::invoke_result_t<F, const Tensor&>, Gradient>) {
              return {Gradient(gradient(dy[0]))};
            } else {
              std::vector<Gradient> list;
              for (auto&& g : gradient(dy[0])) list.emplace_back(g);
              return list;
            }
          },
          {}};
}

// The result of a custom-gradient function: a tensor when there is one output, a list otherwise.
class CustomOutputs {
 public:
  explicit CustomOutputs(std::vector<Tensor> list) : list_(std::move(list)) {}
  operator Tensor() const;  // NOLINT: throws unless there is one output
  const Tensor& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<Tensor> list_;
};

// Runs f on the inputs unheard by the tapes, then tells them that its outputs come with that gradient.
// Keeps f where it may have to run again.
using CustomFunction = std::function<WithGradient(const std::vector<Tensor>&)>;
std::vector<Tensor> apply_custom_gradient(const CustomFunction& f, const std::vector<Tensor>& inputs);

// f takes tensors one by one and returns WithGradient; the result takes the same tensors.
template <class F>
auto custom_gradient(F f) {
  return [f = std::make_shared<const F>(std::move(f))](const auto&... args) {
    return CustomOutputs(apply_custom_gradient(
        [f](const std::vector<Tensor>& in) -> WithGradient {
          return [&]<size_t... I>(std::index_sequence<I...>) {
            return (*f)(in[I]...);
          }(std::make_index_sequence<sizeof...(args)>());
        },
        {Operand(args).tensor()...}));
  };
}

}  // namespace rw
