// Forward mode: carries the derivative along one direction beside every value.
//
//   rw::ForwardAccumulator acc(x, v);          // x moves in direction v
//   auto y = f(x);
//   rw::Tensor jv = acc.jvp(y);                // J_f(x) v
//
// With a GradientTape inside it gives Hessian-vector products. It listens to the thread that made it, for as
// long as it lives: jvp() throws FailedPreconditionError on another. Any thread may destroy it.
#pragma once

#include <memory>
#include <vector>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"

namespace rw {

class ForwardRecorder;

class ForwardAccumulator {
 public:
  // A template, so that braces are lists.
  template <class P>
    requires std::is_convertible_v<const P&, Tensor>
  ForwardAccumulator(const P& primal, const Tensor& tangent)
      : ForwardAccumulator(one(primal), std::vector<Tensor>{tangent}) {}
  ForwardAccumulator(const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents);
  ForwardAccumulator(const std::vector<Variable>& primals, const std::vector<Tensor>& tangents);
  ForwardAccumulator(structure::Sources primals, const std::vector<Tensor>& tangents);
  ~ForwardAccumulator();
  ForwardAccumulator(const ForwardAccumulator&) = delete;
  ForwardAccumulator& operator=(const ForwardAccumulator&) = delete;

  // None when the target does not depend on the primals.
  Gradient jvp(const Tensor& target, UnconnectedGradients unconnected = UnconnectedGradients::NONE) const;
  std::vector<Gradient> jvp(const std::vector<Tensor>& targets,
                            UnconnectedGradients unconnected = UnconnectedGradients::NONE) const;

 private:
  template <class P>
  static std::vector<Tensor> one(const P& primal) {
    if constexpr (std::is_same_v<P, Variable>) return {primal.handle()};
    else return {Tensor(primal)};
  }
  // Variables by their handles.
  void start(const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents);
  std::unique_ptr<ForwardRecorder> recorder_;
};

}  // namespace rw
