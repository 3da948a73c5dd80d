#include "rewind/tensor/apply.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/device/memory_budget.h"
#include "rewind/op/compiler_rows.h"
#include "rewind/runtime/eager.h"
#include "rewind/tensor/check_outputs.h"
#include "rewind/tensor/effect_log.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

constinit thread_local ThreadState t_state;

bool may_be_plain(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  return op.elementwise && attrs.empty() && (inputs.size() == 1 || inputs.size() == 2);
}

// The short way, for ops and tensors that have one; else an undefined tensor.
Tensor apply_plain(const Op& op, TensorPointers inputs, bool remember = false) {
  const TensorImpl* a = inputs[0]->impl();
  const TensorImpl* b = inputs.size() == 2 ? inputs[1]->impl() : a;
  if (!a || !b || a->kind != TensorKind::kEager || b->kind != TensorKind::kEager) return Tensor();
  auto result = Ref<TensorImpl>::adopt(new TensorImpl);
  if (!run_plain(op, *a, inputs.size() == 2 ? b : nullptr, *result, remember)) return Tensor();
  return Tensor(std::move(result));
}

Tensors run_now(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  SmallVector<const Value*, 4> values(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[i] = inputs[i]->impl();
    if (inputs[i]->impl()->kind == TensorKind::kSymbol) [[unlikely]]
      fail_stale_symbol(*inputs[i]->impl());
  }
  const bool remember = t_state.recorders && cpu_memory_limit() > 0;
  Tensors outputs;
  if (t_state.recorders && may_be_plain(op, inputs, attrs)) {
    outputs.emplace_back(apply_plain(op, inputs, remember));
    if (outputs[0].defined()) return outputs;
    outputs.clear();
  }
  ValueList results = run_eager(op, attrs, {values.data(), values.size()}, remember);
  outputs.reserve(results.size());
  for (Value& v : results) outputs.emplace_back(make_tensor(std::move(v)));
  return outputs;
}

[[gnu::cold]] Tensors run_checked(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  Tensors outputs;
  if (t_state.trace) {
    outputs = t_state.trace->add(op, inputs, attrs);
    add_output_checks(*t_state.trace, op, outputs);
    return outputs;
  }
  outputs = op.stateful && t_state.effects ? t_state.effects->run(op, inputs, attrs, run_now)
                                           : run_now(op, inputs, attrs);
  check_outputs(op, inputs, outputs);
  return outputs;
}

Tensors run(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  if (checks_numerics()) [[unlikely]]
    return run_checked(op, inputs, attrs);
  if (t_state.trace) [[unlikely]]
    return t_state.trace->add(op, inputs, attrs);
  if (op.stateful && t_state.effects) [[unlikely]]
    return t_state.effects->run(op, inputs, attrs, run_now);
  return run_now(op, inputs, attrs);
}

bool any_batched(TensorPointers inputs, int level) {
  for (const Tensor* t : inputs)
    if (t->impl()->kind == TensorKind::kBatched && t->impl()->level == level) return true;
  return false;
}

// At depth d the recorders of that depth hear the op as it is; then a batched op goes one level down through
// its batching rule, any other as it is. Ops with effects ask for the rule in any case: draws are batched by
// it.
Tensors apply_at(const Op& op, TensorPointers inputs, const Attrs& attrs, int depth) {
  Tensors outputs;
  if (depth == 0) {
    outputs = run(op, inputs, attrs);
  } else if (op.stateful || any_batched(inputs, depth)) {
    outputs = run_batched(op, inputs, attrs, depth);
  } else {
    outputs = apply_at(op, inputs, attrs, depth - 1);
  }
  for (Recorder* r = t_state.recorders; r; r = r->outer)
    if (r->depth == depth && !r->paused) r->record(op, inputs, attrs, outputs);
  return outputs;
}

[[gnu::cold]] void fail_undefined(const Op& op, size_t i) {
  std::string name = "input " + std::to_string(i);
  if (op.simple && i < op.inputs.size()) name = op.inputs[i].name;
  fail_invalid(
      op.tag,
      name + " is an undefined tensor (a default-constructed rw::Tensor, or a gradient that is none)");
}

}  // namespace

ThreadState& thread_state() { return t_state; }

uint64_t tensor_id(const Tensor& tensor) {
  static std::atomic<uint64_t> next{1};
  std::atomic<uint64_t>& slot = tensor.impl()->id;
  uint64_t id = slot.load(std::memory_order_relaxed);
  if (id != 0) return id;
  const uint64_t fresh = next.fetch_add(1, std::memory_order_relaxed);
  return slot.compare_exchange_strong(id, fresh, std::memory_order_relaxed) ? fresh : id;
}

bool has_tensor_id(const Tensor& tensor) { return tensor.impl()->id.load(std::memory_order_relaxed) != 0; }

struct RecordingThread {
  std::mutex mutex;
  std::atomic<bool> ended{false};  // set under the mutex
  std::atomic<bool> any_abandoned{false};
  std::vector<std::unique_ptr<Recorder>> abandoned;  // guarded by the mutex
  // Off the list, and kept until the thread ends, because calls around this one may be walking it.
  std::vector<std::unique_ptr<Recorder>> unlinked;
};

namespace {

constinit thread_local RecordingThread* t_recording = nullptr;
constinit thread_local bool t_recording_ended = false;

// Tells recorders that outlive their thread, and deletes those that were left to it.
struct RecordingThreadEnd {
  std::shared_ptr<RecordingThread> thread = std::make_shared<RecordingThread>();
  RecordingThreadEnd() { t_recording = thread.get(); }
  ~RecordingThreadEnd() {
    std::vector<std::unique_ptr<Recorder>> left;
    {
      const std::lock_guard lock(thread->mutex);
      thread->ended = true;
      left.swap(thread->abandoned);
    }
    left.clear();
    thread->unlinked.clear();
    t_recording = nullptr;
    t_recording_ended = true;
  }
  RecordingThreadEnd(const RecordingThreadEnd&) = delete;
  RecordingThreadEnd& operator=(const RecordingThreadEnd&) = delete;
};

std::shared_ptr<RecordingThread> this_recording_thread() {
  if (t_recording_ended) return nullptr;  // in a destructor of another thread_local
  static thread_local RecordingThreadEnd end;
  return end.thread;
}

bool unlink(const Recorder& recorder) {
  for (Recorder** at = &t_state.recorders; *at; at = &(*at)->outer) {
    if (*at != &recorder) continue;
    *at = recorder.outer;
    return true;
  }
  // In a branch or a loop's body those from outside are put aside.
  for (Trace* t = t_state.trace; t; t = t->outer())
    if (t->unlink_hidden(recorder)) return true;
  return false;
}

// Those that a scope around has put aside stay for another time.
void unlink_abandoned(RecordingThread& thread) {
  const std::lock_guard lock(thread.mutex);
  const auto found = std::partition(thread.abandoned.begin(), thread.abandoned.end(),
                                    [](const auto& r) { return !unlink(*r); });
  std::move(found, thread.abandoned.end(), std::back_inserter(thread.unlinked));
  thread.abandoned.erase(found, thread.abandoned.end());
  thread.any_abandoned = !thread.abandoned.empty();
}

}  // namespace

void push_recorder(Recorder& recorder) {
  recorder.thread = this_recording_thread();
  if (t_recording && t_recording->any_abandoned) unlink_abandoned(*t_recording);
  recorder.outer = t_state.recorders;
  t_state.recorders = &recorder;
}

void remove_recorder(Recorder& recorder) {
  unlink(recorder);
  recorder.thread = nullptr;
}

bool records_elsewhere(const Recorder& recorder) {
  const RecordingThread* thread = recorder.thread.get();
  return thread && thread != t_recording && !thread->ended;
}

void release_recorder(std::unique_ptr<Recorder> recorder) {
  if (!recorder || !records_elsewhere(*recorder)) return;  // its destructor takes it off the list
  const std::shared_ptr<RecordingThread> thread = recorder->thread;
  const std::lock_guard lock(thread->mutex);
  if (thread->ended) return;
  recorder->abandoned = true;
  thread->abandoned.push_back(std::move(recorder));
  thread->any_abandoned = true;
}

Tensors apply(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]->defined()) fail_undefined(op, i);
  if (!t_state.recorders && t_state.depth == 0) [[likely]]
    return run(op, inputs, attrs);
  return apply_at(op, inputs, attrs, t_state.depth);
}

Tensors apply(const Op& op, const std::vector<Tensor>& inputs, const Attrs& attrs) {
  SmallVector<const Tensor*, 8> pointers(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) pointers[i] = &inputs[i];
  return apply(op, TensorPointers(pointers.data(), pointers.size()), attrs);
}

Tensor apply_one(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  const bool heard = t_state.recorders || t_state.trace || t_state.depth > 0 || checks_numerics();
  if (!heard && may_be_plain(op, inputs, attrs))
    if (Tensor result = apply_plain(op, inputs); result.defined()) return result;
  Tensors outputs = apply(op, inputs, attrs);
  RW_CHECK(outputs.size() == 1);
  return std::move(outputs[0]);
}

std::vector<Tensor> raw_op(std::string_view name, const std::vector<Tensor>& inputs, const Attrs& attrs) {
  const Op& op = find_op(name);
  refuse_compiler_row(op);
  Tensors outputs = apply(op, inputs, attrs);
  return {std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end())};
}

}  // namespace rw
