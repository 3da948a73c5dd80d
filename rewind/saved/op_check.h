// Which ops a function of a SavedModel reaches that it cannot have here: ops that are not in the op table,
// and ops that reach out of the process (files, sockets, other programs), which a loaded graph may only use
// when the caller allows them by name.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rewind/format/graph_def.h"

namespace rw::saved_model {

class OpCheck {
 public:
  // The library must outlive this object.
  OpCheck(const format::FunctionDefLibrary& library, std::vector<std::string> allowed_ops);

  struct Problems {
    std::set<std::string> missing;  // ops that the table does not have
    std::set<std::string> refused;  // "PrintV2 to file:///tmp/x"
    bool none() const { return missing.empty() && refused.empty(); }
  };
  // Of the function and all that it calls.
  const Problems& of(const std::string& function);
  // Of nodes that belong to no function, and of all that they call.
  Problems of_nodes(const std::vector<const format::NodeDef*>& nodes, bool may_fill_tables = false);
  // The function may fill tables from files: it is known which.
  void allow_tables_from_files(const std::string& function) { fills_tables_.insert(function); }
  // of(function) from now on, for one that the library does not have.
  void note(const std::string& function, const std::vector<const format::NodeDef*>& nodes) {
    of_function_[function] = of_nodes(nodes);
  }

 private:
  // What a function says itself; functions by their number in the library.
  struct Own {
    Problems problems;
    std::vector<size_t> calls;
  };
  void look_at(const format::NodeDef& node, bool may_fill_tables, Problems* problems) const;
  void add_calls(const format::NodeDef& node, std::vector<size_t>* calls) const;
  const Own& own(size_t function);
  void add(const Problems& from, Problems* to);
  void add_below(std::vector<size_t> open, Problems* problems);

  std::vector<const format::FunctionDef*> list_;
  std::unordered_map<std::string_view, size_t> functions_;
  std::unordered_set<std::string> allowed_, fills_tables_;
  std::vector<std::unique_ptr<const Own>> own_;  // null: not looked at
  size_t listed_ = 0;                            // of all problems that were handed out
  std::unordered_map<std::string, Problems> of_function_;
};

// What is said of an op that there is none of: those of TensorFlow 1 by what they are.
std::string missing_op_text(const std::string& op);

}  // namespace rw::saved_model
