#include "tests/support/test_body.h"

#include "rewind/graph/graph.h"
#include "rewind/op/table.h"
#include "rewind/runtime/constant.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::test {
namespace {

DType dtype_named(std::string_view name) {
  for (int t = 1; t < 32; ++t)
    if (contains(kAllTypes, DType(t)) && name_of(DType(t)) == name) return DType(t);
  return DType::kFloat32;
}

class Builder {
 public:
  explicit Builder(Graph& g) : g_(g) {}
  ValueId constant(const Tensor& t) { return g_.add_constant(as_constant(*t.impl())); }
  ValueId call(const char* op, std::initializer_list<ValueId> inputs, const Attrs& attrs = {}) {
    return g_.node(g_.add_node(find_op(op), attrs, inputs)).outputs[0];
  }
  ValueId cast(ValueId v, DType to) { return call("Cast", {v}, {{"DstT", to}}); }
  bool number(ValueId v) const {
    const DType t = g_.value(v).dtype;
    return is_floating(t) || is_integer(t);
  }

 private:
  Graph& g_;
};

}  // namespace

BodyRef test_body(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  Builder b(*graph);
  const std::string kind = text.substr(0, text.find(':'));
  graph->name = "test_" + kind;
  std::string_view rest = std::string_view(text).substr(std::min(text.size(), kind.size() + 1));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    graph->add_argument(dtype_named(rest.substr(0, end)), Shape::unknown_rank());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::vector<ValueId> args = graph->arguments;
  if (kind == "same") graph->outputs = args;
  else if (kind == "true") graph->outputs = {b.constant(constant(true))};
  else if (kind == "first" && !args.empty()) graph->outputs = {args[0]};
  else if (kind == "below" && !args.empty() && b.number(args[0])) {
    const ValueId wide = b.cast(args[0], DType::kFloat32);
    const ValueId flat = b.call("Reshape", {wide, b.constant(constant(std::vector<int32_t>{-1}))});
    const ValueId low = b.call("Less", {b.constant(constant(-50.0f)), flat});
    const ValueId both = b.call("LogicalAnd", {low, b.call("Less", {flat, b.constant(constant(3.0f))})});
    const ValueId some = b.call("Less", {b.constant(constant(0)), b.call("Size", {flat})});
    graph->outputs = {b.call("LogicalAnd", {some, b.call("All", {both, b.constant(constant(0))})})};
  } else if (kind == "add") {
    for (const ValueId v : args)
      graph->outputs.push_back(
          b.number(v) ? b.call("AddV2", {v, b.cast(b.constant(constant(1.0f)), graph->value(v).dtype)}) : v);
  } else if (kind == "index" && !args.empty() && b.number(args[0])) {
    const ValueId at = b.cast(args[0], DType::kInt32);
    graph->outputs = {b.call("GatherV2", {args[0], at, b.constant(constant(0))})};
  }
  return graph;
}

}  // namespace rw::test
