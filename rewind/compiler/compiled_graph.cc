#include "rewind/compiler/compiled_graph.h"

#include "rewind/compiler/pipeline.h"

namespace rw {
namespace {

constexpr size_t kMostPrograms = 16;

bool same_shapes(const std::vector<Shape>& shapes, std::span<const Value* const> inputs) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (!(shapes[i] == inputs[i]->shape)) return false;
  return true;
}

}  // namespace

CompiledGraph::CompiledGraph(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
  for (const ValueId v : graph_->arguments) fixed_ &= graph_->value(v).shape.fully_known();
}

std::shared_ptr<const Program> CompiledGraph::program_for(std::span<const Value* const> inputs) const {
  const std::lock_guard lock(mutex_);
  for (auto it = programs_.begin(); it != programs_.end(); ++it) {
    if (!fixed_ && !same_shapes(it->shapes, inputs)) continue;
    programs_.splice(programs_.begin(), programs_, it);
    return it->program;
  }
  Entry entry;
  for (const Value* v : inputs) entry.shapes.push_back(v->shape);
  entry.program = compile(*graph_, entry.shapes);
  programs_.push_front(std::move(entry));
  if (programs_.size() > kMostPrograms) programs_.pop_back();
  if (fixed_) only_.store(programs_.front().program.get(), std::memory_order_release);
  return programs_.front().program;
}

void CompiledGraph::run(std::span<const Value* const> inputs, ValueList* results) const {
  if (const Program* only = only_.load(std::memory_order_acquire)) return only->run(inputs, results);
  program_for(inputs)->run(inputs, results);
}

}  // namespace rw
