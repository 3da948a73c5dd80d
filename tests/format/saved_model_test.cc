// The messages of SavedModels: bytes that TensorFlow wrote (interop/make_saved_models.py) come back as they
// were, bit for bit, by bytes and by text; damage.
#include "rewind/format/saved_model.h"

#include <gtest/gtest.h>

#include <random>

#include "rewind/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/goldens.h"

namespace rw::format {
namespace {

std::string saved_golden(const std::string& name) { return test::golden_bytes("saved_model/" + name); }

template <class M>
void expect_round_trip(const std::string& bytes) {
  const M message = decode<M>(bytes);
  EXPECT_TRUE(encode(message) == bytes);
  EXPECT_TRUE(encode(from_text<M>(to_text(message))) == bytes) << to_text(message);
}

TEST(SavedModelFormat, TensorFlowsBytesComeBack) {
  expect_round_trip<SavedObjectGraph>(saved_golden("object_graph.pb"));
  expect_round_trip<FingerprintDef>(saved_golden("kinds/fingerprint.pb"));
  expect_round_trip<StructuredValue>(saved_golden("structured_value.pb"));
  expect_round_trip<MetaGraphDef>(saved_golden("meta_graph.pb"));
}

// Python's protobuf orders maps by numbers (arg_attr) in a way of its own.
TEST(SavedModelFormat, AWholeModelComesBack) {
  const std::string bytes = saved_golden("kinds/saved_model.pb");
  const auto model = decode<SavedModel>(bytes);
  const std::string again = encode(model);
  EXPECT_EQ(again.size(), bytes.size());
  EXPECT_TRUE(encode(decode<SavedModel>(again)) == again);
  EXPECT_TRUE(encode(from_text<SavedModel>(to_text(model))) == again);
  EXPECT_TRUE(encode(*model.meta_graphs.at(0).object_graph_def) == saved_golden("object_graph.pb"));
}

TEST(SavedModelFormat, ObjectsAreOfEveryKind) {
  const auto model = decode<SavedModel>(saved_golden("kinds/saved_model.pb"));
  EXPECT_EQ(model.saved_model_schema_version, 1);
  ASSERT_EQ(model.meta_graphs.size(), 1u);
  const MetaGraphDef& graph = model.meta_graphs[0];
  EXPECT_EQ(graph.meta_info_def->tags, std::vector<std::string>{"serve"});
  EXPECT_EQ(graph.asset_file_def.at(0).filename, "words.txt");
  EXPECT_EQ(std::get<std::string>(graph.signature_def.at("serving_default").inputs.at("x").encoding),
            "serving_default_x:0");
  std::map<size_t, int> kinds;
  for (const SavedObject& node : graph.object_graph_def->nodes) ++kinds[node.kind.index()];
  EXPECT_EQ(kinds[0], 0);  // no node is without a kind
  for (size_t kind = 1; kind <= 7; ++kind) EXPECT_GT(kinds[kind], 0) << kind;
  const SavedObject& root = graph.object_graph_def->nodes[0];
  EXPECT_EQ(std::get<SavedUserObject>(root.kind).identifier, "_generic_user_object");
  for (const auto& child : root.children) {
    const auto& node = graph.object_graph_def->nodes.at(size_t(child.node_id));
    if (child.local_name == "w") {
      const auto& w = std::get<SavedVariable>(node.kind);
      EXPECT_EQ(w.name, "w");
      EXPECT_TRUE(w.trainable);
      EXPECT_EQ(w.shape->dim.at(1).size, 2);
    } else if (child.local_name == "__call__") {
      const auto& f = std::get<SavedFunction>(node.kind);
      EXPECT_EQ(f.concrete_functions.size(), 1u);
      EXPECT_TRUE(f.function_spec && f.function_spec->fullargspec);
      EXPECT_EQ(graph.object_graph_def->concrete_functions.at(f.concrete_functions[0]).bound_inputs.size(),
                3u);
    }
  }
}

TEST(SavedModelFormat, StructuredValues) {
  const auto value = decode<StructuredValue>(saved_golden("structured_value.pb"));
  const auto& dict = std::get<Box<StructuredDict>>(value.kind)->fields;
  EXPECT_EQ(std::get<SInt64>(dict.at("int").kind).value, -5);
  EXPECT_EQ(std::get<SInt64>(dict.at("large").kind).value, int64_t(1) << 40);
  EXPECT_EQ(std::get<double>(dict.at("float").kind), 0.1);
  EXPECT_EQ(std::get<Box<StructuredNamedTuple>>(dict.at("named").kind)->values.at(0).key, "a");
  EXPECT_EQ(std::get<Box<TypeSpecProto>>(dict.at("ragged").kind)->type_spec_class,
            TypeSpecClass::kRaggedTensor);
  EXPECT_EQ(std::get<BoundedTensorSpecProto>(dict.at("bounded").kind).minimum->float_val.at(0), 1);
  EXPECT_TRUE(std::holds_alternative<NumpyValue>(dict.at("numpy").kind));
  EXPECT_TRUE(std::holds_alternative<NoneValue>(dict.at("none").kind));
  EXPECT_NE(to_text(value).find("int64_value: -5\n"), std::string::npos);
}

TEST(SavedModelFormat, DamageIsAnErrorOrAnotherModel) {
  const std::string bytes = saved_golden("kinds/saved_model.pb");
  for (size_t n = 0; n < bytes.size(); n += 97) {
    try {
      decode<SavedModel>(bytes.substr(0, n));
    } catch (const DataLossError&) {}
  }
  std::mt19937 rng(1);
  int errors = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    damaged[rng() % damaged.size()] ^= char(1 << rng() % 8);
    try {
      encode(decode<SavedModel>(damaged));
    } catch (const DataLossError&) { ++errors; }
  }
  EXPECT_GT(errors, 10);
  StructuredValue nested;
  for (int i = 0; i < 60; ++i) nested.kind = Box<StructuredList>(StructuredList{{std::move(nested)}});
  const std::string deep = encode(nested);
  expect_error<DataLossError>([&] { decode<StructuredValue>(deep); }, "nested deeper than 100");
}

}  // namespace
}  // namespace rw::format
