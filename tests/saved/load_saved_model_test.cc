// SavedModels that TensorFlow wrote (interop/make_saved_models.py): objects, calls by structured arguments,
// signatures, gradients.
#include <gtest/gtest.h>

#include <filesystem>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/unknown_op.h"

namespace rw {
namespace {

using saved_model::LoadedModel;
using saved_model::Value;
using test::TemporaryFolder;

std::string model_path(const std::string& name) {
  const std::string path = test::golden_path("saved_model/" + name);
  return path.substr(0, path.size() - std::string(".bin").size());
}

LoadedModel kinds() { return saved_model::load(model_path("kinds")); }

using Floats = std::vector<float>;
const Floats kCalled = {10.5, 199.5, 30.5, 399.5};  // [[1, 0], [0, 1]] through __call__

TEST(LoadSavedModel, ObjectsByPath) {
  const LoadedModel m = kinds();
  EXPECT_EQ(m.variable("w").to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(m.variable("w").name(), "w:0");
  EXPECT_TRUE(m.variable("w").trainable());
  EXPECT_FALSE(m.variable("frozen").trainable());
  EXPECT_EQ(m.variable("steps").item<int64_t>(), 7);
  EXPECT_EQ(m.variable("parts.1").item<float>(), 2.5f);
  EXPECT_EQ(m.child("parts").variable("0").item<float>(), 1.5f);
  EXPECT_EQ(m.child("by_name").variable("right").to_vector<float>(), Floats{2});
  EXPECT_EQ(m.variables().size(), 7u);
  EXPECT_EQ(m.trainable_variables().size(), 5u);
  EXPECT_EQ(m.non_trainable_variables().size(), 2u);
  EXPECT_TRUE(same_variable(m.variable("w"), m.variables()[0]));
  expect_error<NotFoundError>([&] { m.variable("v"); }, "variables: w, frozen, steps, parts/0");
  expect_error<NotFoundError>([&] { m.child("w"); }, "there is no child 'w'");
  expect_error<NotFoundError>([&] { m.function("f"); }, "functions: __call__, bare, choose, look_up");
}

TEST(LoadSavedModel, CallsAndSignatures) {
  const LoadedModel m = kinds();
  const Tensor x = constant({{1.0, 0.0}, {0.0, 1.0}});
  const Tensor y = m(x);
  EXPECT_EQ(y.to_vector<float>(), kCalled);
  const auto out = m.signatures().at("serving_default")({{"x", x}});
  EXPECT_EQ(out.at("output_0").to_vector<float>(), kCalled);
  EXPECT_EQ(m.signatures().at("serving_default").inputs().at("x").shape, Shape({-1, 2}));
  m.variable("w").assign(constant({{0.0, 0.0}, {0.0, 0.0}}));
  EXPECT_EQ(m(x).to_vector<float>(), (Floats{0.5, -0.5, 0.5, -0.5}));
  const auto serve = m.signatures().at("serving_default");
  expect_error<InvalidArgumentError>([&] { serve({{"z", x}}); }, "there is no input 'z'; inputs: x");
  expect_error<InvalidArgumentError>([&] { serve({}); }, "input 'x' is missing");
  expect_error<InvalidArgumentError>([&] { serve({{"x", constant({1.0, 2.0})}}); },
                                     "input 'x' must be TensorSpec(shape=(None, 2), dtype=float32): got "
                                     "TensorSpec(shape=(2,), dtype=float32)");
}

TEST(LoadSavedModel, TracesAreChosenByAllArguments) {
  const auto choose = kinds().function("choose");
  EXPECT_EQ(choose.parameters(), "(x, training=False, *, factor=2, names=('a', 'b'))");
  const Tensor x = constant({1.0, 2.0, 3.0});
  EXPECT_EQ(choose.call({x})[2].to_vector<float>(), (Floats{2.5, 3.5, 4.5}));
  EXPECT_EQ(choose.call({x, true})[2].to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(choose.call({x}, {{"training", true}})[2].to_vector<float>(), (Floats{2, 4, 6}));
  // 1 is True to Python; lists of C++ stand for tuples.
  EXPECT_EQ(
      choose.call({x, 1}, {{"factor", 2}, {"names", std::vector<Value>{"a", "b"}}})[2].to_vector<float>(),
      (Floats{2, 4, 6}));
  // Another size: the general trace of this function.
  EXPECT_EQ(choose.call({constant({1.0, 2.0})}, {{"training", true}})[2].to_vector<float>(), (Floats{2, 4}));
  // A tensor for `factor` has a trace for matrices; a number becomes one.
  const Tensor square = constant({{1.0, 2.0}, {3.0, 4.0}});
  const std::vector<Value> names{"c"};
  for (const Value& factor : {Value(constant(3.0)), Value(3.0), Value(3)}) {
    const auto r = choose.call({square}, {{"training", true}, {"factor", factor}, {"names", names}});
    EXPECT_EQ(r.back().to_vector<float>(), (Floats{3, 6, 9, 12}));
  }
  const Value r = choose.call_structured({x, true});
  EXPECT_EQ(r.at("y").tensor().to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(r.at("pair")[1][0].tensor().to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_EQ(r.at("names")[1].tensor().item<std::string>(), "b");

  expect_error<InvalidArgumentError>([&] { choose.call({constant({1, 2})}); },
                                     "no trace takes these arguments: got (Tensor(shape=(2,), dtype=int32), "
                                     "False, factor=2, names=('a', 'b')); the traces are\n  1. (TensorSpec(");
  expect_error<InvalidArgumentError>([&] { choose.call({}); }, "argument x is missing");
  expect_error<InvalidArgumentError>([&] { choose.call({x, true, 3.0}); },
                                     "takes 2 positional arguments: got 3");
  expect_error<InvalidArgumentError>([&] { choose.call({x}, {{"x", x}}); }, "given twice");
  expect_error<InvalidArgumentError>([&] { choose.call({x}, {{"rate", 1}}); }, "there is no argument rate");
  expect_error<InvalidArgumentError>([&] { choose(x); }, "must give one tensor");
}

TEST(LoadSavedModel, GradientsOfAnyOrder) {
  const LoadedModel m = kinds();
  const Tensor x = constant({{1.0, 2.0}});
  const Variable w = m.variable("w");
  GradientTape outer({.persistent = true});
  outer.watch(x);
  Tensor g;
  {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = m(x);
    g = tape.gradient(reduce_sum(y * y), w);
  }
  // y = (x w) s + f; d(sum y²)/dw = xᵀ 2 y s
  const Tensor y = m(x);
  EXPECT_EQ(y.to_vector<float>(), (Floats{70.5, 999.5}));
  EXPECT_EQ(g.to_vector<float>(), (Floats{1410, 199900, 2820, 399800}));
  EXPECT_EQ(Tensor(outer.gradient(reduce_sum(g), w)).to_vector<float>(), (Floats{600, 60000, 1200, 120000}));
}

TEST(LoadSavedModel, WorksInsideFunctions) {
  const LoadedModel m = kinds();
  const auto f = function(
      [&](const Tensor& x) {
        GradientTape tape;
        const Tensor loss = reduce_sum(m(x));
        const Tensor g = tape.gradient(loss, m.variable("w"));
        m.variable("w").assign_sub(g);
        return loss;
      },
      {.memory_budget = 1 << 20});
  EXPECT_EQ(f(constant({{1.0, 0.0}})).item<float>(), 210);
  EXPECT_EQ(m.variable("w").to_vector<float>(), (Floats{-9, -98, 3, 4}));
}

TEST(LoadSavedModel, TablesAreFilledFromTheModelsFiles) {
  testing::internal::CaptureStderr();
  const LoadedModel m = kinds();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(m.missing_ops().empty());
  const Tensor words = constant({"b", "?", "a", "c"});
  EXPECT_EQ(Tensor(m.function("look_up")(words)).to_vector<int64_t>(), (std::vector<int64_t>{1, -1, 0, 2}));
  const auto by_name = m.signatures().at("words")({{"words", words}});
  EXPECT_EQ(by_name.begin()->second.to_vector<int64_t>(), (std::vector<int64_t>{1, -1, 0, 2}));
}

// An asset that is a link to somewhere else is not read.
TEST(LoadSavedModel, AssetsDoNotLeadOutOfTheFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path copy = folder / "kinds";
  std::filesystem::copy(model_path("kinds"), copy, std::filesystem::copy_options::recursive);
  std::filesystem::rename(copy / "assets" / "words.txt", folder / "words.txt");
  std::filesystem::create_symlink(folder / "words.txt", copy / "assets" / "words.txt");
  expect_error<InvalidArgumentError>([&] { saved_model::load(copy.string()); }, "is a link to");
}

TEST(LoadSavedModel, MissingOpsAreNamed) {
  const TemporaryFolder folder;
  testing::internal::CaptureStderr();
  const LoadedModel m = saved_model::load(test::with_unknown_op(folder / "m"));
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(m.missing_ops().empty());
  bool found = false;
  for (const auto& missing : m.missing_ops()) {
    if (missing.op != "LookupTableFindV9") continue;
    found = true;
    EXPECT_EQ(missing.functions, (std::vector<std::string>{"look_up", "signature words"}));
  }
  EXPECT_TRUE(found);
  EXPECT_NE(said.find("there is no op LookupTableFindV9; these functions need it and will not run: look_up, "
                      "signature words"),
            std::string::npos)
      << said;
  expect_error<UnimplementedError>([&] { m.signatures().at("words")({{"words", constant({"a"})}}); },
                                   "the function needs ops that this build does not have");
}

struct Lists : Module {
  Tensor sum_of(const std::vector<Tensor>& list) {
    Tensor sum = list[0];
    for (size_t i = 1; i < list.size(); ++i) sum = sum - list[i];
    return sum;
  }
  Tensor pair_of(const std::map<std::string, std::vector<std::pair<Tensor, Tensor>>>& named) {
    const auto& [a, b] = named.at("k")[1];
    return a - 2.0f * b + named.at("k")[0].second;
  }
  Function<Tensor(const std::vector<Tensor>&)> call{this, &Lists::sum_of};
  Function<Tensor(const std::map<std::string, std::vector<std::pair<Tensor, Tensor>>>&)> pairs{
      this, &Lists::pair_of};
  RW_TRACK(call, pairs)
};

TEST(LoadSavedModel, ListsOfTensorsAreOneArgument) {
  const test::TemporaryFolder folder;
  Lists m;
  const Tensor x = constant({5.0f, 7.0f}), y = constant({1.0f, 2.0f});
  (void)m.call({x, y});
  (void)m.pairs({{"k", {{x, y}, {x, y}}}});
  saved_model::save(m, folder / "m");
  const auto loaded = saved_model::load(folder / "m");
  EXPECT_EQ(loaded({x, y}).to_vector<float>(), (Floats{4, 5}));
  EXPECT_EQ(loaded.function("__call__")({x, y}).to_vector<float>(), (Floats{4, 5}));
  EXPECT_EQ(loaded(std::vector<Tensor>{x, y}).to_vector<float>(), (Floats{4, 5}));
  EXPECT_EQ(loaded.call({std::vector<Tensor>{x, y}})[0].to_vector<float>(), (Floats{4, 5}));
  expect_error<InvalidArgumentError>([&] { loaded.call({x, y}); }, "a list of tensors is one argument");
  expect_error<InvalidArgumentError>([&] { loaded({x, y, x}); }, "no trace takes these arguments");
  // Deeper, with tuples as lists.
  const saved_model::Dict named{{"k", std::vector<std::vector<Tensor>>{{x, y}, {x, y}}}};
  EXPECT_EQ(loaded.function("pairs")(named).to_vector<float>(), (Floats{4, 5}));
  // A signature of one input.
  const auto serve = kinds().signatures().at("serving_default");
  EXPECT_EQ(serve(constant({{1.0, 0.0}, {0.0, 1.0}})).at("output_0").to_vector<float>(), kCalled);
  testing::internal::CaptureStderr();
  const auto session = saved_model::load(model_path("session"));
  testing::internal::GetCapturedStderr();
  expect_error<InvalidArgumentError>([&] { session.signatures().at("serving_default")(x); },
                                     "inputs: scale, x");
}

}  // namespace
}  // namespace rw
