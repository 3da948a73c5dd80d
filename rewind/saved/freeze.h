// Frozen graphs: functions with the values of their variables as constants, in one file without a folder of
// variables, for programs that run GraphDefs.
//
//   auto served = rw::saved_model::load("dir");
//   rw::saved_model::save_graph(served.signatures().at("serving_default"), "model.pb");
//   auto f = rw::saved_model::load_graph("model.pb");
#pragma once

#include <map>
#include <string>

#include "rewind/saved/loaded_model.h"

namespace rw::saved_model {

// The function with the values that its variables have now in the place of the variables. Throws
// UnimplementedError, with the op, for a function that writes variables or uses tables and other resources.
ConcreteFunction freeze(const ConcreteFunction& function);

// Tensors of a graph by what the function calls them: "x" -> "x:0".
struct GraphTensors {
  std::map<std::string, std::string> inputs, outputs;
};

// Freezes the function and writes its graph, as text under the endings .pbtxt and .txt, whole or not at all.
// Inputs are named as the signature's or the function's; outputs as the signature's, else Identity,
// Identity_1, ... Throws as freeze(), ResourceExhaustedError for more than 2 GiB, which GraphDefs cannot
// have.
GraphTensors save_graph(const SignatureFunction& signature, const std::string& path);
GraphTensors save_graph(const ConcreteFunction& function, const std::string& path);

}  // namespace rw::saved_model
