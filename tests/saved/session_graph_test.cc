// What TensorFlow 1 wrote (interop/make_saved_models.py): SavedModels without objects, and frozen graphs.
#include <gtest/gtest.h>

#include <fstream>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

std::string file(const std::string& name) {
  const std::string path = test::golden_path("saved_model/" + name);
  return path.substr(0, path.size() - std::string(".bin").size());
}

TEST(SessionGraphs, SignaturesRunAndDifferentiate) {
  testing::internal::CaptureStderr();
  const auto m = saved_model::load(file("session"));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("Switch is of TensorFlow 1's loops and branches"), std::string::npos) << said;
  EXPECT_EQ(m.variable("layer/w").to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_TRUE(m.variable("layer/w").trainable());
  EXPECT_FALSE(m.variable("step").trainable());
  EXPECT_EQ(m.trainable_variables().size(), 1u);

  const auto serve = m.signatures().at("serving_default");
  EXPECT_EQ(serve.inputs().at("x").shape, Shape({-1, 2}));
  const Tensor x = constant({{1.0f, 1.0f}});
  GradientTape tape;
  const Tensor y = serve({{"x", x}, {"scale", constant(2.0f)}}).at("y");
  EXPECT_EQ(y.to_vector<float>(), (Floats{8, 12}));
  EXPECT_EQ(Tensor(tape.gradient(y, m.variable("layer/w"))).to_vector<float>(), Floats(4, 2));

  EXPECT_EQ(m.signatures().at("count")({{"x", x}}).at("step").item<int32_t>(), 8);
  EXPECT_EQ(m.variable("step").item<int32_t>(), 8);
  expect_error<UnimplementedError>([&] { m.signatures().at("loop")({{"x", x}}); },
                                   "TensorFlow 1's loops and branches");
}

TEST(SessionGraphs, AreSavedAsModelsOfTensorFlow2) {
  const test::TemporaryFolder folder;
  const auto m = saved_model::load(file("session"));
  m.variable("layer/w").assign(ones({2, 2}));
  saved_model::save(m, folder / "m",
                    {.signatures = {{"serving_default", m.signatures().at("serving_default")}}});
  const auto again = saved_model::load(folder / "m");
  EXPECT_EQ(again.signatures()
                .at("serving_default")({{"x", constant({{1.0f, 2.0f}})}, {"scale", constant(1.0f)}})
                .at("y")
                .to_vector<float>(),
            (Floats{3, 3}));
  EXPECT_TRUE(again.missing_ops().empty());
}

TEST(SessionGraphs, ReferenceVariablesAreNamed) {
  testing::internal::CaptureStderr();
  const auto m = saved_model::load(file("references"));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("VariableV2 is of TensorFlow 1's reference variables"), std::string::npos) << said;
  expect_error<UnimplementedError>(
      [&] { m.signatures().at("serving_default")({{"x", ones({1, 2})}, {"scale", constant(1.0f)}}); },
      "references] the function needs ops that this build does not have: VariableV2");
  EXPECT_EQ(m.signatures().at("count")({{"x", ones({1, 2})}}).at("step").item<int32_t>(), 8);
}

TEST(SessionGraphs, FrozenGraphsAreFunctions) {
  const Tensor x = constant({{1.0f, 1.0f}});
  const auto f = saved_model::load_graph(file("frozen.pb"));
  EXPECT_EQ((*f)({x})[0].to_vector<float>(), (Floats{40, 60}));
  const auto g =
      saved_model::load_graph(file("frozen.pb"), {.inputs = {"scale:0", "x"}, .outputs = {"MatMul", "y:0"}});
  const auto r = (*g)({constant(2.0f), x});
  EXPECT_EQ(r[0].to_vector<float>(), (Floats{4, 6}));
  EXPECT_EQ(r[1].to_vector<float>(), (Floats{8, 12}));
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(Tensor(tape.gradient(reduce_sum((*f)({x})[0]), x)).to_vector<float>(), (Floats{30, 70}));
  expect_error<NotFoundError>([&] { saved_model::load_graph(file("frozen.pb"), {.outputs = {"z"}}); },
                              "the graph has no node for 'z'");
  expect_error<InvalidArgumentError>(
      [&] { saved_model::load_graph(file("frozen.pb"), {.inputs = {"MatMul"}, .outputs = {"y"}}); },
      "'MatMul' is a node of op MatMul");
  expect_error<InvalidArgumentError>(
      [&] { saved_model::load_graph(file("frozen.pb"), {.inputs = {"scale"}, .outputs = {"y"}}); },
      "also need a value for the Placeholder 'x'");
}

TEST(SessionGraphs, GraphsOfThisLibraryComeBack) {
  const test::TemporaryFolder folder;
  const auto f = function([](const Tensor& x) { return tanh(x) + 1.0f; });
  std::ofstream(folder / "g.pbtxt") << f.get_concrete_function(TensorSpec{{-1}})->graph().as_graph_def();
  const auto g = saved_model::load_graph(folder / "g.pbtxt");
  EXPECT_EQ((*g)({zeros({2})})[0].to_vector<float>(), (Floats{1, 1}));
  std::ofstream(folder / "bad.pb") << "\x0a\xff";
  expect_error<DataLossError>([&] { saved_model::load_graph(folder / "bad.pb"); }, "bad.pb is no GraphDef");
}

}  // namespace
}  // namespace rw
