// Callbacks while they watch one training: each gets the host and the parameters, and what it had before, of
// a training around this one or none, when the scope ends, also by an exception.
#pragma once

#include <utility>
#include <vector>

#include "rewind/keras/callback.h"

namespace rw::keras {

class WatchTraining {
 public:
  WatchTraining(CallbackList& callbacks, TrainingHost* host, const TrainingParams& params);
  ~WatchTraining();
  WatchTraining(const WatchTraining&) = delete;
  WatchTraining& operator=(const WatchTraining&) = delete;

 private:
  void leave() noexcept;
  struct Before {
    CallbackRef callback;
    TrainingHost* host;
    TrainingParams params;
  };
  std::vector<Before> before_;
};

}  // namespace rw::keras
