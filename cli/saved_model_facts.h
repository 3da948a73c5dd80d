// What saved_model.pb says beside the functions that run: tags, ops, the tensors behind signatures.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace rw::cli {

struct SignatureFacts {
  std::string method;                                  // "tensorflow/serving/predict"
  std::map<std::string, std::string> inputs, outputs;  // "x" -> "serving_default_x:0"
};
struct MetaGraphFacts {
  std::vector<std::string> tags;
  std::set<std::string> ops;  // of the graph and its functions
  std::map<std::string, SignatureFacts> signatures;
};

// One per MetaGraph. Throws NotFoundError, and DataLossError with the file's name.
std::vector<MetaGraphFacts> read_saved_model_facts(const std::string& folder);

}  // namespace rw::cli
