// Whether calls and graphs say the same; repeated structure (the layers of a deep model, the groups they fuse
// to, what they recompute) is kept once.
#pragma once

#include <unordered_map>

#include "rewind/graph/graph.h"

namespace rw {

// Functions are the same when they are one object, large tensors when they share their data.
bool equal(const Attrs& a, const Attrs& b);
uint64_t hash_of(const Attrs& attrs);

// The same nodes in the same order with the same facts, names and lines of the user's code.
bool equal(const Graph& a, const Graph& b);
uint64_t hash_of(const Graph& graph);

// Gives graphs that came before for equal ones.
class GraphShelf {
 public:
  std::shared_ptr<const Graph> share(std::shared_ptr<const Graph> graph);

 private:
  std::unordered_multimap<uint64_t, std::shared_ptr<const Graph>> by_hash_;
};

}  // namespace rw
