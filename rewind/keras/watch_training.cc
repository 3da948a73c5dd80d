#include "rewind/keras/watch_training.h"

namespace rw::keras {

WatchTraining::WatchTraining(CallbackList& callbacks, TrainingHost* host, const TrainingParams& params) {
  for (const CallbackRef& c : callbacks.list()) before_.push_back({c, c->host_or_null(), c->params()});
  try {
    callbacks.set_host(host);
    callbacks.set_params(params);
  } catch (...) {
    leave();
    throw;
  }
}

WatchTraining::~WatchTraining() { leave(); }

// From the last to the first, so that a callback that is listed twice ends with what it had at first.
void WatchTraining::leave() noexcept {
  for (; !before_.empty(); before_.pop_back()) {
    const Before& b = before_.back();
    try {
      b.callback->set_host(b.host);
      if (b.host) b.callback->set_params(b.params);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // The training is over, perhaps by an exception that must go on: a callback cannot fail it here.
    }
  }
}

}  // namespace rw::keras
