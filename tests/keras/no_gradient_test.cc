// What an optimizer says where no variable has a gradient.
#include <gtest/gtest.h>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw::keras {
namespace {

TEST(NoGradient, NamesValuesTakenForVariables) {
  const Variable w(1.0), b(2.0);
  const SGD plain;
  const LossScaleOptimizer scaled{SGD()};
  for (const Optimizer& optimizer : {Optimizer(plain), Optimizer(scaled)}) {
    GradientTape tape({.persistent = true});
    const Tensor loss = w * b;
    const std::vector<Gradient> none = tape.gradient(loss, std::vector<Tensor>{w, b});
    ASSERT_TRUE(none[0].none());
    expect_error<InvalidArgumentError>([&] { optimizer.apply_gradients(none, {w, b}); },
                                       "std::vector<Tensor> of variables holds their values");
    optimizer.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
  }
}

}  // namespace
}  // namespace rw::keras
