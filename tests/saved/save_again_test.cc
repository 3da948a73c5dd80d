// Loaded models are saved again: structure, signatures, results, gradients, with what was learned since.
#include <gtest/gtest.h>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/unknown_op.h"

namespace rw {
namespace {

using Floats = std::vector<float>;
using saved_model::Value;
using test::TemporaryFolder;

struct Flow : Module {
  Variable w{2.0f, {.name = "w"}};
  Tensor table = reshape(range(0.0f, 128.0f), {64, 2});
  std::map<std::string, Tensor> forward(const Tensor& x, const Tensor& n, bool twice) {
    const auto own = custom_gradient([this](const Tensor& v) {
      const Tensor e = exp(v * 0.1f);
      return with_gradients({e * w},
                            [=](const std::vector<Tensor>& dy) {
                              return std::vector<Gradient>{dy[0] * e * 5.0f, reduce_sum(dy[0]) * 3.0f};
                            },
                            {w});
    });
    const Tensor y = cond(reduce_sum(x) > 0.0f, [&] { return Tensor(own(x)); }, [&] { return x - w; });
    const Tensor z = std::get<1>(while_loop(
        [&](const Tensor& i, const Tensor&) { return i < n; },
        [&](const Tensor& i, const Tensor& v) { return std::tuple(i + 1, v * w + gather(table, 63)); },
        std::tuple(constant(0), y)));
    return {{"z", twice ? z * 2.0f : z}, {"a", x}};
  }
  Function<std::map<std::string, Tensor>(const Tensor&, const Tensor&, bool)> call{
      this, &Flow::forward, {.argument_names = {"x", "n", "twice"}}};
  RW_TRACK(w, call)
};

Floats results(const saved_model::LoadedModel& m, const Tensor& x) {
  const Variable w = m.variable("w");
  Floats all;
  for (const bool twice : {false, true}) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor z = m.call({x, constant(3)}, {{"twice", twice}})[1];
    const auto grads = tape.gradient(z, {x, w});
    for (const Tensor& t : {z, Tensor(grads[0]), Tensor(grads[1])})
      for (const float v : t.to_vector<float>()) all.push_back(v);
  }
  const auto out = m.signatures().at("serving_default")({{"x", x}, {"n", constant(1)}});
  for (const float v : out.at("z").to_vector<float>()) all.push_back(v);
  return all;
}

TEST(SaveAgain, ThreeTimesOver) {
  const TemporaryFolder folder;
  Flow m;
  const auto f =
      m.call.get_concrete_function(TensorSpec{{-1}, float32, "x"}, TensorSpec{{}, int32, "n"}, false);
  (void)m.call.get_concrete_function(TensorSpec{{-1}}, TensorSpec{{}, int32}, true);
  saved_model::save(m, folder / "0", {.signatures = {{"serving_default", f}}});
  const auto first = saved_model::load(folder / "0");
  for (const Tensor& x : {constant({0.5f, 0.25f}), constant({-0.5f, 0.25f})}) {
    const Floats wanted = results(first, x);
    for (int i = 0; i < 3; ++i) {
      const auto loaded = saved_model::load(folder / std::to_string(i));
      saved_model::save(loaded, folder / std::to_string(i + 1));
      const auto again = saved_model::load(folder / std::to_string(i + 1));
      EXPECT_EQ(again.function_names(), first.function_names());
      EXPECT_EQ(again.function("__call__").parameters(), first.function("__call__").parameters());
      EXPECT_EQ(again.function("__call__").traces(), first.function("__call__").traces());
      const Floats got = results(again, x);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t k = 0; k < got.size(); ++k) EXPECT_FLOAT_EQ(got[k], wanted[k]) << i << " " << k;
    }
  }
}

TEST(SaveAgain, WhatWasLearnedIsSaved) {
  const TemporaryFolder folder;
  keras::Sequential model({keras::InputLayer({-1, 3}, {.name = "features"}),
                           keras::layers::Dense(4, {.activation = "tanh"}), keras::layers::Dense(1)});
  const Tensor x = reshape(range(0.0f, 12.0f) * 0.1f, {4, 3}), y = reshape(range(0.0f, 4.0f), {4, 1});
  (void)model(x);
  saved_model::save(model, folder / "m");
  const auto loaded = saved_model::load(folder / "m");
  keras::SGD optimizer({.learning_rate = 0.05});
  const auto step = [&] {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(loaded(x) - y));
    const auto w = loaded.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, w), w);
    return loss.item<float>();
  };
  const float before = step();
  for (int i = 0; i < 20; ++i) step();
  saved_model::save(loaded, folder / "m");  // in its own place
  const auto tuned = saved_model::load(folder / "m");
  EXPECT_EQ(Tensor(tuned(x)).to_vector<float>(), Tensor(loaded(x)).to_vector<float>());
  EXPECT_EQ(tuned.signatures().at("serving_default")({{"features", x}}).at("output_0").to_vector<float>(),
            Tensor(loaded(x)).to_vector<float>());
  EXPECT_LT(reduce_mean(square(tuned(x) - y)).item<float>(), 0.5f * before);
  EXPECT_EQ(tuned.trainable_variables().size(), 4u);
}

TEST(SaveAgain, AsAPartOfAModule) {
  const TemporaryFolder folder;
  Flow inner;
  (void)inner.call.get_concrete_function(TensorSpec{{-1}}, TensorSpec{{}, int32}, false);
  saved_model::save(inner, folder / "inner");
  struct Whole : Module {
    saved_model::LoadedModel base;
    Variable head{3.0f, {.name = "head"}};
    Function<Tensor(const Tensor&)> call{
        this, [](Whole& w, const Tensor& x) { return w.base.call({x, constant(2), false})[1] * w.head; }};
    explicit Whole(const std::string& dir) : base(saved_model::load(dir)) {}
    RW_TRACK(base, head, call)
  } whole(folder / "inner");
  const Tensor x = constant({0.5f, 1.0f});
  const Tensor y = whole.call(x);
  saved_model::save(whole, folder / "whole");
  const auto loaded = saved_model::load(folder / "whole");
  EXPECT_EQ(Tensor(loaded(x)).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(loaded.variables().size(), 2u);
  const Tensor part = loaded.child("base").call({x, constant(2), false})[1];
  EXPECT_EQ((part * 3.0f).to_vector<float>(), y.to_vector<float>());
}

TEST(SaveAgain, WhatDoesNotRunHereIsNamed) {
  const TemporaryFolder folder;
  testing::internal::CaptureStderr();
  const auto loaded = saved_model::load(test::with_unknown_op(folder / "kinds"));
  testing::internal::GetCapturedStderr();
  expect_error<UnimplementedError>([&] { saved_model::save(loaded, folder / "m"); }, "LookupTableFindV9");
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

}  // namespace
}  // namespace rw
