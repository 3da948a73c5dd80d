// LossScaleOptimizer: another optimizer, for gradients of small types. The loss is scaled up before it is
// differentiated, gradients are scaled down again; a step with a gradient that is not finite is left out and
// halves the scale, enough good steps in a row double it.
#pragma once

#include "rewind/keras/optimizer.h"

namespace rw::keras {
inline namespace optimizers {

struct LossScaleOptions {
  double initial_scale = 32768.0;
  int64_t dynamic_growth_steps = 2000;
  std::string name = "";
};
class LossScaleOptimizer : public Optimizer {
 public:
  explicit LossScaleOptimizer(const Optimizer& inner_optimizer, const LossScaleOptions& options = {});
};

}  // namespace optimizers
}  // namespace rw::keras
