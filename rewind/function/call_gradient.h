// Functions under tapes. A function that a tape follows runs in its training form: the graph with further
// results, those values that the backward graph needs. Both come from one joint trace of the function and its
// derivative, cut in two.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/function/concrete_function.h"

namespace rw {

// One order of differentiation. Level k differentiates the forward function of level k - 1 (level 0 is the
// function itself), whose results its own forward function gives first.
struct TrainingLevel {
  std::shared_ptr<const ConcreteFunction> forward;
  std::shared_ptr<const ConcreteFunction>
      backward;                     // takes gradients and saved values; nullptr: nothing flows
  size_t num_results = 0;           // of level k - 1
  std::vector<size_t> gradient_of;  // the results whose gradients it takes, in order
  struct Saved {
    bool input;  // an input of the function, or a result of `forward`
    size_t index;
  };
  std::vector<Saved> saved;
  struct Given {
    size_t input;
    bool slices;  // three tensors: values, indices, dense shape
  };
  std::vector<Given> given;  // what backward returns, in order
};

class TrainingVariants {
 public:
  // Runs f on inputs (arguments and captures), some of which tapes of this thread follow, and tells the
  // tapes.
  std::vector<Tensor> call(const ConcreteFunction& f, const std::vector<Tensor>& inputs);

 private:
  struct Levels;
  std::shared_ptr<Levels> levels_for(const ConcreteFunction& f, const std::vector<bool>& followed);

  std::mutex mutex_;
  std::map<std::vector<bool>, std::shared_ptr<Levels>> by_followed_;
};

}  // namespace rw
