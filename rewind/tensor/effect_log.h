// Effects of a call whose code may run a second time: the first run writes down what its stateful ops gave, a
// later one takes that instead of running them, so that they happen once. Outside of traces.
#pragma once

#include <any>
#include <vector>

#include "rewind/base/function_ref.h"
#include "rewind/tensor/thread_state.h"

namespace rw {

class EffectLog {
 public:
  // Runs the op and writes it down, or gives what it gave. Throws FailedPreconditionError when a later run
  // meets other effects than the first one.
  Tensors run(const Op& op, TensorPointers inputs, const Attrs& attrs,
              Tensors (*really)(const Op&, TensorPointers, const Attrs&));
  // The same for something that the host does.
  std::any run_host(FunctionRef<std::any()> really);

 private:
  friend class EffectScope;
  struct Entry {
    const Op* op;  // nullptr: the host's
    Tensors outputs;
    std::any value;
  };
  const Entry& take(const Op* op);
  std::vector<Entry> entries_;
  bool repeating_ = false;
  size_t next_ = 0;
};

// While it lives, this thread's effects go through the log: the first time they are written down.
class EffectScope {
 public:
  EffectScope(EffectLog& log, bool repeat);
  ~EffectScope();
  EffectScope(const EffectScope&) = delete;
  EffectScope& operator=(const EffectScope&) = delete;

 private:
  EffectLog* saved_;
};

// What f gives; outside of traces, a run that repeats another gets what that one got.
template <class F>
auto happens_once(F f) -> decltype(f()) {
  const ThreadState& state = thread_state();
  if (state.trace || !state.effects) [[likely]]
    return f();
  return std::any_cast<decltype(f())>(state.effects->run_host([&]() -> std::any { return f(); }));
}

}  // namespace rw
