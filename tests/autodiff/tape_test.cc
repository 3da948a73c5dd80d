#include "rewind/autodiff/gradient_tape.h"

#include <gtest/gtest.h>

#include <thread>

#include "rewind/rewind.h"

namespace rw {
namespace {

float value(const Gradient& g) { return g.tensor().item<float>(); }

TEST(GradientTape, SquareOfAWatchedTensor) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  EXPECT_FLOAT_EQ(value(tape.gradient(y, x)), 6.0f);
}

TEST(GradientTape, SecondAndThirdDerivativesByNestedTapes) {
  const Tensor x = constant(2.0);
  GradientTape outermost;
  outermost.watch(x);
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = x * x * x;
  const Tensor first = inner.gradient(y, x);
  const Tensor second = outer.gradient(first, x);
  const Tensor third = outermost.gradient(second, x);
  EXPECT_FLOAT_EQ(first.item<float>(), 12.0f);
  EXPECT_FLOAT_EQ(second.item<float>(), 12.0f);
  EXPECT_FLOAT_EQ(third.item<float>(), 6.0f);
}

TEST(GradientTape, TrainableVariablesAreWatchedByThemselves) {
  const Variable w(2.0, {.name = "w"});
  const Variable frozen(3.0, {.trainable = false, .name = "frozen"});
  GradientTape tape;
  const Tensor y = w * w * frozen;
  EXPECT_EQ(tape.watched_variables().size(), 1u);
  const auto grads = tape.gradient(y, std::vector<Variable>{w, frozen});
  EXPECT_FLOAT_EQ(value(grads[0]), 12.0f);
  EXPECT_TRUE(grads[1].none());
}

TEST(GradientTape, AutomaticWatchingCanBeSwitchedOff) {
  const Variable a(2.0), b(5.0);
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(a);
  const auto grads = tape.gradient(a * b, std::vector<Variable>{a, b});
  EXPECT_FLOAT_EQ(value(grads[0]), 5.0f);
  EXPECT_TRUE(grads[1].none());
}

TEST(GradientTape, PersistentTapesAnswerTwice) {
  const Tensor x = constant(3.0);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor z = y * y;
  EXPECT_FLOAT_EQ(value(tape.gradient(z, x)), 108.0f);
  EXPECT_FLOAT_EQ(value(tape.gradient(y, x)), 6.0f);
}

TEST(GradientTape, ASecondQuestionToAPlainTapeIsAnError) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  tape.gradient(y, x);
  EXPECT_THROW(tape.gradient(y, x), FailedPreconditionError);
}

TEST(GradientTape, IntermediatesAreSources) {
  const Tensor x = constant(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor z = y * y;
  EXPECT_FLOAT_EQ(value(tape.gradient(z, y)), 18.0f);
}

TEST(GradientTape, SeveralTargetsAddUp) {
  const Tensor x = constant(2.0);
  GradientTape tape;
  tape.watch(x);
  const std::vector<Tensor> targets{x * x, x * 3.0};
  EXPECT_FLOAT_EQ(value(tape.gradient(targets, x)), 7.0f);
}

TEST(GradientTape, OutputGradientsScaleTheTarget) {
  const Tensor x = constant({1.0, 2.0});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor g = tape.gradient(y, x, {.output_gradients = {constant({10.0, 100.0})}});
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{20, 400}));
}

TEST(GradientTape, MisshapenOutputGradientIsRefused) {
  const Tensor x = constant({1.0, 2.0});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  EXPECT_THROW(tape.gradient(y, x, {.output_gradients = {constant(1.0)}}), InvalidArgumentError);
}

TEST(GradientTape, MapsGiveMaps) {
  const std::map<std::string, Variable> sources{{"a", Variable(2.0)}, {"b", Variable(4.0)}};
  GradientTape tape;
  const Tensor y = sources.at("a") * sources.at("b");
  const std::map<std::string, Gradient> g = tape.gradient(y, sources);
  EXPECT_FLOAT_EQ(value(g.at("a")), 4.0f);
  EXPECT_FLOAT_EQ(value(g.at("b")), 2.0f);
}

template <class T>
struct Params {
  T w, b;
};
struct PlainPair {
  Tensor u, v;
};

TEST(GradientTape, StructsGiveStructs) {
  const Params<Variable> p{Variable(2.0), Variable(5.0)};
  GradientTape tape;
  const Params<Gradient> g = tape.gradient(p.w * p.b, p);
  EXPECT_FLOAT_EQ(value(g.w), 5.0f);
  EXPECT_FLOAT_EQ(value(g.b), 2.0f);

  const PlainPair pair{constant(3.0), constant(4.0)};
  GradientTape second;
  second.watch({pair.u, pair.v});
  const PlainPair h = second.gradient(pair.u * pair.v, pair);
  EXPECT_FLOAT_EQ(h.u.item<float>(), 4.0f);
  EXPECT_FLOAT_EQ(h.v.item<float>(), 3.0f);
}

TEST(GradientTape, UnconnectedSourcesGiveNoneOrZeros) {
  const Tensor x = constant({1.0, 2.0});
  const Tensor other = constant({5.0, 6.0, 7.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(other);
  const Tensor y = x * x;
  EXPECT_TRUE(tape.gradient(y, other).none());
  const Tensor zeros = tape.gradient(y, other, {.unconnected_gradients = UnconnectedGradients::ZERO});
  EXPECT_EQ(zeros.to_vector<float>(), (std::vector<float>{0, 0, 0}));
}

TEST(GradientTape, IntegersAndStringsGiveNone) {
  const Tensor i = constant(3);
  const Tensor s = constant("text");
  GradientTape tape;
  tape.watch(i);
  tape.watch(s);
  const Tensor y = i * i;
  const auto g = tape.gradient(y, std::vector<Tensor>{i, s});
  EXPECT_TRUE(g[0].none());
  EXPECT_TRUE(g[1].none());
}

TEST(GradientTape, StopRecordingAndReset) {
  const Tensor x = constant(3.0);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  Tensor hidden;
  tape.stop_recording([&] { hidden = x * y; });
  EXPECT_TRUE(tape.gradient(hidden, x).none());
  tape.reset();
  EXPECT_TRUE(tape.gradient(y, x).none());
  tape.watch(x);
  y = x * x * x;
  EXPECT_FLOAT_EQ(value(tape.gradient(y, x)), 27.0f);
}

TEST(GradientTape, OneTensorWatchedByTwoTapes) {
  const Tensor x = constant(2.0);
  GradientTape a({.persistent = true});
  GradientTape b;
  a.watch(x);
  b.watch(x);
  const Tensor y = x * x;
  const Tensor z = y * x;
  EXPECT_FLOAT_EQ(value(a.gradient(y, x)), 4.0f);
  EXPECT_FLOAT_EQ(value(b.gradient(z, x)), 12.0f);
}

TEST(GradientTape, HundredThousandRecords) {
  const Tensor x = constant(1.0);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y + x * 1e-5;
  EXPECT_NEAR(value(tape.gradient(y, x)), 2.0f, 1e-2);
}

TEST(GradientTape, AbandonedLongTapesAreFreed) {
  const Tensor x = constant(1.0);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y * x;
}

TEST(GradientTape, OpWithoutRuleNamesItAndTheCure) {
  static const bool added = [] {
    op_table().add("TestNoGradient(x: T) -> (y: T); T: {float, double}").shape(same_shape_as_input).view();
    return true;
  }();
  EXPECT_TRUE(added);
  const Tensor x = constant(1.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = raw_op("TestNoGradient", {x})[0];
  try {
    tape.gradient(y, x);
    FAIL();
  } catch (const NotFoundError& e) {
    EXPECT_NE(std::string(e.what()).find("TestNoGradient"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("RegisterGradient"), std::string::npos) << e.what();
  }
}

TEST(Threads, EightTapesAtOnce) {
  const Variable w(3.0);
  const Tensor shared = constant(2.0);
  std::vector<float> results(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        GradientTape tape;
        tape.watch(shared);
        Tensor y = w * shared;
        for (int i = 0; i < 10; ++i) y = y + w * constant(float(t));
        const auto g = tape.gradient(y, std::vector<Variable>{w});
        results[t] = value(g[0]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (size_t t = 0; t < 8; ++t) EXPECT_FLOAT_EQ(results[t], 2.0f + 10.0f * float(t));
}

}  // namespace
}  // namespace rw
