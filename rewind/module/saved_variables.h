// Values of variables in files, and those of a module.
//
//   rw::save_weights(net, "net.safetensors");   // names are paths of members: "layers/0/w"
//   rw::load_weights(net, "net.safetensors");
//
// The extension says in which format: .npz is numpy's, .h5 and .hdf5 are HDF5 with the names as paths, others
// are safetensors.
// A file is written whole or not at all. Before anything is loaded, names, shapes and types are compared, and
// what does not fit is listed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewind/format/expansion_limit.h"
#include "rewind/module/module.h"

namespace rw {

struct NamedVariable {
  std::string name;
  Variable variable;
};

// What did not fit: empty lists unless skip_mismatch was asked for.
struct LoadReport {
  std::vector<std::string> missing;     // variables that the file does not have
  std::vector<std::string> unexpected;  // arrays of the file that nobody takes
  std::vector<std::string> mismatched;  // "w is (2, 3) float32, in the file (3, 2) float32"
  bool fits() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
};
struct LoadOptions {
  bool skip_mismatch = false;  // load what fits, leave the rest as it is
};

void save_weights(const Module& module, const std::string& path);
// Throws NotFoundError for a missing file, DataLossError for a damaged one, InvalidArgumentError for one that
// does not fit.
LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options = {});

// The variables of a module by the paths of members that lead to them; one that several lead to, by the
// first.
std::vector<NamedVariable> named_variables(const Module& module);

// ---- for those who name variables in other ways
// `metadata`: texts beside the arrays.
void save_variables(const std::string& path, const std::vector<NamedVariable>& variables,
                    const std::map<std::string, std::string>& metadata = {});

// A file to load variables from, one array each.
class VariablesFile {
 public:
  explicit VariablesFile(const std::string& path, const format::ExpansionLimit& limit = {});
  ~VariablesFile();
  VariablesFile(VariablesFile&&) noexcept;
  std::vector<std::string> names() const;
  const std::map<std::string, std::string>& metadata() const;
  // An array by its name; undefined if there is none.
  Tensor read(const std::string& array) const;
  // The variable takes the array of this name; the variable is known by its own to the reader of messages.
  struct Target {
    NamedVariable variable;
    std::string array;
  };
  // Loads all or nothing. Arrays for which ignored(name) are not missed; `what` they are for: "model
  // \"net\"".
  LoadReport load(const std::vector<Target>& targets, const std::string& what, const LoadOptions& options,
                  bool (*ignored)(const std::string& array) = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rw
