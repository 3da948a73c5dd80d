// What rw::function traces, when it traces again, and what it refuses.
#include <gtest/gtest.h>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

TEST(Function, RunsTheGraphOnLaterCalls) {
  int runs = 0;
  auto f = function([&](Tensor x, Tensor y) {
    ++runs;
    return x * y + 1.0;
  });
  EXPECT_EQ(f(constant(2.0), constant(3.0)).item<float>(), 7);
  EXPECT_EQ(f(constant(4.0), constant(3.0)).item<float>(), 13);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f(constant({1.0, 2.0}), constant(3.0)).to_vector<float>(), (std::vector<float>{4, 7}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.tracing_count(), 2);
}

TEST(Function, GradientsInsideAndOutside) {
  Variable w(constant({2.0, 3.0}));
  auto inside = function([&](Tensor x) {
    GradientTape tape;
    const Tensor y = reduce_sum(w * w * x);
    return tape.gradient(y, w).tensor();
  });
  EXPECT_EQ(inside(constant(1.0)).to_vector<float>(), (std::vector<float>{4, 6}));
  auto f = function([&](Tensor x) { return reduce_sum(w * w * x); });
  GradientTape outer;
  const Tensor x = constant(5.0);
  outer.watch(x);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(y.item<float>(), 65);
  const auto grads = tape.gradient(y, std::vector<Tensor>{x});
  EXPECT_EQ(tape.gradient(y, w).tensor().to_vector<float>(), (std::vector<float>{20, 30}));
  EXPECT_EQ(Tensor(grads[0]).item<float>(), 13);
}

TEST(Function, SecondOrderUnderTapes) {
  auto f = function([](Tensor x) { return x * x * x; });
  const Tensor x = constant(2.0);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    const Tensor y = f(x);
    first = inner.gradient(y, x);
  }
  EXPECT_EQ(first.item<float>(), 12);
  EXPECT_EQ(Tensor(outer.gradient(first, x)).item<float>(), 12);
}

TEST(Function, StateInProgramOrder) {
  Variable v(constant(1.0));
  auto f = function([&] {
    v.assign_add(1.0);
    const Tensor a = v * 10.0;
    v.assign(a);
    return std::pair<Tensor, Tensor>(a, v.value());
  });
  auto [a, b] = f();
  EXPECT_EQ(a.item<float>(), 20);
  EXPECT_EQ(v.item<float>(), 20);
  f();
  EXPECT_EQ(v.item<float>(), 210);
}

TEST(Function, OtherValuesAreOtherTracesUnderASignatureToo) {
  auto f = function([](Tensor x, int k) { return reduce_sum(x) * double(k); },
                    {.input_signature = std::vector<TensorSpec>{{{-1}, float32}}});
  EXPECT_EQ(f(ones({3}), 1).item<float>(), 3);
  EXPECT_EQ(f(ones({5}), 2).item<float>(), 10);
  EXPECT_EQ(f(ones({4}), 2).item<float>(), 8);
  EXPECT_EQ(f.tracing_count(), 2);
}

TEST(Function, AConcreteFunctionTakesOnlyItsKind) {
  auto f = function([](Tensor x) { return x * 2.0; }, {.name = "twice"});
  const auto concrete = f.get_concrete_function(TensorSpec{{-1, 2}, float32, "x"});
  EXPECT_EQ(concrete->signature(),
            "twice(TensorSpec(shape=(None, 2), dtype=float32, name='x')) -> "
            "(TensorSpec(shape=(None, 2), dtype=float32))");
  EXPECT_EQ((*concrete)({ones({3, 2})})[0].shape(), Shape({3, 2}));
  EXPECT_THROW((*concrete)({ones({3, 3})}), InvalidArgumentError);
  EXPECT_THROW((*concrete)({ones({3, 2}, float64)}), InvalidArgumentError);
  EXPECT_THROW((*concrete)({}), InvalidArgumentError);
}

TEST(Function, ATracedTensorReadLaterSaysThatItIsTooLate) {
  Tensor leaked;
  auto f = function([&](Tensor x) { return leaked = x * 2.0; }, {.name = "leaky"});
  f(constant(3.0));
  try {
    (void)leaked.item<float>();
    FAIL();
  } catch (const FailedPreconditionError& e) {
    EXPECT_NE(std::string(e.what()).find("outside the trace"), std::string::npos) << e.what();
  }
}

struct Scale : Module {
  Variable w;
  explicit Scale(double factor) : w(factor) {}
  RW_TRACK(w)
};

TEST(Function, ANewModuleAtAnOldAddressIsAnother) {
  auto f = function([](const Scale& scale, const Tensor& x) { return x * scale.w; });
  auto g = function([](const std::shared_ptr<Scale>& scale, const Tensor& x) { return x * scale->w; });
  for (const double factor : {2.0, 3.0, 4.0}) {
    const Scale scale(factor);
    EXPECT_EQ(f(scale, constant(1.0)).item<float>(), factor);
    EXPECT_EQ(f(scale, constant(2.0)).item<float>(), 2 * factor);
    EXPECT_EQ(g(std::make_shared<Scale>(factor), constant(1.0)).item<float>(), factor);
  }
  EXPECT_EQ(f.tracing_count(), 3);
}

}  // namespace
}  // namespace rw
