#include "tests/autograph/check.h"

namespace rw::autograph_test {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

namespace {

std::pair<Tensor, Tensor> value_and_gradient(const std::function<Tensor(Tensor)>& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  return {y, tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::ZERO}).tensor()};
}

}  // namespace

void check(const std::function<Tensor(Tensor)>& f) {
  const auto staged = function([&](Tensor x) { return f(x); });
  for (const double input : {0.3, 1.7, -2.0, 5.5, 9.0}) {
    const Tensor x = constant(input);
    const auto [y, dy] = value_and_gradient(f, x);
    const auto [z, dz] = value_and_gradient([&](Tensor v) { return staged(v); }, x);
    EXPECT_TRUE(bool(reduce_all(equal(y, z))))
        << "at " << input << ": " << y << " eagerly, " << z << " staged";
    EXPECT_TRUE(bool(reduce_all(equal(dy, dz))))
        << "gradient at " << input << ": " << dy << " eagerly, " << dz << " staged";
  }
  EXPECT_EQ(staged.tracing_count(), 1);
}

class Cases : public testing::TestWithParam<Case> {};
TEST_P(Cases, EagerEqualsStaged) { check(GetParam().f); }
INSTANTIATE_TEST_SUITE_P(All, Cases, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace rw::autograph_test
