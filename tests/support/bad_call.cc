#include "tests/support/bad_call.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching_scope.h"
#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"
#include "rewind/graph/attr_proto.h"
#include "rewind/graph/graph_def.h"
#include "rewind/op/table.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "tests/support/case_tensors.h"

namespace rw::test {
namespace {

using TensorVector = std::vector<Tensor>;
using Body = std::function<TensorVector(const TensorVector& leaves)>;

// The case with every leaf wanted that has a gradient, or none.
Case with_gradients(const Case& c, bool all) {
  Case copy = clone(c);
  copy.wanted.clear();
  const auto found = leaves(copy.call);
  for (uint32_t k = 0; all && k < found.size(); ++k)
    if (is_differentiable(found[k]->value.dtype)) copy.wanted.push_back(k);
  return copy;
}

void keep(const TensorVector& outputs, Result& r) {
  for (const Tensor& y : outputs) r.outputs.push_back(to_array(y));
}

// The outputs that can be looked at; of a list its length, and whether an optional has a value, so that they
// are not dead code.
TensorVector visible(const Case& c, const TensorVector& outputs) {
  const char* const of_variants = c.call.op.starts_with("Optional") ? "OptionalHasValue" : "TensorListLength";
  TensorVector all;
  for (const Tensor& t : outputs) {
    if (t.dtype() == DType::kVariant) all.push_back(raw_op(of_variants, {t})[0]);
    else if (t.dtype() != DType::kResource) all.push_back(t);
  }
  return all;
}

// How much of the arguments a trace knows: 0 shapes, 1 ranks, 2 nothing, 3 all (they are captured).
std::shared_ptr<const ConcreteFunction> trace(const Leaves& in, uint32_t knows, const Body& body,
                                              TensorVector* arguments) {
  std::vector<TensorSpec> specs;
  for (size_t k = 0; k < in.tensors.size() && knows != 3; ++k) {
    if (in.variables[k].defined()) continue;
    const Shape& shape = in.tensors[k].shape();
    arguments->push_back(in.tensors[k]);
    specs.push_back({knows == 0   ? shape
                     : knows == 1 ? Shape::unknown_of_rank(shape.rank())
                                  : Shape::unknown_rank(),
                     in.tensors[k].dtype()});
  }
  const auto f = function(
      [&](const TensorVector& symbols) {
        TensorVector all = in.tensors;
        for (size_t k = 0, next = 0; k < all.size() && next < symbols.size(); ++k)
          if (!in.variables[k].defined()) all[k] = symbols[next++];
        return body(all);
      },
      {.input_signature = specs});
  return f.get_concrete_function(*arguments);
}

void call_function(const Case& c, uint32_t draw, bool under_tape, Result& r, std::string& stage) {
  const Leaves in(c);
  TensorVector arguments;
  const auto body = [&](const TensorVector& leaf_tensors) { return visible(c, evaluate(c, leaf_tensors)); };
  const auto f = trace(in, draw % 4, body, &arguments);
  if (!under_tape) return keep((*f)(arguments), r);
  GradientTape tape({.watch_accessed_variables = false});
  TensorVector sources, targets;
  for (const uint32_t k : c.wanted) {
    in.watch(tape, k);
    sources.push_back(in.tensors[k]);
  }
  const TensorVector outputs = (*f)(arguments);
  for (const Tensor& y : outputs)
    if (is_differentiable(y.dtype())) targets.push_back(y);
  keep(outputs, r);
  stage = "gradient: ";
  if (!targets.empty() && !sources.empty()) r.gradients = to_arrays(tape.flat_gradient(targets, sources, {}));
}

// One number that depends on the tensor.
Tensor touch(const Tensor& t) {
  if (t.dtype() == DType::kString) return reduce_sum(cast(raw_op("StringLength", {t})[0], DType::kFloat32));
  return reduce_sum(cast(t, DType::kFloat32));
}

void call_in_loop(const Case& c, uint32_t draw, Result& r) {
  const Leaves in(c);
  TensorVector arguments;
  const bool under_tape = draw / 4 % 2;
  const auto body = [&](const TensorVector& leaf_tensors) {
    GradientTape tape({.watch_accessed_variables = false});
    TensorVector sources;
    for (const uint32_t k : c.wanted) {
      if (!under_tape || in.variables[k].defined()) continue;
      tape.watch(leaf_tensors[k]);
      sources.push_back(leaf_tensors[k]);
    }
    const auto [i, sum] = while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                     [&](const Tensor& i, Tensor sum) {
                                       for (const Tensor& t : visible(c, evaluate(c, leaf_tensors)))
                                         sum = sum + touch(t);
                                       return std::tuple{i + 1, sum};
                                     },
                                     std::tuple{constant(0), constant(0.0f)});
    TensorVector results{sum};
    if (!sources.empty())
      for (const Gradient& g : tape.flat_gradient({sum}, sources, {}))
        if (!g.none()) results.push_back(g.tensor());
    return results;
  };
  const auto f = trace(in, draw % 4, body, &arguments);
  keep((*f)(arguments), r);
}

constexpr int64_t kBatches[] = {2, 3, 1, 0, 20};
int64_t batch_of(uint32_t draw) { return kBatches[draw / 64 % std::size(kBatches)]; }

bool batch_in_trace(uint32_t draw) { return draw / 8 % 3 == 0; }

// The tensors among the leaves that the draw takes; all of them when it takes none.
std::vector<size_t> batched_leaves(const Leaves& in, uint32_t draw) {
  std::vector<size_t> all, some;
  for (size_t k = 0; k < in.tensors.size(); ++k) {
    if (in.variables[k].defined()) continue;
    all.push_back(k);
    if (draw >> (12 + k % 16) & 1) some.push_back(k);
  }
  return some.empty() ? all : some;
}

void call_on_batch(const Case& c, uint32_t draw, Result& r) {
  const Leaves in(c);
  const std::vector<size_t> chosen = batched_leaves(in, draw);
  const int64_t batch = batch_of(draw);
  const auto map = [&](const TensorVector& leaf_tensors) {
    TensorVector elements;
    for (const size_t k : chosen)
      elements.push_back(
          repeat_in_front(leaf_tensors[k].shape().has_rank() ? leaf_tensors[k] : in.tensors[k], batch));
    if (chosen.empty()) elements.push_back(zeros({batch}));
    return vectorized_map(
        [&](const TensorVector& element) {
          TensorVector all = leaf_tensors;
          for (size_t i = 0; i < chosen.size(); ++i) all[chosen[i]] = element[i];
          return visible(c, evaluate(c, all));
        },
        elements);
  };
  if (!batch_in_trace(draw)) return keep(map(in.tensors), r);
  TensorVector arguments;
  const auto f = trace(in, draw % 4, map, &arguments);
  keep((*f)(arguments), r);
}

// The case as a program that wrote the file by hand has it: placeholders, and a node a call.
class GraphDefWriter {
 public:
  GraphDefWriter(const Leaves& in, uint32_t knows) : in_(in), knows_(knows) {}

  format::GraphDef write(const Case& c, std::vector<std::string>* inputs) {
    add(c.call);
    *inputs = placeholders_;
    if (!bodies_.empty()) def_.library = bodies_.take();
    return std::move(def_);
  }

 private:
  std::string add(const Call& call) {
    std::vector<std::string> inputs;
    for (const Input& in : call.inputs)
      inputs.push_back(in.kind != Input::kCall ? add_placeholder()
                                               : add(*in.call) + ":" + std::to_string(in.output));
    format::NodeDef& node = def_.node.emplace_back();
    node.name = "node_" + std::to_string(def_.node.size());
    node.op = call.op;
    node.input = inputs;
    const auto name_of_body = [&](const BodyRef& body) {
      kept_.push_back(body);
      return bodies_.add(graph_of(*body));
    };
    for (const CaseAttr& a : call.attrs) node.attr[a.name] = to_attr_proto(to_attr(a), name_of_body);
    return node.name;
  }
  std::string add_placeholder() {
    const Tensor& t = in_.tensors[placeholders_.size()];
    format::NodeDef& node = def_.node.emplace_back();
    node.name = "leaf_" + std::to_string(placeholders_.size());
    node.op = "Placeholder";
    node.attr["dtype"] = to_attr_proto(AttrValue(t.dtype()), {});
    if (knows_ == 0) node.attr["shape"] = to_attr_proto(AttrValue(t.shape()), {});
    if (knows_ == 1) node.attr["shape"] = to_attr_proto(AttrValue(Shape::unknown_of_rank(t.rank())), {});
    placeholders_.push_back(node.name);
    return node.name;
  }

  const Leaves& in_;
  uint32_t knows_;
  format::GraphDef def_;
  FunctionLibraryWriter bodies_;
  std::vector<BodyRef> kept_;
  std::vector<std::string> placeholders_;
};

void call_loaded(const Case& c, uint32_t draw, Result& r) {
  const Leaves in(c);
  GraphDefImport import;
  const std::string bytes = format::encode(GraphDefWriter(in, draw % 3).write(c, &import.inputs));
  const auto graph = from_graph_def(format::decode<format::GraphDef>(bytes), import);
  std::erase_if(graph->outputs, [&](ValueId v) {
    const DType t = graph->value(v).dtype;
    return t == DType::kResource || t == DType::kVariant;
  });
  const auto f = std::make_shared<ConcreteFunction>(graph, graph->arguments.size(), TensorVector{},
                                                    std::vector<Variable>{});
  keep((*f)(in.tensors), r);
}

}  // namespace

std::string_view name_of(CallMode mode) {
  constexpr std::string_view kNames[] = {"eager",          "tape",       "function", "function_tape",
                                         "vectorized_map", "while_body", "graph_def"};
  return kNames[size_t(mode)];
}

Result run_call(const Case& original, CallMode mode, uint32_t draw) {
  const bool taped =
      mode == CallMode::kTape || mode == CallMode::kFunctionTape || mode == CallMode::kWhileBody;
  const Case c = with_gradients(original, taped);
  return guarded([&](Result& r, std::string& stage) {
    switch (mode) {
      case CallMode::kEager: return keep(visible(c, evaluate(c, Leaves(c).tensors)), r);
      case CallMode::kTape: return store(run(c, Leaves(c), stage), r);
      case CallMode::kFunction: return call_function(c, draw, false, r, stage);
      case CallMode::kFunctionTape: return call_function(c, draw, true, r, stage);
      case CallMode::kVectorizedMap: return call_on_batch(c, draw, r);
      case CallMode::kWhileBody: return call_in_loop(c, draw, r);
      case CallMode::kGraphDef: return call_loaded(c, draw, r);
    }
  });
}

bool refuses_alike(const Case& c, CallMode mode, uint32_t draw) {
  const Op& op = find_op(c.call.op);
  // In a trace, rules need not look at values that are not known.
  if (mode == CallMode::kVectorizedMap) return batch_of(draw) > 0 && !batch_in_trace(draw);
  if (mode == CallMode::kTape) return true;
  // The compiler finds an open size from the number of elements, which legal calls keep.
  if (op.name == "Reshape") return false;
  // What nobody looks at does not run: handles, and in a loaded graph lists.
  for (Input* in : leaves(const_cast<Call&>(c.call)))
    if (in->kind == Input::kVariable && !op.stateful) return false;
  if (mode != CallMode::kGraphDef) return true;
  for (const CaseAttr& a : c.call.attrs)
    if (a.name.empty() ||
        (a.list && a.ints.empty() && a.floats.empty() && a.strings.empty() && a.shapes.empty()))
      return false;  // a file's notes; lists without a type
  for (const ArgDef& output : op.outputs)
    if (output.dtype == DType::kVariant) return false;
  return true;
}

}  // namespace rw::test
