#include "rewind/compiler/compiled_graph.h"

#include "rewind/compiler/memory/budget.h"
#include "rewind/compiler/pipeline.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/evaluate.h"

namespace rw {
namespace {

constexpr size_t kMostPrograms = 16;

bool same_shapes(const std::vector<Shape>& shapes, std::span<const Value* const> inputs) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (!(shapes[i] == inputs[i]->shape)) return false;
  return true;
}

}  // namespace

// A body's compiled form is attached to it, and does not keep it alive. None where loop variables change
// their size: they would need a program for each, and node by node is cheaper.
static std::shared_ptr<const void> compiled_body(const Graph& graph) {
  for (const ValueId v : graph.arguments)
    if (!graph.value(v).shape.fully_known()) return nullptr;
  if (std::shared_ptr<const void> compiled = graph.attachment()) return compiled;
  const std::shared_ptr<const Graph> unowned(std::shared_ptr<const Graph>(), &graph);
  return graph.attach(std::make_shared<const CompiledGraph>(unowned, 0, true));
}

void run_compiled_body(const BodyRef& body, std::span<const Value* const> inputs, ValueList* results) {
  const Graph& graph = graph_of(*body);
  const std::shared_ptr<const void> compiled = compiled_body(graph);
  if (compiled) static_cast<const CompiledGraph*>(compiled.get())->run(inputs, results);
  else *results = evaluate(graph, inputs);
}

std::shared_ptr<const Program> program_of_body(const Graph& body) {
  const std::shared_ptr<const void> compiled = compiled_body(body);
  if (!compiled) return nullptr;
  std::vector<Value> shapes(body.arguments.size());
  std::vector<const Value*> inputs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].shape = body.value(body.arguments[i]).shape;
    inputs.push_back(&shapes[i]);
  }
  return static_cast<const CompiledGraph*>(compiled.get())->program_for(inputs);
}

CompiledGraph::CompiledGraph(std::shared_ptr<const Graph> graph, int64_t budget, bool is_body)
    : graph_(std::move(graph)), budget_(budget), is_body_(is_body) {
  for (const ValueId v : graph_->arguments) fixed_ &= graph_->value(v).shape.fully_known();
}

int64_t CompiledGraph::budget_now() const { return budget_ > 0 ? budget_ : cpu_memory_limit(); }

std::shared_ptr<const Program> CompiledGraph::program_for(std::span<const Value* const> inputs) const {
  const int64_t budget = budget_now();
  const std::lock_guard lock(mutex_);
  for (auto it = programs_.begin(); it != programs_.end(); ++it) {
    if (it->budget != budget || (!fixed_ && !same_shapes(it->shapes, inputs))) continue;
    programs_.splice(programs_.begin(), programs_, it);
    if (fixed_) only_.store(&*it, std::memory_order_release);
    return it->program;
  }
  Entry entry;
  for (const Value* v : inputs) entry.shapes.push_back(v->shape);
  entry.budget = budget;
  entry.program = compile(*graph_, entry.shapes, budget);
  if (entry.program->plan && !is_body_)
    set_last_memory_report(std::static_pointer_cast<const MemoryReport>(entry.program->plan));
  programs_.push_front(std::move(entry));
  // The one entry of a graph with fixed shapes is used without a lock, so none of them goes.
  if (!fixed_ && programs_.size() > kMostPrograms) programs_.pop_back();
  if (fixed_) only_.store(&programs_.front(), std::memory_order_release);
  return programs_.front().program;
}

std::shared_ptr<const MemoryReport> CompiledGraph::memory_report(std::span<const Value* const> inputs) const {
  std::shared_ptr<const MemoryReport> report;
  if (budget_now() > 0) {
    report = std::static_pointer_cast<const MemoryReport>(program_for(inputs)->plan);
  } else {
    std::vector<Shape> shapes;
    for (const Value* v : inputs) shapes.push_back(v->shape);
    report = explain_memory(*graph_, shapes);
  }
  set_last_memory_report(report);
  return report;
}

void CompiledGraph::run(std::span<const Value* const> inputs, ValueList* results) const {
  const Entry* only = only_.load(std::memory_order_acquire);
  if (only && only->budget == budget_now()) return only->program->run(inputs, results);
  program_for(inputs)->run(inputs, results);
}

}  // namespace rw
