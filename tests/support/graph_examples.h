// Small graphs that reach every kind of thing a GraphDef can hold, built node by node; and a way to run any
// graph on plain constants.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rewind/graph/graph.h"
#include "rewind/runtime/eager.h"

namespace rw::test {

struct GraphExample {
  std::string name;
  std::function<std::shared_ptr<Graph>()> build;
  std::vector<HostTensor> feeds;  // one an argument; a resource's is the variable's value
};
const std::vector<GraphExample>& graph_examples();

template <class T>
HostTensor host(std::vector<int64_t> dims, std::vector<T> values);

// The outputs, and behind them the values of the variables after the run. By the reference evaluator, or by
// what is given.
using GraphRun = std::function<ValueList(std::span<const Value* const> inputs)>;
std::vector<HostTensor> run_graph(const Graph& graph, const std::vector<HostTensor>& feeds,
                                  const GraphRun& run = {});

bool same_bits(const HostTensor& a, const HostTensor& b);

// Numbers between -1.01 and 1.01 in no order, others for each seed.
HostTensor numbers(const Shape& shape, int64_t seed);

}  // namespace rw::test
