#include "rewind/function/loop_lists.h"

#include "rewind/base/error.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/list.h"

namespace rw {
namespace {

// A loop variable that collects a value of the body, or counts.
void add_list(Graph& cond, Graph& body, ValueId value) {
  const bool counter = value == kCounter;
  const DType dtype = counter ? DType::kInt32 : DType::kVariant;
  const ValueId argument = body.add_argument(dtype, {});
  cond.add_argument(dtype, {});
  ValueId next;
  if (counter) {
    const ValueId one = body.add_constant(host_scalar(1));
    next = body.node(body.add_node(find_op("AddV2"), {}, {{argument, one}})).outputs[0];
  } else {
    next = body.node(body.add_node(find_op("TensorListPushBack"), {}, {{argument, value}})).outputs[0];
  }
  body.outputs.push_back(next);
}

Tensor empty_list_of(const GraphValue& v) {
  const HostTensor shape = element_shape_of(v.shape);
  return empty_tensor_list(tensor_from_bytes(shape.data.get(), DType::kInt32, shape.shape), v.dtype,
                           constant(-1));
}

}  // namespace

KeptLists keep_in_lists(GradContext& g, const std::optional<ControlNode>& node, const Derivative& d,
                        const std::vector<ValueId>& values) {
  KeptLists result;
  std::vector<ValueId> missing;
  for (const ValueId v : values) {
    const Tensor known = node ? node->kept({0, v}) : Tensor();
    if (known.defined()) result[v] = known;
    else missing.push_back(v);
  }
  if (missing.empty()) return result;
  const Attrs& attrs = node ? node->attrs() : g.attrs();
  const auto cond = std::make_shared<Graph>(*graph_ref(attr_as<BodyRef>(g.op(), attrs, "cond")));
  NodeExtension e;
  std::vector<ControlNode::Key> keys;
  for (const ValueId v : missing) {
    add_list(*cond, *d.forward, v);
    e.dtypes.push_back(v == kCounter ? DType::kInt32 : DType::kVariant);
    e.shapes.emplace_back();
    keys.emplace_back(0, v);
  }
  auto shapes = attr_as<std::vector<Shape>>(g.op(), attrs, "output_shapes");
  if (!shapes.empty()) shapes.insert(shapes.end(), missing.size(), Shape());
  e.attrs = attrs.with("cond", BodyRef(cond)).with("body", BodyRef(d.forward)).with("output_shapes", shapes);
  if (node) {
    Graph& around = node->graph();
    for (const ValueId v : missing) {
      if (v == kCounter) {
        e.inputs.push_back(around.add_constant(host_scalar(0)));
        continue;
      }
      const GraphValue& value = d.forward->value(v);
      const ValueId shape = around.add_constant(element_shape_of(value.shape));
      const ValueId most = around.add_constant(host_scalar(-1));
      const NodeId list =
          around.add_node(find_op("EmptyTensorList"), {{"element_dtype", value.dtype}}, {{shape, most}});
      e.inputs.push_back(around.node(list).outputs[0]);
    }
    node->extend(e, keys);
    for (const ValueId v : missing) result[v] = node->kept({0, v});
    return result;
  }
  // Without a node to extend the loop runs again.
  if (effects_of(g.op(), attrs).any())
    fail_unimplemented(
        "while_loop",
        "the gradient of a loop that reads or writes state and ran eagerly, outside a function: "
        "running it again would repeat its effects; call it in an rw::function");
  std::vector<Tensor> inputs;
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  for (const ValueId v : missing) {
    const GraphValue* value = v == kCounter ? nullptr : &d.forward->value(v);
    inputs.push_back(value ? empty_list_of(*value) : constant(0));
  }
  const Tensors again = rw::apply(control_row(g.op(), e.attrs), inputs, e.attrs);
  for (size_t i = 0; i < missing.size(); ++i) result[missing[i]] = again[again.size() - missing.size() + i];
  return result;
}

}  // namespace rw
