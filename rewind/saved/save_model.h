// Writes SavedModels: a module with its variables and functions, as TensorFlow loads them without any code.
//
//   rw::saved_model::save(module, "dir");
//   rw::saved_model::save(module, "dir",
//                         {.signatures = {{"serving_default", f.get_concrete_function(spec)}}});
//
// Functions that RW_TRACK lists are saved with the traces that they have; those with an input_signature are
// traced for it. One named `call` becomes `__call__`. Without signatures one is made of the root's only
// function if that has one trace, as TensorFlow does. Inputs of a signature are named by TensorSpec::name,
// else args_0, ...; results by the map's keys, else output_0, ... A loaded model keeps its signatures unless
// others are given.
//
// The folder appears whole or not at all. What cannot be saved (a host function, an op of the program's own
// without a decomposition: decomposition.h) is named in an UnimplementedError, and nothing is written.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "rewind/module/module.h"

namespace rw::saved_model {

// A function that is served by name.
class Signature {
 public:
  Signature(ConcreteFunction f) : function_(std::move(f)) {}                      // NOLINT
  Signature(const std::shared_ptr<const ConcreteFunction>& f) : function_(*f) {}  // NOLINT
  // Of a file, by name.
  template <class F>
    requires requires(const F& f) { f.concrete_function(); }
  Signature(const F& f) : Signature(f.concrete_function()) {}  // NOLINT
  // The only trace of a function, or the one that its input_signature asks for.
  template <class F>
  Signature(const Function<F>& f) : function_(only_trace(*trackable_of(f))) {}  // NOLINT

  const ConcreteFunction& function() const { return function_; }

 private:
  static ConcreteFunction only_trace(const Trackable& function);
  ConcreteFunction function_;
};

struct SaveOptions {
  std::map<std::string, Signature> signatures = {};
};

// The module and everything below it. `directory` is made, or takes the place of a SavedModel that is there.
void save(const Module& module, const std::string& directory, const SaveOptions& options = {});
void save(const TrackablePtr& root, const std::string& directory, const SaveOptions& options = {});

}  // namespace rw::saved_model
