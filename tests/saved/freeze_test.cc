// Frozen graphs: values of variables in the place of the variables, also in branches, loops and calls.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

struct Everything : Module {
  Variable w{constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), {.name = "w"}};
  Variable table{constant({{10.0f, 11.0f}, {20.0f, 21.0f}, {30.0f, 31.0f}}), {.name = "table"}};
  Variable count{0, {.trainable = false, .name = "count"}};
  Tensor captured = range(0.0f, 100.0f);

  Tensor inner(const Tensor& x) { return matmul(x, w) + captured[7]; }
  std::map<std::string, Tensor> flow(const Tensor& x, const Tensor& ids) {
    const Tensor rows = table.sparse_read(ids);
    Tensor y = cond(
        reduce_sum(x) > 0.0f, [&] { return called(x) + table.sparse_read(0); },
        [&] { return x - reduce_sum(w); });
    y = std::get<1>(
        while_loop([&](const Tensor& i, const Tensor&) { return i < 3; },
                   [&](const Tensor& i, const Tensor& v) {
                     return std::tuple(
                         i + 1, cond(i > 0, [&] { return matmul(v, w) * 0.1f; }, [&] { return v + 1.0f; }));
                   },
                   std::tuple(constant(0), y)));
    return {{"y", y}, {"rows", rows}, {"shape", rw::shape(x)}};
  }
  Tensor counting(const Tensor& x) {
    count.assign_add(1);
    return x;
  }
  Function<Tensor(const Tensor&)> called{this, &Everything::inner};
  Function<std::map<std::string, Tensor>(const Tensor&, const Tensor&)> call{
      this,
      &Everything::flow,
      {.input_signature = {{{{-1, 2}, float32, "x"}, {{-1}, int32, "ids"}}}, .argument_names = {"x", "ids"}}};
  Function<Tensor(const Tensor&)> counts{this, &Everything::counting, {.input_signature = {{{{-1}}}}}};
  RW_TRACK(w, table, count, called, call, counts)
};

ConcreteFunction trace_of(const Everything& m) {
  return m.call.get_concrete_function(TensorSpec{{-1, 2}, float32, "x"}, TensorSpec{{-1}, int32, "ids"});
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Freeze, ValuesStandWhereVariablesStood) {
  const test::TemporaryFolder folder;
  Everything m;
  const Tensor x = constant({{1.0f, 2.0f}, {0.5f, -1.0f}}), minus = -x, ids = constant({2, 0});
  const ConcreteFunction f = trace_of(m);
  const ConcreteFunction frozen = saved_model::freeze(f);
  EXPECT_TRUE(frozen.variables().empty());
  EXPECT_TRUE(frozen.captured_inputs().empty());
  const auto path = folder / "m.pbtxt";
  const saved_model::GraphTensors names = saved_model::save_graph(f, path);
  EXPECT_EQ(names.inputs.at("x"), "x:0");
  const std::string text = text_of(path);
  EXPECT_EQ(text.find("VarHandleOp"), std::string::npos);
  EXPECT_EQ(text.find("ReadVariableOp"), std::string::npos);
  EXPECT_EQ(text.find("DT_RESOURCE"), std::string::npos);
  const auto loaded = saved_model::load_graph(path);
  for (const Tensor& value : {x, minus}) {
    const std::vector<Tensor> want = f({value, ids});
    for (const auto& got : {frozen({value, ids}), (*loaded)({value, ids})}) {
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(cast(got[i], float32).to_vector<float>(), cast(want[i], float32).to_vector<float>());
    }
  }
  // Constants stay when variables change.
  const Floats before = cast(frozen({x, ids})[1], float32).to_vector<float>();
  m.table.assign(zeros({3, 2}));
  EXPECT_EQ(cast(frozen({x, ids})[1], float32).to_vector<float>(), before);
}

TEST(Freeze, OfFilesBySignature) {
  const test::TemporaryFolder folder;
  Everything m;
  saved_model::save(m, folder / "m", {.signatures = {{"serving_default", trace_of(m)}}});
  const auto loaded = saved_model::load(folder / "m");
  const auto& serve = loaded.signatures().at("serving_default");
  const auto names = saved_model::save_graph(serve, folder / "m.pb");
  EXPECT_EQ(names.inputs, (std::map<std::string, std::string>{{"ids", "ids:0"}, {"x", "x:0"}}));
  EXPECT_EQ(names.outputs.at("rows"), "rows:0");
  const auto graph =
      saved_model::load_graph(folder / "m.pb", {.inputs = {"x", "ids"}, .outputs = {"y", "rows"}});
  const Tensor x = constant({{1.0f, 2.0f}}), ids = constant({1});
  const auto want = serve({{"x", x}, {"ids", ids}});
  const auto got = (*graph)({x, ids});
  EXPECT_EQ(got[0].to_vector<float>(), want.at("y").to_vector<float>());
  EXPECT_EQ(got[1].to_vector<float>(), (Floats{20, 21}));
}

TEST(Freeze, WhatChangesVariablesIsNamed) {
  const test::TemporaryFolder folder;
  Everything m;
  expect_error<UnimplementedError>(
      [&] { saved_model::freeze(m.counts.get_concrete_function(TensorSpec{{-1}})); },
      "AssignAddVariableOp uses variable 'count'");
  expect_error<UnimplementedError>(
      [&] {
        saved_model::save_graph(m.counts.get_concrete_function(TensorSpec{{-1}}), folder / "counts.pb");
      },
      "count");
  EXPECT_FALSE(std::filesystem::exists(folder / "counts.pb"));
}

TEST(LoadedErrors, NameTheModelAndTheFunction) {
  const test::TemporaryFolder folder;
  Everything m;
  saved_model::save(m, folder / "m", {.signatures = {{"serving_default", trace_of(m)}}});
  const auto loaded = saved_model::load(folder / "m");
  const std::string path = folder / "m";
  const Tensor flat = constant({1.0f, 2.0f}), x = constant({{1.0f, 2.0f}});
  expect_error<InvalidArgumentError>([&] { loaded.call({flat, constant({1})}); },
                                     "[function __call__ of " + path + "] no trace takes");
  expect_error<InvalidArgumentError>([&] { loaded.signatures().at("serving_default")({{"x", x}}); },
                                     "[signature serving_default of " + path + "] input 'ids' is missing");
  const auto f = loaded.function("__call__").concrete_functions()[0];
  expect_error<InvalidArgumentError>([&] { (*f)({flat, constant({1})}); },
                                     "[function __call__ of " + path + "] argument 0 must be");
  expect_error<InvalidArgumentError>([&] { (*f)({x}); },
                                     "[function __call__ of " + path + "] takes 2 tensors");
  // What an op inside refuses.
  expect_error<InvalidArgumentError>([&] { (*f)({x, constant({5})}); }, "in function __call__ of " + path);
  expect_error<NotFoundError>([&] { loaded.function("other"); }, "LoadedModel of " + path);
  saved_model::save_graph(trace_of(m), folder / "g.pb");
  const std::string graph = folder / "g.pb";
  const auto g = saved_model::load_graph(graph);
  expect_error<InvalidArgumentError>([&] { (*g)({flat, constant({1})}); }, "the graph of " + graph);
  expect_error<NotFoundError>([&] { saved_model::load_graph(graph, {.outputs = {"z"}}); }, graph);
}

}  // namespace
}  // namespace rw
