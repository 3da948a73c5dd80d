// How nodes of a GraphDef refer to each other, and an order in which they can be built.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rewind/format/graph_def.h"

namespace rw {

[[noreturn]] void fail_graph_def(const std::string& message);  // InvalidArgumentError
std::string quote(std::string_view name);                      // in single quotes, for messages

// "^node", "node", "node:1", "node:output:0".
struct InputRef {
  bool control = false;
  std::string_view node;
  std::string_view output;  // of a function's node
  int64_t index = 0;
};
// Throws InvalidArgumentError for another spelling.
InputRef parse_input(std::string_view text);

// Positions of the nodes, each behind all that it takes something from or waits for, otherwise as in the
// file. References to arguments bind nothing. Nodes and arguments must outlive this object.
class NodeOrder {
 public:
  // Throws InvalidArgumentError when names repeat or lead nowhere.
  NodeOrder(const std::vector<const format::NodeDef*>& nodes,
            const std::unordered_set<std::string>& arguments);

  // Throws InvalidArgumentError when nodes wait for each other.
  std::vector<size_t> find() const;
  // The nodes that these need, themselves included.
  std::vector<bool> reach(const std::vector<std::string_view>& names) const;

 private:
  void link(const std::string& input, size_t user);

  const std::vector<const format::NodeDef*>& nodes_;
  const std::unordered_set<std::string>& arguments_;
  std::unordered_map<std::string_view, size_t> position_;
  std::vector<std::vector<size_t>> users_;
  std::vector<size_t> missing_;  // how many others each node waits for
};

}  // namespace rw
