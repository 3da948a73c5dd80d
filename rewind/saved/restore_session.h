// RestoreSession: one restore() of a checkpoint, from the call until every value has gone to an object or
// nobody waits any more.
//
// The graph of objects in the file is walked together with the objects that are there, from the root along
// edges of the same name. What an object does not have yet is looked up again when the object says that it
// has new children, and at the next assert.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rewind/format/object_graph.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/saved/trackable.h"

namespace rw::saved {

class RestoreSession : public std::enable_shared_from_this<RestoreSession> {
 public:
  // The objects that there are: a root, and edges from it beyond its own children. A session itself keeps no
  // object alive.
  struct Objects {
    TrackablePtr root;
    std::vector<TrackableChild> attached;
  };

  // Throws NotFoundError, and DataLossError for damage.
  RestoreSession(const std::string& path, const char* tag);
  // Says on standard error what was never restored, unless somebody has asked or expects it.
  ~RestoreSession();

  // Restores all that is there. Throws InvalidArgumentError, before anything is assigned, if values do not
  // fit.
  void restore(const Objects& objects);

  // All look for new objects first. Each throws FailedPreconditionError.
  void check_consumed(const Objects& objects);
  void check_existing_matched(const Objects& objects);
  void check_nontrivial(const Objects& objects);
  void expect_partial();

 private:
  struct Read {
    std::string key;
    TrackableValue value;
    std::string object;  // for messages
  };
  // One walk over the graph: the views of the objects that it meets.
  struct Walk {
    const std::vector<TrackableChild>* attached = nullptr;  // null: it does not begin at the root
    std::map<size_t, TrackablePtr> objects;                 // by node
    std::vector<size_t> order;
  };

  void read_graph();
  void name_nodes();
  // Matches all objects below those of the walk, assigns what is new, and waits for what is missing.
  // Returns whether the first of them lacks something.
  bool match(Walk walk);
  void match_children(size_t node, Walk* walk);
  void match_slots(const Walk& walk);
  bool bind(size_t node, const Trackable& object);
  void plan_reads(size_t node, const Trackable& object);
  void assign_planned();
  void check_fit(const std::vector<Read>& reads) const;
  // Whether children that have values, and slots, are missing; also those of lists below.
  bool lacks(size_t node, const Walk& walk) const;
  void wait_for(size_t node, const Trackable& object);
  void restore_by_name(const Objects& objects);
  void fail_unmatched(const Objects& objects, const char* tag);
  std::vector<std::string> unresolved() const;  // nodes with values and no object

  const char* tag_;
  format::BundleReader bundle_;
  bool by_name_ = false;  // TensorFlow 1's: variables are found by their names, and there is no graph
  format::TrackableObjectGraph graph_;
  std::vector<std::string> names_;  // of nodes: "model/layers/0"

  std::recursive_mutex mutex_;  // guards what follows: a layer may be built on any thread
  std::vector<std::optional<ObjectId>> bound_;
  std::set<ObjectId> bound_ids_;
  std::set<size_t> waiting_;
  std::vector<std::string> unused_;  // values whose objects do not have them
  std::vector<Read> planned_;
  bool asked_ = false, warn_ = false;
};

}  // namespace rw::saved
