// A graph that runs: the Program of the shapes that come, made on first sight and kept in a bounded cache.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

class CompiledGraph {
 public:
  explicit CompiledGraph(std::shared_ptr<const Graph> graph);
  // One input per argument. Any number of threads.
  void run(std::span<const Value* const> inputs, ValueList* results) const;
  const Graph& graph() const { return *graph_; }
  // The program for these inputs, for looking at.
  std::shared_ptr<const Program> program_for(std::span<const Value* const> inputs) const;

 private:
  struct Entry {
    std::vector<Shape> shapes;
    std::shared_ptr<const Program> program;
  };
  std::shared_ptr<const Graph> graph_;
  bool fixed_ = true;  // the arguments' shapes are all known: there is one program
  mutable std::mutex mutex_;
  mutable std::list<Entry> programs_;  // the last used first
  mutable std::atomic<const Program*> only_{nullptr};
};

}  // namespace rw
