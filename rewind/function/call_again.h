// Calls in a computation that will be repeated (see autodiff/block.h): the first call also gives what its
// effects gave, a later one has none and takes that as further arguments.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rewind/function/concrete_function.h"

namespace rw {

struct CallAgain {
  std::shared_ptr<const ConcreteFunction> first;
  std::shared_ptr<const ConcreteFunction> again;

  // Runs `first` unheard and tells the recorders of the thread, which all repeat.
  std::vector<Tensor> call(const std::vector<Tensor>& inputs, size_t num_results) const;
};

// Of a function's graph; none when gradients flow through an effect other than a variable's read.
std::optional<CallAgain> split_effects(const Graph& graph);

// Whether all who listen to this thread will repeat what they hear.
bool heard_for_repeating();

}  // namespace rw
