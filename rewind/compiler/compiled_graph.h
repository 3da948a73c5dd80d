// A graph that runs: the Program of the shapes that come, made on first sight and kept in a bounded cache.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "rewind/compiler/memory/memory_report.h"
#include "rewind/graph/graph.h"
#include "rewind/runtime/program.h"

namespace rw {

class CompiledGraph {
 public:
  // `budget` is in bytes, for all that the library holds while the graph runs; 0: the device's, if one is
  // set. `is_body`: a body of control flow.
  explicit CompiledGraph(std::shared_ptr<const Graph> graph, int64_t budget = 0, bool is_body = false);
  // One input per argument. Any number of threads.
  void run(std::span<const Value* const> inputs, ValueList* results) const;
  const Graph& graph() const { return *graph_; }
  // The program for these inputs, for looking at.
  std::shared_ptr<const Program> program_for(std::span<const Value* const> inputs) const;
  // What the program for these inputs does with memory.
  std::shared_ptr<const MemoryReport> memory_report(std::span<const Value* const> inputs) const;

 private:
  struct Entry {
    std::vector<Shape> shapes;
    int64_t budget = 0;
    std::shared_ptr<const Program> program;
  };
  int64_t budget_now() const;
  std::shared_ptr<const Graph> graph_;
  const int64_t budget_;
  const bool is_body_;  // of control flow: part of a function with a plan of its own
  bool fixed_ = true;   // the arguments' shapes are all known: there is one program
  mutable std::mutex mutex_;
  mutable std::list<Entry> programs_;  // the last used first
  mutable std::atomic<const Entry*> only_{nullptr};
};

// The program of a body of control flow; nullptr where it runs node by node.
std::shared_ptr<const Program> program_of_body(const Graph& body);

}  // namespace rw
