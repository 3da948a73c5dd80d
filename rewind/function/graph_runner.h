// Runs a graph on tensors, eagerly: the compiled Program of the shapes that come, made on first sight.
#pragma once

#include <memory>
#include <span>

#include "rewind/base/small_vector.h"
#include "rewind/compiler/compiled_graph.h"
#include "rewind/tensor/tensor.h"

namespace rw {

class GraphRunner {
 public:
  explicit GraphRunner(std::shared_ptr<const Graph> graph, int64_t budget = 0)
      : compiled_(std::move(graph), budget) {}
  // Arguments and captures together are the graph's arguments. Any number of threads.
  void run(std::span<const Tensor> arguments, std::span<const Tensor> captures,
           SmallVector<Tensor, 4>* results) const;
  std::shared_ptr<const MemoryReport> memory_report(std::span<const Tensor> arguments,
                                                    std::span<const Tensor> captures) const;

 private:
  CompiledGraph compiled_;
};

}  // namespace rw
