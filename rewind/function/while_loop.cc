#include "rewind/function/while_loop.h"

#include "rewind/base/error.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::detail {
namespace {

// Whether everything that `wide` says of a shape is true of `narrow`.
bool says_less(const Shape& wide, const Shape& narrow) {
  if (!wide.has_rank()) return true;
  if (!narrow.has_rank() || wide.rank() != narrow.rank()) return false;
  for (int k = 0; k < wide.rank(); ++k)
    if (wide[k] >= 0 && wide[k] != narrow[k]) return false;
  return true;
}

std::string variable_name(size_t i) { return "loop variable " + std::to_string(i); }

std::vector<Shape> shapes_of(const TensorList& initial, const std::vector<Shape>& invariants) {
  std::vector<Shape> shapes;
  for (const Tensor& t : initial) shapes.push_back(t.shape());
  if (invariants.empty()) return shapes;
  if (invariants.size() != initial.size())
    fail_invalid("while_loop", "shape_invariants must hold one shape per loop variable: got " +
                                   std::to_string(invariants.size()) + " for " +
                                   std::to_string(initial.size()));
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!says_less(invariants[i], shapes[i]))
      fail_invalid("while_loop", variable_name(i) + " enters the loop with shape " + shapes[i].to_string() +
                                     ", which its invariant " + invariants[i].to_string() + " excludes");
    shapes[i] = invariants[i];
  }
  return shapes;
}

// What is true of both.
Shape common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape out = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) out.set(k, Shape::kUnknown);
  return out;
}

// With `relax`, shapes that do not hold are replaced by what does. Gives whether all held.
bool check_results(const LoopState& initial, const BodyResult& results, bool relax,
                   std::vector<Shape>& shapes) {
  bool held = true;
  const std::string before = structure_text(initial.key);
  const std::string after = structure_text(results.key);
  if (before != after)
    fail_invalid("while_loop", "the body must return the structure of the loop variables: they are (" +
                                   before + "), it returns (" + after + ")");
  for (size_t i = 0; i < results.tensors.size(); ++i) {
    const Tensor& t = results.tensors[i];
    const DType dtype = initial.tensors[i].dtype();
    if (t.dtype() != dtype)
      fail_invalid("while_loop", variable_name(i) + " enters the loop as " + std::string(name_of(dtype)) +
                                     " and is " + std::string(name_of(t.dtype())) +
                                     " after one iteration; rw::cast converts");
    if (says_less(shapes[i], t.shape())) continue;
    if (!relax)
      fail_invalid("while_loop",
                   variable_name(i) + " enters the loop with shape " + shapes[i].to_string() +
                       " and has shape " + t.shape().to_string() +
                       " after one iteration; give shape_invariants with a shape that says less, "
                       "such as unknown sizes, if it may change");
    shapes[i] = common(shapes[i], t.shape());
    held = false;
  }
  return held;
}

// The arguments of a condition or a body: a counter where the iterations are limited, and the loop variables.
std::vector<Tensor> add_arguments(Trace& trace, const LoopState& initial, const std::vector<Shape>& shapes,
                                  bool counted) {
  std::vector<Tensor> symbols;
  if (counted) symbols.push_back(trace.add_argument(DType::kInt32, {}, "loop_counter"));
  for (size_t i = 0; i < initial.tensors.size(); ++i)
    symbols.push_back(trace.add_argument(initial.tensors[i].dtype(), shapes[i]));
  return symbols;
}

Tensor as_predicate(const Tensor& t) {
  const int64_t n = t.shape().fully_known() ? t.shape().num_elements() : 1;
  if (n != 1)
    fail_invalid("while_loop", "the condition must be one value: got shape " + t.shape().to_string());
  return t;
}

}  // namespace

bool tracing() { return current_trace() != nullptr; }
bool is_batch(const Tensor& predicate) { return predicate.impl()->kind == TensorKind::kBatched; }

int64_t iteration_limit(const Tensor& maximum_iterations) {
  if (!maximum_iterations.defined()) return -1;
  const Tensor wide = cast(maximum_iterations, DType::kInt64);
  if (wide.size() != 1)
    fail_invalid("while_loop", "maximum_iterations must be a scalar: got shape " + wide.shape().to_string());
  return std::max<int64_t>(0, wide.item<int64_t>());
}

namespace {

Ref<Trace> trace_cond(LoopCond cond, const LoopState& initial, const std::vector<Shape>& shapes,
                      const Tensor& limit) {
  const bool counted = limit.defined();
  Ref<Trace> trace = new_body("while_cond");
  const TraceScope scope(*trace);
  const std::vector<Tensor> all = add_arguments(*trace, initial, shapes, counted);
  Tensor more = as_predicate(cond(std::span(all).subspan(counted)));
  if (counted) more = logical_and(all[0] < limit, reshape(cast(more, DType::kBool), {}));
  trace->finish({&more, 1});
  return trace;
}

// nullptr when the shapes did not hold and were relaxed.
Ref<Trace> trace_body(LoopBody body, const LoopState& initial, bool relax, bool counted,
                      std::vector<Shape>& shapes) {
  Ref<Trace> trace = new_body("while_body");
  const TraceScope scope(*trace);
  const std::vector<Tensor> all = add_arguments(*trace, initial, shapes, counted);
  BodyResult results;
  NestWriter writer = results.writer();
  body(std::span(all).subspan(counted), writer);
  if (!check_results(initial, results, relax, shapes)) return {};
  std::vector<Tensor> next;
  if (counted) next.push_back(all[0] + 1);
  next.insert(next.end(), results.tensors.begin(), results.tensors.end());
  trace->finish(next);
  return trace;
}

}  // namespace

TensorList stage_while(LoopCond cond, LoopBody body, const LoopState& initial,
                       const WhileLoopOptions& options) {
  const bool counted = options.maximum_iterations.defined();
  const Tensor limit = counted ? cast(options.maximum_iterations, DType::kInt32) : Tensor();
  if (counted && limit.rank() != 0)
    fail_invalid("while_loop", "maximum_iterations must be a scalar: got shape " + limit.shape().to_string());
  std::vector<Shape> shapes = shapes_of(initial.tensors, options.shape_invariants);
  std::vector<Ref<Trace>> traces(2);
  while (!traces[1]) {
    traces[0] = trace_cond(cond, initial, shapes, limit);
    traces[1] = trace_body(body, initial, options.relax_shapes, counted, shapes);
  }
  const std::vector<Tensor> captures = share_captures(traces);
  // What comes from outside stays the same: the body hands it on.
  Graph& g = traces[1]->graph();
  for (size_t i = traces[1]->num_arguments(); i < g.arguments.size(); ++i)
    g.outputs.push_back(g.arguments[i]);

  std::vector<Tensor> inputs;
  std::vector<Shape> output_shapes;
  if (counted) {
    inputs.push_back(constant(0));
    output_shapes.emplace_back();
  }
  inputs.insert(inputs.end(), initial.tensors.begin(), initial.tensors.end());
  output_shapes.insert(output_shapes.end(), shapes.begin(), shapes.end());
  for (const Tensor& t : captures) {
    inputs.push_back(t);
    output_shapes.push_back(t.shape());
  }
  const Tensors outputs = apply_control("While", inputs,
                                        {{"cond", BodyRef(traces[0]->graph_ref())},
                                         {"body", BodyRef(traces[1]->graph_ref())},
                                         {"output_shapes", output_shapes},
                                         {"parallel_iterations", options.parallel_iterations}});
  return {outputs.begin() + counted, outputs.begin() + counted + int64_t(initial.tensors.size())};
}

}  // namespace rw::detail
