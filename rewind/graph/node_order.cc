#include "rewind/graph/node_order.h"

#include <queue>

#include "rewind/base/error.h"

namespace rw {

void fail_graph_def(const std::string& message) { fail_invalid("GraphDef", message); }
std::string quote(std::string_view name) { return "'" + std::string(name) + "'"; }

InputRef parse_input(std::string_view text) {
  InputRef ref;
  if (!text.empty() && text[0] == '^') return {.control = true, .node = text.substr(1), .output = {}};
  const size_t colon = text.find(':');
  ref.node = text.substr(0, colon);
  if (colon == std::string_view::npos) return ref;
  std::string_view rest = text.substr(colon + 1);
  if (const size_t second = rest.find(':'); second != std::string_view::npos) {
    ref.output = rest.substr(0, second);
    rest.remove_prefix(second + 1);
  }
  if (rest.empty() || rest.size() > 9 || rest.find_first_not_of("0123456789") != std::string_view::npos)
    fail_graph_def("an input reads 'node', 'node:1', 'node:output:0' or '^node': got " + quote(text));
  for (const char c : rest) ref.index = ref.index * 10 + (c - '0');
  return ref;
}

NodeOrder::NodeOrder(const std::vector<const format::NodeDef*>& nodes,
                     const std::unordered_set<std::string>& arguments)
    : nodes_(nodes), arguments_(arguments), users_(nodes.size()), missing_(nodes.size(), 0) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->name.empty())
      fail_graph_def("node " + std::to_string(i) + " (op " + nodes[i]->op + ") has no name");
    if (!position_.emplace(nodes[i]->name, i).second)
      fail_graph_def("two nodes are called " + quote(nodes[i]->name));
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& input : nodes[i]->input) link(input, i);
}

void NodeOrder::link(const std::string& input, size_t user) {
  const std::string_view name = parse_input(input).node;
  if (const auto it = position_.find(name); it != position_.end()) {
    users_[it->second].push_back(user);
    ++missing_[user];
  } else if (!arguments_.count(std::string(name))) {
    fail_graph_def("node " + quote(nodes_[user]->name) + " takes " + quote(input) + ", which does not exist");
  }
}

std::vector<size_t> NodeOrder::find() const {
  std::vector<size_t> missing = missing_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const size_t user : users_[i])
      if (--missing[user] == 0) ready.push(user);
  }
  if (order.size() < nodes_.size()) {
    size_t stuck = 0;
    while (missing[stuck] == 0) ++stuck;
    fail_graph_def("nodes wait for each other in a circle, " + quote(nodes_[stuck]->name) + " among them");
  }
  return order;
}

std::vector<bool> NodeOrder::reach(const std::vector<std::string_view>& names) const {
  std::vector<bool> reached(nodes_.size(), false);
  std::vector<size_t> work;
  const auto mark = [&](std::string_view name) {
    const auto it = position_.find(name);
    if (it == position_.end() || reached[it->second]) return;
    reached[it->second] = true;
    work.push_back(it->second);
  };
  for (const std::string_view name : names) mark(name);
  while (!work.empty()) {
    const size_t i = work.back();
    work.pop_back();
    for (const std::string& input : nodes_[i]->input) mark(parse_input(input).node);
  }
  return reached;
}

}  // namespace rw
