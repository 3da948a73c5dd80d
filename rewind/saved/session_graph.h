// Graphs of TensorFlow 1, which sessions ran: functions from some values of a graph to others. Of the graph
// only what the results need is read, so that what saves, restores and initializes variables does not matter;
// variables become values that the function captures.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rewind/format/graph_def.h"
#include "rewind/function/concrete_function.h"

namespace rw::saved_model {

struct SessionFunction {
  format::GraphDef graph;                    // what the results need; inputs are nodes Placeholder
  std::vector<std::string> inputs, outputs;  // "x:0"
};

// Which tensor of the graph is fed, and as what.
struct SessionInput {
  std::string tensor;
  format::AttrMap placeholder;  // dtype and shape; empty: those of the node, which must be a placeholder
};

// Throws NotFoundError for values that are not there.
SessionFunction session_function(const format::GraphDef& graph, const std::vector<SessionInput>& inputs,
                                 std::vector<std::string> outputs);
// The variables that the function needs: the nodes that make their handles.
std::vector<const format::NodeDef*> variable_nodes(const SessionFunction& function);
// A variable's name: handles of one name are one variable.
std::string variable_name(const format::NodeDef& node);

using VariableByName = std::function<Variable(const std::string& name)>;
std::shared_ptr<const ConcreteFunction> build_session_function(
    const SessionFunction& function, const std::string& name, const VariableByName& variable,
    int64_t max_constant_bytes, int64_t memory_budget, CallStructure structure);

}  // namespace rw::saved_model
