// Damaged GraphDefs, by bytes and by contents: a graph or a typed error, never a crash.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "rewind/base/error.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/graph_def.h"
#include "tests/support/goldens.h"
#include "tests/support/graph_examples.h"

namespace rw {
namespace {

using format::GraphDef;
using format::NodeDef;
using test::GraphExample;

GraphDef golden_function() { return format::decode<GraphDef>(test::golden_bytes("graph_def/function.pb")); }

// InternalError would be a bug of ours.
TEST(GraphDefDamage, DamagedFilesAreTypedErrors) {
  std::mt19937 rng(3);
  int read = 0, refused = 0;
  for (const GraphExample& e : test::graph_examples()) {
    const std::string bytes = format::encode(to_graph_def(*e.build()));
    for (int round = 0; round < 400; ++round) {
      std::string b = bytes;
      for (int k = 0; k < 1 + round % 3; ++k) {
        char& c = b[rng() % b.size()];
        c = round % 2 ? char(rng()) : char(c + (rng() % 2 ? 1 : -1));
      }
      if (round % 10 == 0) b.resize(rng() % b.size());
      try {
        const GraphDef def = format::decode<GraphDef>(b);
        const auto graph = from_graph_def(def, {.max_constant_bytes = 1 << 20});
        format::encode(to_graph_def(*graph));
        to_dot(*graph);
        ++read;
      } catch (const InternalError& error) {
        ADD_FAILURE() << e.name << " round " << round << ": " << error.what();
      } catch (const Error&) { ++refused; }
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

// The same for files whose bytes are fine and whose contents are not: other ops, inputs, numbers, types and
// shapes.
class ContentMutator {
 public:
  explicit ContentMutator(uint32_t seed) : rng_(seed) {}

  void mutate(GraphDef* def) {
    std::vector<NodeDef>* nodes = &def->node;
    if (def->library && rng_() % 2) {
      format::FunctionDef& f = def->library->function[rng_() % def->library->function.size()];
      if (rng_() % 8 == 0 && !f.ret.empty())
        f.ret.begin()->second = f.node_def.empty() ? "" : f.node_def[0].name;
      if (rng_() % 8 == 0 && !f.signature->input_arg.empty()) f.signature->input_arg[0].type = any_type();
      nodes = &f.node_def;
    }
    if (nodes->empty()) return;
    NodeDef& node = (*nodes)[rng_() % nodes->size()];
    const NodeDef& other = (*nodes)[rng_() % nodes->size()];
    switch (rng_() % 6) {
      case 0: node.op = other.op; break;
      case 1:
        if (!node.input.empty()) node.input[rng_() % node.input.size()] = other.name;
        break;
      case 2:
        if (!node.input.empty()) node.input.erase(node.input.begin() + long(rng_() % node.input.size()));
        break;
      case 3: node.input.push_back(other.name); break;
      default:
        if (node.attr.empty()) break;
        auto it = node.attr.begin();
        std::advance(it, long(rng_() % node.attr.size()));
        if (rng_() % 8 == 0) node.attr.erase(it);
        else change(&it->second);
    }
  }

 private:
  int64_t any_int() {
    static constexpr int64_t kInts[] = {0,  1,   -1,      2,         3,         7,         63,
                                        64, -64, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    return kInts[rng_() % std::size(kInts)];
  }
  format::DataType any_type() { return format::DataType(rng_() % 26); }
  format::TensorShapeProto any_shape() {
    format::TensorShapeProto shape;
    shape.unknown_rank = rng_() % 6 == 0;
    for (size_t i = rng_() % 5; i-- > 0;) shape.dim.push_back({.size = any_int(), .name = {}});
    return shape;
  }

  void change(format::AttrValue* attr) {
    if (rng_() % 10 == 0) attr->value = any_int();
    else if (auto* i = std::get_if<int64_t>(&attr->value)) *i = any_int();
    else if (auto* b = std::get_if<bool>(&attr->value)) *b = !*b;
    else if (auto* f = std::get_if<float>(&attr->value)) *f = rng_() % 2 ? float(any_int()) : NAN;
    else if (auto* t = std::get_if<format::DataType>(&attr->value)) *t = any_type();
    else if (auto* s = std::get_if<std::string>(&attr->value)) *s += "x";
    else if (auto* shape = std::get_if<format::TensorShapeProto>(&attr->value)) *shape = any_shape();
    else if (auto* tensor = std::get_if<format::Box<format::TensorProto>>(&attr->value)) change(&**tensor);
    else if (auto* list = std::get_if<format::Box<format::ListValue>>(&attr->value)) {
      for (int64_t& v : (*list)->i) v = any_int();
      for (format::DataType& v : (*list)->type)
        if (rng_() % 2) v = any_type();
      for (format::TensorShapeProto& v : (*list)->shape) v = any_shape();
      if (rng_() % 3 == 0) (*list)->i.push_back(any_int());
      if (rng_() % 3 == 0) (*list)->type.push_back(any_type());
      if (rng_() % 3 == 0) (*list)->shape.push_back(any_shape());
    }
  }

  void change(format::TensorProto* t) {
    switch (rng_() % 4) {
      case 0: t->dtype = any_type(); break;
      case 1: t->tensor_shape = any_shape(); break;
      case 2:
        t->tensor_content.clear();
        for (auto* list : {&t->int_val, &t->half_val}) list->assign(1, int32_t(any_int()));
        t->int64_val.assign(1, any_int());
        break;
      default:
        for (char& c : t->tensor_content)
          if (rng_() % 3 == 0) c = char(rng_());
    }
  }

  std::mt19937 rng_;
};

TEST(GraphDefDamage, WrongContentsAreTypedErrors) {
  std::vector<GraphDef> originals = {golden_function()};
  for (const GraphExample& e : test::graph_examples()) originals.push_back(to_graph_def(*e.build()));
  const char* scale = std::getenv("REWIND_GRAPH_FUZZ");
  const int rounds = scale ? std::atoi(scale) : 300;
  ContentMutator mutator(17);
  int read = 0, refused = 0;
  for (size_t k = 0; k < originals.size(); ++k) {
    for (int round = 0; round < rounds; ++round) {
      GraphDef def = originals[k];
      for (int i = 0; i <= round % 3; ++i) mutator.mutate(&def);
      try {
        const auto graph = from_graph_def(def, {.max_constant_bytes = 1 << 20});
        verify(*graph);
        format::encode(to_graph_def(*graph));
        ++read;
      } catch (const InternalError& error) {
        ADD_FAILURE() << "graph " << k << " round " << round << ": " << error.what();
      } catch (const Error&) { ++refused; }
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace rw
