// How large graphs become when functions take the places of the nodes that name them. Functions that call
// each other twice per level double with every level, so numbers saturate, and each function is counted once.
#pragma once

#include <unordered_map>

#include "rewind/graph/graph.h"

namespace rw {

class ExpandedSizes {
 public:
  static constexpr int64_t kMostCounted = int64_t(1) << 40;
  enum class Branches {
    kAll,      // all that would be written down
    kLongest,  // of several branches one runs
  };
  explicit ExpandedSizes(Branches branches) : branches_(branches) {}

  // In nodes. Graphs must stay alive and as they are.
  int64_t of(const Graph& graph);
  int64_t of(const Node& node);

 private:
  const Branches branches_;
  std::unordered_map<const Graph*, int64_t> known_;
};

// Such a number in a message.
std::string expanded_text(int64_t nodes);

}  // namespace rw
