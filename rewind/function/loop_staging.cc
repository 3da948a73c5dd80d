#include "rewind/function/loop_staging.h"

#include "rewind/base/error.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

// Whether everything that `wide` says of a shape is true of `narrow`.
bool says_less(const Shape& wide, const Shape& narrow) {
  if (!wide.has_rank()) return true;
  if (!narrow.has_rank() || wide.rank() != narrow.rank()) return false;
  for (int k = 0; k < wide.rank(); ++k)
    if (wide[k] >= 0 && wide[k] != narrow[k]) return false;
  return true;
}

// What is true of both.
Shape common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape out = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) out.set(k, Shape::kUnknown);
  return out;
}

}  // namespace

LoopStaging::LoopStaging(const char* what, detail::LoopState initial, WhileLoopOptions options,
                         std::vector<std::string> names)
    : what_(what), initial_(std::move(initial)), options_(std::move(options)), names_(std::move(names)) {
  if (options_.maximum_iterations.defined()) limit_ = cast(options_.maximum_iterations, DType::kInt32);
  if (counted() && limit_.rank() != 0)
    fail_invalid(what_, "maximum_iterations must be a scalar: got shape " + limit_.shape().to_string());
  for (const Tensor& t : initial_.tensors) shapes_.push_back(t.shape());
  const std::vector<Shape>& invariants = options_.shape_invariants;
  if (invariants.empty()) return;
  if (invariants.size() != shapes_.size())
    fail_invalid(what_, "shape_invariants must hold one shape per loop variable: got " +
                            std::to_string(invariants.size()) + " for " + std::to_string(shapes_.size()));
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (!says_less(invariants[i], shapes_[i]))
      fail_invalid(what_, name_of_variable(i) + " enters the loop with shape " + shapes_[i].to_string() +
                              ", which its invariant " + invariants[i].to_string() + " excludes");
    shapes_[i] = invariants[i];
  }
}

std::string LoopStaging::name_of_variable(size_t i) const {
  return names_.empty() ? "loop variable " + std::to_string(i) : names_[i];
}

// The arguments of a condition or a body: a counter where the iterations are limited, and the loop variables.
std::vector<Tensor> LoopStaging::open(size_t part, const char* kind) {
  traces_[part] = new_body(kind);
  scope_.emplace(*traces_[part]);
  arguments_.clear();
  if (counted()) arguments_.push_back(traces_[part]->add_argument(DType::kInt32, {}, "loop_counter"));
  for (size_t i = 0; i < shapes_.size(); ++i)
    arguments_.push_back(traces_[part]->add_argument(initial_.tensors[i].dtype(), shapes_[i]));
  return {arguments_.begin() + counted(), arguments_.end()};
}

std::vector<Tensor> LoopStaging::open_condition() { return open(0, "while_cond"); }
std::vector<Tensor> LoopStaging::open_body() { return open(1, "while_body"); }

void LoopStaging::close_condition(const Tensor& condition) {
  const Shape& shape = condition.shape();
  if (shape.fully_known() && shape.num_elements() != 1)
    fail_invalid(what_, "the condition must be one value: got shape " + shape.to_string());
  Tensor more = condition;
  if (counted()) more = logical_and(arguments_[0] < limit_, reshape(cast(more, DType::kBool), {}));
  traces_[0]->finish({&more, 1});
  scope_.reset();
}

bool LoopStaging::check_results(const BodyResult& results) {
  bool held = true;
  const std::string before = structure_text(initial_.key), after = structure_text(results.key);
  if (before != after)
    fail_invalid(what_, "the body must return the structure of the loop variables: they are (" + before +
                            "), it returns (" + after + ")");
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const Tensor& t = results.tensors[i];
    const DType dtype = initial_.tensors[i].dtype();
    if (t.dtype() != dtype)
      fail_invalid(what_, name_of_variable(i) + " enters the loop as " + std::string(name_of(dtype)) +
                              " and is " + std::string(name_of(t.dtype())) +
                              " after one iteration; rw::cast converts");
    if (says_less(shapes_[i], t.shape())) continue;
    if (!options_.relax_shapes)
      fail_invalid(what_, name_of_variable(i) + " enters the loop with shape " + shapes_[i].to_string() +
                              " and has shape " + t.shape().to_string() +
                              " after one iteration; give shape_invariants with a shape that says less, "
                              "such as unknown sizes, if it may change");
    shapes_[i] = common(shapes_[i], t.shape());
    held = false;
  }
  return held;
}

bool LoopStaging::close_body(const BodyResult& results) {
  if (!check_results(results)) {
    scope_.reset();
    return false;
  }
  std::vector<Tensor> next;
  if (counted()) next.push_back(arguments_[0] + 1);
  next.insert(next.end(), results.tensors.begin(), results.tensors.end());
  traces_[1]->finish(next);
  scope_.reset();
  return true;
}

TensorList LoopStaging::finish() {
  const std::vector<Tensor> captures = share_captures(traces_);
  // What comes from outside stays the same: the body hands it on.
  Graph& g = traces_[1]->graph();
  for (size_t i = traces_[1]->num_arguments(); i < g.arguments.size(); ++i)
    g.outputs.push_back(g.arguments[i]);

  std::vector<Tensor> inputs;
  std::vector<Shape> output_shapes;
  if (counted()) {
    inputs.push_back(constant(0));
    output_shapes.emplace_back();
  }
  inputs.insert(inputs.end(), initial_.tensors.begin(), initial_.tensors.end());
  output_shapes.insert(output_shapes.end(), shapes_.begin(), shapes_.end());
  for (const Tensor& t : captures) {
    inputs.push_back(t);
    output_shapes.push_back(t.shape());
  }
  const Tensors outputs = apply_control("While", inputs,
                                        {{"cond", BodyRef(traces_[0]->graph_ref())},
                                         {"body", BodyRef(traces_[1]->graph_ref())},
                                         {"output_shapes", output_shapes},
                                         {"parallel_iterations", options_.parallel_iterations}});
  return {outputs.begin() + counted(), outputs.begin() + counted() + int64_t(initial_.tensors.size())};
}

}  // namespace rw
