// Files that mean harm: ops that reach out of the process, paths that lead elsewhere, names that collide,
// cycles, numbers that ask for more than there is, nesting without end.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "rewind/format/bundle_writer.h"
#include "rewind/format/json.h"
#include "rewind/format/message.h"
#include "rewind/format/saved_model.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/format/zip.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace hostile {  // a namespace of its own: names of other files of this room
namespace {

using format::FunctionDef;
using format::MetaGraphDef;
using format::NodeDef;
using format::SavedObject;

struct Plain : Module {
  Variable w{constant({1.0f, 2.0f}), {.name = "w"}};
  Tensor forward(const Tensor& x) { return x * w; }
  Function<Tensor(const Tensor&)> call{this, &Plain::forward};
  RW_TRACK(w, call)
};

// A SavedModel of this library's whose file can be changed.
class Tampered : public testing::Test {
 protected:
  Tampered() {
    Plain m;
    const auto f = m.call.get_concrete_function(TensorSpec{{2}, float32, "x"});
    saved_model::save(m, dir(), {.signatures = {{"serving_default", f}}});
    model_ = format::decode<format::SavedModel>(test::read_bytes(dir() + "/saved_model.pb"));
  }
  std::string dir() const { return folder_ / "m"; }
  MetaGraphDef& graph() { return model_.meta_graphs.at(0); }
  std::vector<FunctionDef>& functions() { return graph().graph_def->library->function; }
  std::vector<SavedObject>& objects() { return graph().object_graph_def->nodes; }
  // The function that multiplies.
  FunctionDef& body() {
    for (FunctionDef& f : functions())
      for (const NodeDef& n : f.node_def)
        if (n.op == "Mul") return f;
    throw std::runtime_error("no function multiplies");
  }
  // Missing ops are named on stderr.
  saved_model::LoadedModel load(const saved_model::LoadOptions& options = {}) {
    test::write_bytes(dir() + "/saved_model.pb", format::encode(model_));
    testing::internal::CaptureStderr();
    struct Quiet {
      ~Quiet() { testing::internal::GetCapturedStderr(); }
    } const quiet;
    return saved_model::load(dir(), options);
  }
  template <class E>
  void refused(const std::string& part) {
    expect_error<E>([&] { load(); }, part);
    expect_error<E>([&] { load(); }, dir());
  }
  static Tensor run(const saved_model::LoadedModel& m) {
    return m.signatures().at("serving_default")({{"x", constant({1.0f, 1.0f})}}).begin()->second;
  }
  int add_object(SavedObject object, const std::string& name, int parent = 0) {
    objects().push_back(std::move(object));
    const auto node = int32_t(objects().size() - 1);
    objects()[size_t(parent)].children.push_back({node, name});
    return node;
  }

  test::TemporaryFolder folder_;
  format::SavedModel model_;
};

TEST_F(Tampered, IsWhatItWas) { EXPECT_EQ(run(load()).to_vector<float>(), (std::vector<float>{1, 2})); }

// ---- ops that reach out -----------------------------------------------------------------------------------

class ReachingOut : public Tampered, public testing::WithParamInterface<const char*> {};

TEST_P(ReachingOut, IsRefusedByName) {
  const std::string op = GetParam();
  body().node_def.push_back({.name = "evil", .op = op});
  const auto loaded = load();
  ASSERT_EQ(loaded.missing_ops().size(), 1u);
  EXPECT_EQ(loaded.missing_ops()[0].op, op);
  EXPECT_TRUE(loaded.missing_ops()[0].refused);
  for (const char* part : {op.c_str(), "may not use", "LoadOptions::allowed_ops"})
    expect_error<UnimplementedError>([&] { run(loaded); }, part);
  // The objects are there.
  EXPECT_EQ(loaded.variable("w").to_vector<float>(), (std::vector<float>{1, 2}));
  // Allowed, it is an op that this library does not have.
  const auto allowed = load({.allowed_ops = {op}});
  if (op == "EagerPyFunc") {  // but for this one
    EXPECT_TRUE(allowed.missing_ops().empty());
    return;
  }
  EXPECT_FALSE(allowed.missing_ops().at(0).refused);
  expect_error<UnimplementedError>([&] { run(allowed); }, "ops that this build does not have: " + op);
}

INSTANTIATE_TEST_SUITE_P(Ops, ReachingOut,
                         testing::Values("ReadFile", "WriteFile", "MatchingFiles", "SaveV2", "RestoreV2",
                                         "Save", "MergeV2Checkpoints", "TextLineDataset", "TFRecordDataset",
                                         "CacheDataset", "LoadAndRemapMatrix", "RecordInput", "DumpTensor",
                                         "RpcCall", "Send", "Recv", "CollectiveReduceV2",
                                         "DataServiceDatasetV4", "DebugIdentityV3", "PyFunc",
                                         "PyFuncStateless", "EagerPyFunc", "XlaCustomCallV2", "Abort"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Tampered, PrintingGoesToTheConsoleOnly) {
  NodeDef text{.name = "text", .op = "Const"};
  format::TensorProto value;
  value.dtype = format::DataType(int(DType::kString));
  value.tensor_shape = format::TensorShapeProto();
  value.string_val = {"x"};
  text.attr["dtype"].value = value.dtype;
  text.attr["value"].value = format::Box<format::TensorProto>(value);
  NodeDef print{.name = "print", .op = "PrintV2", .input = {"text:output:0"}};
  print.attr["output_stream"].value = "file://" + (folder_ / "leak");
  body().node_def.push_back(text);
  body().node_def.push_back(print);
  body().control_ret["print"] = "print";
  const auto loaded = load();
  EXPECT_TRUE(loaded.missing_ops().at(0).refused);
  expect_error<UnimplementedError>([&] { run(loaded); }, "PrintV2 to file://" + (folder_ / "leak"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "leak"));
  body().node_def.back().attr["output_stream"].value = std::string("stderr");
  const auto prints = load();
  testing::internal::CaptureStderr();
  run(prints);
  EXPECT_NE(testing::internal::GetCapturedStderr().find('x'), std::string::npos);
}

// In branches, in lists of functions, in functions that functions call, in gradients, and under the name of a
// function.
TEST_F(Tampered, ReachingOutIsFoundWhereverItHides) {
  FunctionDef evil;
  evil.signature = format::OpDef();
  evil.signature->name = "evil";
  evil.node_def.push_back({.name = "read", .op = "ReadFile"});
  FunctionDef between;
  between.signature = format::OpDef();
  between.signature->name = "between";
  between.node_def.push_back({.name = "call", .op = "evil"});
  functions().push_back(evil);
  functions().push_back(between);
  const FunctionDef before = body();
  const auto expect_refused = [&](const NodeDef& node) {
    body() = before;
    body().node_def.push_back(node);
    const auto loaded = load();
    EXPECT_EQ(loaded.missing_ops().at(0).op, "ReadFile") << node.op;
    EXPECT_TRUE(loaded.missing_ops().at(0).refused);
    expect_error<UnimplementedError>([&] { run(loaded); }, "may not use: ReadFile");
  };
  expect_refused({.name = "direct", .op = "evil"});
  expect_refused({.name = "through", .op = "between"});
  const auto named = [](const std::string& name) {
    format::NameAttrList f;
    f.name = name;
    return f;
  };
  NodeDef branch{.name = "branch", .op = "StatelessIf"};
  branch.attr["then_branch"].value = format::Box<format::NameAttrList>(named("between"));
  expect_refused(branch);
  NodeDef cases{.name = "cases", .op = "StatelessCase"};
  format::ListValue list;
  list.func = {named(body().signature->name), named("evil")};
  cases.attr["branches"].value = format::Box<format::ListValue>(list);
  expect_refused(cases);
  // A function that bears the name of such an op is one that nobody may call.
  functions().back().signature->name = "WriteFile";
  body() = before;
  body().node_def.push_back({.name = "w", .op = "WriteFile"});
  EXPECT_TRUE(load().missing_ops().at(0).refused);
}

// An op of the program's own by such a name: what a model asks for is the program's to allow.
TEST_F(Tampered, OpsOfTheProgramNeedToBeAllowed) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "g.pb";
  format::GraphDef graph;
  NodeDef name{.name = "name", .op = "Placeholder"};
  name.attr["dtype"].value = format::DataType(int(DType::kString));
  graph.node = {name, {.name = "read", .op = "ReadFile", .input = {"name"}}};
  test::write_bytes(path, format::encode(graph));
  expect_error<UnimplementedError>([&] { saved_model::load_graph(path); },
                                   "a loaded graph may not use ReadFile");
  expect_error<UnimplementedError>([&] { saved_model::load_graph(path, {.allowed_ops = {"ReadFile"}}); },
                                   "there is no op ReadFile");
}

// ---- paths ------------------------------------------------------------------------------------------------

TEST_F(Tampered, AssetsLieInTheirFolder) {
  add_object({.kind = format::SavedAsset{0}}, "asset");
  for (const char* name : {"../../secret", "/etc/passwd", "a/../../x", "..", "", "a/.."}) {
    graph().asset_file_def = {{.tensor_info = {}, .filename = name}};
    refused<InvalidArgumentError>("an asset must be a file below");
  }
  graph().asset_file_def = {{.tensor_info = {}, .filename = std::string("words.txt\0/../../x", 18)}};
  refused<InvalidArgumentError>("an asset must be a file below");
  graph().asset_file_def = {{.tensor_info = {}, .filename = "words.txt"}};
  (void)load();
  for (const int32_t index : {-1, 1, INT32_MAX}) {
    objects().back().kind = format::SavedAsset{index};
    refused<InvalidArgumentError>("asset " + std::to_string(index) + " of 1");
  }
}

// The list of checkpoints is a file of the folder: what it names elsewhere stays.
TEST(HostileList, TheManagerDeletesNothingOutsideOfItsFolder) {
  const test::TemporaryFolder folder;
  const Variable v(1.0f);
  const train::Checkpoint ckpt({{"v", v}});
  ckpt.write(folder / "mine");
  std::filesystem::create_directories(folder / "run/sub");
  ckpt.write(folder / "run/ckpt-1");
  std::string list = "model_checkpoint_path: \"ckpt-1\"\n";
  const std::vector<std::string> elsewhere = {"../mine", folder / "mine", "sub/../../mine"};
  for (const std::string& path : elsewhere)
    list += "all_model_checkpoint_paths: \"" + path + "\"\nall_model_checkpoint_timestamps: 2e9\n";
  list += "all_model_checkpoint_paths: \"ckpt-1\"\nall_model_checkpoint_timestamps: 2e9\n";
  test::write_bytes(folder / "run/checkpoint", list);
  train::CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 1});
  EXPECT_EQ(manager.checkpoints(), std::vector<std::string>{folder / "run/ckpt-1"});
  manager.save(7);
  EXPECT_EQ(manager.checkpoints(), std::vector<std::string>{folder / "run/ckpt-7"});
  EXPECT_FALSE(std::filesystem::exists(folder / "run/ckpt-1.index"));
  EXPECT_EQ(train::load_variable(folder / "mine", "v/.ATTRIBUTES/VARIABLE_VALUE").item<float>(), 1);
}

// ---- names ------------------------------------------------------------------------------------------------

TEST_F(Tampered, NamesThatCollide) {
  const FunctionDef copy = body();
  functions().push_back(copy);
  refused<InvalidArgumentError>("two functions are called");
  functions().pop_back();
  const NodeDef node = body().node_def.front();
  body().node_def.push_back(node);
  const auto twice = load();
  expect_error<InvalidArgumentError>([&] { run(twice); }, node.name);
  body().node_def.pop_back();
  // A node that is called as an argument.
  const std::string name = body().node_def.front().name;
  body().node_def.front().name = body().signature->input_arg.front().name;
  const auto argument = load();
  expect_error<InvalidArgumentError>([&] { run(argument); }, "a node and an argument are called");
  body().node_def.front().name = name;
  // Two children of one name: the first is meant, as it is in TensorFlow.
  objects()[0].children.push_back({0, "w"});
  EXPECT_EQ(load().variable("w").to_vector<float>(), (std::vector<float>{1, 2}));
}

// ---- cycles -----------------------------------------------------------------------------------------------

TEST_F(Tampered, CyclesOfObjectsAreWalkedOnce) {
  objects()[0].children.push_back({0, "self"});
  const int child =
      add_object({.kind = format::SavedUserObject{.identifier = "_generic_user_object"}}, "child");
  objects()[size_t(child)].children.push_back({0, "parent"});
  const auto loaded = load();
  EXPECT_EQ(loaded.variables().size(), 1u);
  EXPECT_EQ(loaded.child("child.parent.child.parent.self").variable("w").to_vector<float>().size(), 2u);
  for (const int32_t node : {-1, int32_t(objects().size()), INT32_MAX}) {
    objects()[0].children.back().node_id = node;
    refused<InvalidArgumentError>("is object " + std::to_string(node) + " of ");
  }
}

TEST_F(Tampered, FunctionsThatCallThemselvesAreRefused) {
  const std::string name = body().signature->name;
  NodeDef call{.name = "again", .op = "StatefulPartitionedCall", .input = {}};
  for (const auto& arg : body().signature->input_arg) call.input.push_back(arg.name);
  call.attr["f"].value = format::Box<format::NameAttrList>([&] {
    format::NameAttrList f;
    f.name = name;
    return f;
  }());
  format::ListValue in, out;
  for (const auto& arg : body().signature->input_arg) in.type.push_back(arg.type);
  for (const auto& arg : body().signature->output_arg) out.type.push_back(arg.type);
  call.attr["Tin"].value = format::Box<format::ListValue>(in);
  call.attr["Tout"].value = format::Box<format::ListValue>(out);
  body().node_def.push_back(call);
  const auto loaded = load();
  expect_error<UnimplementedError>([&] { run(loaded); }, "calls itself");
}

TEST_F(Tampered, NodesInACircleAreRefused) {
  NodeDef a{.name = "circle_a", .op = "Neg", .input = {"circle_b:y:0"}},
      b{.name = "circle_b", .op = "Neg", .input = {"circle_a:y:0"}};
  for (NodeDef* n : {&a, &b}) n->attr["T"].value = format::DataType(int(DType::kFloat32));
  body().node_def.push_back(a);
  body().node_def.push_back(b);
  const auto loaded = load();
  expect_error<InvalidArgumentError>([&] { run(loaded); }, "circle_");
}

// The function that makes a resource captures the resource.
TEST_F(Tampered, ResourcesThatMakeThemselvesAreRefused) {
  FunctionDef make;
  make.signature = format::OpDef();
  make.signature->name = "make";
  format::OpDef::ArgDef arg;
  arg.name = "r";
  arg.type = format::DataType(int(DType::kResource));
  make.signature->input_arg = {arg};
  arg.name = "out";
  make.signature->output_arg = {arg};
  make.ret["out"] = "r";
  functions().push_back(make);
  const int resource = add_object({.kind = format::SavedResource{}}, "resource");
  add_object({.kind = format::SavedFunction{.concrete_functions = {"make"}}}, "_create_resource", resource);
  add_object({.kind = format::SavedFunction{.concrete_functions = {"make"}}}, "user");
  graph().object_graph_def->concrete_functions["make"].bound_inputs = {resource};
  const auto loaded = load();
  expect_error<InvalidArgumentError>([&] { loaded.function("user").concrete_functions(); }, "capture it");
  // And one that nothing makes.
  objects()[size_t(resource) + 1].kind = format::SavedFunction{};
  const auto empty = load();
  expect_error<InvalidArgumentError>([&] { empty.function("user").concrete_functions(); },
                                     "must have one trace");
}

// ---- numbers ----------------------------------------------------------------------------------------------

NodeDef equal_elements(const std::string& name, int64_t count) {
  NodeDef node{.name = name, .op = "Const"};
  format::TensorProto value;
  value.dtype = format::DataType(int(DType::kFloat32));
  value.tensor_shape = format::TensorShapeProto();
  value.tensor_shape->dim = {{.size = count, .name = {}}};
  value.float_val = {1.0f};
  node.attr["dtype"].value = value.dtype;
  node.attr["value"].value = format::Box<format::TensorProto>(value);
  return node;
}

// A few bytes stand for any number of equal elements: all constants of a file have a limit together.
TEST_F(Tampered, ConstantsOfManyEqualElements) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "huge" + std::to_string(i);
    graph().graph_def->node.push_back(equal_elements(name, int64_t{1} << 22));
    add_object({.kind = format::SavedConstant{.operation = name}}, name);
  }
  refused<ResourceExhaustedError>("are left of the limit");
  graph().graph_def->node.back() = equal_elements("huge99", int64_t{1} << 60);
  refused<ResourceExhaustedError>("are left of the limit");
}

TEST_F(Tampered, ConstantsOfFunctionsHaveTheSameLimit) {
  for (int i = 0; i < 100; ++i)
    body().node_def.push_back(equal_elements("huge" + std::to_string(i), int64_t{1} << 22));
  const auto loaded = load();
  expect_error<ResourceExhaustedError>([&] { run(loaded); }, "are left of the limit");
}

// Many variables with one value would take its bytes many times.
TEST_F(Tampered, VariablesThatShareAValue) {
  int variable = -1;
  for (size_t i = 0; i < objects().size(); ++i)
    if (std::holds_alternative<format::SavedVariable>(objects()[i].kind)) variable = int(i);
  ASSERT_GE(variable, 0);
  for (int i = 0; i < 1000; ++i) {
    const SavedObject child{.kind = format::SavedUserObject{.identifier = "_generic_user_object"}};
    objects()[0].children.push_back({int32_t(objects().size()), "w"});  // the checkpoint has one of that name
    objects().push_back(objects()[size_t(variable)]);
  }
  refused<DataLossError>("several of them name the same value");
}

// Every function lacks an op of its own and calls the next: the lists of what each lacks grow with the
// square.
TEST_F(Tampered, ChainsOfFunctions) {
  for (int i = 0; i < 3000; ++i) {
    FunctionDef f;
    f.signature = format::OpDef();
    f.signature->name = "f" + std::to_string(i);
    f.node_def.push_back({.name = "op", .op = "Lacking" + std::to_string(i)});
    f.node_def.push_back({.name = "call", .op = "f" + std::to_string(i + 1)});
    functions().push_back(f);
    add_object({.kind = format::SavedFunction{.concrete_functions = {f.signature->name}}},
               "g" + std::to_string(i));
  }
  const auto begin = std::chrono::steady_clock::now();
  refused<ResourceExhaustedError>("functions lack more than 1000000 ops");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// A chain of objects: the paths of all would grow with the square of its length.
TEST_F(Tampered, ChainsOfObjects) {
  int at = 0;
  for (int i = 0; i < 30'000; ++i)
    at = add_object({.kind = format::SavedUserObject{.identifier = "_generic_user_object"}}, "abcdefgh", at);
  const auto begin = std::chrono::steady_clock::now();
  refused<ResourceExhaustedError>("the paths of its objects take more than");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(HostileCheckpoint, ChainsOfObjects) {
  const test::TemporaryFolder folder;
  format::TrackableObjectGraph graph;
  graph.nodes.resize(30'000);
  for (size_t i = 0; i + 1 < graph.nodes.size(); ++i)
    graph.nodes[i].children.push_back({int32_t(i + 1), "abcdefgh"});
  const Variable text(constant(format::encode(graph)));
  const std::string path = folder / "c";
  format::write_bundle(path,
                       {{.name = "_CHECKPOINTABLE_OBJECT_GRAPH",
                         .dtype = format::DataType(int(DType::kString)),
                         .shape = {},
                         .strings = {format::encode(graph)}}},
                       "test");
  const train::Checkpoint ckpt({{"text", text}});
  expect_error<ResourceExhaustedError>([&] { ckpt.read(path); },
                                       path + ".index: the names of its objects take");
}

// ---- nesting ----------------------------------------------------------------------------------------------

TEST_F(Tampered, ValuesInValues) {
  format::StructuredValue value = format::StructuredValue();
  std::string bytes;
  // list_value (51) of values (1) of ...: two lengths each, from the inside out.
  for (int i = 0; i < 20'000; ++i) {
    const auto wrap = [&](unsigned field) {
      std::string outer;
      for (uint64_t tag = uint64_t{field} << 3 | 2; true; tag >>= 7) {
        outer.push_back(char(tag >= 0x80 ? tag | 0x80 : tag));
        if (tag < 0x80) break;
      }
      for (uint64_t size = bytes.size(); true; size >>= 7) {
        outer.push_back(char(size >= 0x80 ? size | 0x80 : size));
        if (size < 0x80) break;
      }
      bytes = outer + bytes;
    };
    wrap(1);
    wrap(51);
    if (bytes.size() > 100'000) break;
  }
  expect_error<DataLossError>([&] { format::decode<format::StructuredValue>(bytes); },
                              "nested deeper than 100");
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "list_value { values { ";
  expect_error<InvalidArgumentError>([&] { format::from_text<format::StructuredValue>(text); },
                                     "deeper than 100");
}

TEST(HostileConfig, ListsInLists) {
  const test::TemporaryFolder folder;
  auto model = keras::Sequential({keras::Input({1}), keras::Dense(1)});
  std::filesystem::create_directories(folder / "m");
  model.save_weights(folder / "m/model.weights.h5");
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += open;
    test::write_bytes(folder / "m/config.json", text);
    expect_error<DataLossError>([&] { keras::models::load_model(folder / "m"); },
                                (folder / "m") + "/config.json: byte ");
  }
}

// A model that calls a model twice, which calls a model twice, and so on: the text grows by a kilobyte a
// level, the calls double.
TEST(HostileConfig, ModelsThatDouble) {
  const test::TemporaryFolder folder;
  const auto in = keras::Input({2});
  keras::Model model({in}, {keras::Dense(2)(in)});
  for (int i = 0; i < 10; ++i) {
    const auto x = keras::Input({2});
    model = keras::Model({x}, {model(model(x))});
  }
  keras::models::save_model(model, folder / "m.keras");
  (void)keras::models::load_model(folder / "m.keras");
  // Deeper ones take too long to be made here: the config is put into itself.
  const format::ZipFile zip(folder / "m.keras", "test");
  format::Json config = format::parse_json(zip.read(zip.at("config.json")), "test");
  const auto inner_layer = [](format::Json& c) -> format::Json& {
    for (format::Json& layer : *c["config"]["layers"].list())
      if (*layer["class_name"].text() == "Functional") return layer;
    throw std::runtime_error("no model inside");
  };
  for (int i = 0; i < 12; ++i) {
    format::Json copy = config;
    format::Json& inside = inner_layer(copy);
    const format::Json name = inside["name"], nodes = inside["inbound_nodes"];
    inside["config"] = config["config"];
    inside["config"]["name"] = *name.text();
    config = copy;
  }
  std::filesystem::create_directories(folder / "d");
  test::write_bytes(folder / "d/config.json", format::to_text(config));
  model.save_weights(folder / "d/model.weights.h5");
  const auto begin = std::chrono::steady_clock::now();
  expect_error<InvalidArgumentError>([&] { keras::models::load_model(folder / "d"); },
                                     "takes more than 100000 calls of its layers");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace hostile
}  // namespace rw
