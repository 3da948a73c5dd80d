#include "rewind/tensor/effect_log.h"

#include "rewind/base/error.h"
#include "rewind/graph/graph.h"

namespace rw {

Tensors EffectLog::run(const Op& op, TensorPointers inputs, const Attrs& attrs,
                       Tensors (*really)(const Op&, TensorPointers, const Attrs&)) {
  if (!effects_of(op, attrs).any()) return really(op, inputs, attrs);
  if (repeating_) return take(&op).outputs;
  Tensors outputs = really(op, inputs, attrs);
  entries_.push_back({&op, outputs, {}});
  return outputs;
}

std::any EffectLog::run_host(FunctionRef<std::any()> really) {
  if (repeating_) return take(nullptr).value;
  entries_.push_back({nullptr, {}, really()});
  return entries_.back().value;
}

const EffectLog::Entry& EffectLog::take(const Op* op) {
  if (next_ == entries_.size() || entries_[next_].op != op)
    fail_precondition("custom_gradient",
                      "a computation that is repeated for its gradient meets other effects than the first "
                      "time; make what it does depend on its arguments alone");
  return entries_[next_++];
}

EffectScope::EffectScope(EffectLog& log, bool repeat) : saved_(thread_state().effects) {
  log.repeating_ = repeat;
  log.next_ = 0;
  thread_state().effects = &log;
}
EffectScope::~EffectScope() { thread_state().effects = saved_; }

}  // namespace rw
