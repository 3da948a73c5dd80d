// Builds a graph node by node from a GraphDef's or a FunctionDef's, and knows the values by their names in
// the file.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rewind/graph/attr_proto.h"
#include "rewind/graph/graph_def.h"

namespace rw {

class BodyReader {
 public:
  BodyReader(Graph* graph, bool in_function, FunctionLibraryReader* library)
      : graph_(*graph), in_function_(in_function), library_(library) {}

  void add_argument(const std::string& name, DType dtype, ArgumentFacts facts);
  // Errors name the node.
  void add(const format::NodeDef& def);
  ValueId value(std::string_view text) const;
  // All values of a node.
  const std::vector<ValueId>& values(const std::string& name) const { return made_.at(name).values; }

 private:
  struct Made {
    std::vector<ValueId> values;
    const Op* op = nullptr;
    std::vector<int64_t> counts;            // of values, by output
    std::vector<std::string> output_names;  // where they are not the op's
    bool is_argument = false;
  };

  void add_checked(const format::NodeDef& def);
  void add_custom_gradient(const format::NodeDef& def, const SavedGradient& gradient);
  AttrList read_attrs(const Op& op, const format::NodeDef& def, std::span<const ValueId> inputs);
  void check_inferred(const Op& op, const format::NodeDef& def, const AttrList& complete) const;
  ValueId flat_value(std::string_view text) const;
  void note_variables(const Op& op, const Attrs& attrs, NodeId id);
  std::vector<ArgumentFacts> facts_of(std::span<const ValueId> inputs) const;
  std::vector<ArgumentFacts> loop_facts(const format::NodeDef& def, std::span<const ValueId> inputs);

  Graph& graph_;
  bool in_function_;
  FunctionLibraryReader* library_;
  std::unordered_map<std::string_view, Made> made_;
};

// What a Placeholder, or an argument of a function, is said to be.
ArgumentFacts placeholder_facts(const format::AttrMap& attrs);
ArgumentFacts argument_facts(const format::FunctionDef& def, size_t argument);

// The gradient of the user's own that a node has, or nullptr.
const SavedGradient* saved_gradient(const format::NodeDef& node, const FunctionLibraryReader& library);

}  // namespace rw
