// Who listens to the ops of this thread: tapes, forward accumulators, batching levels, the trace.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "rewind/tensor/apply.h"

namespace rw {

class EffectLog;
class Gradient;
class Trace;
class Variable;
// Gradients of the outputs in, gradients of the inputs out: none where there is no derivative.
using CustomBackward = std::function<std::vector<Gradient>(std::span<const Gradient>)>;
// The same for a step that stands for many ops: it adds each one's gradient in its turn to sums that the ops
// behind it began, so that the order of addition is that of the ops. sums[i] is nullptr where nobody wants
// the gradient of input i.
using BlockBackward = std::function<void(std::span<const Gradient> outputs, std::span<Gradient* const> sums)>;
// Takes a step once more on other inputs, heard by who listens then.
using Again = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct RecordingThread;

// Told of every op after it ran. Lives on one thread's list while it records.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // `outputs` are fresh tensors that nobody else holds yet, except where an op returns one of its inputs.
  virtual void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) = 0;
  // Whether ops on this tensor matter to it.
  virtual bool follows(const Tensor& tensor) const = 0;
  virtual bool is_tape() const { return false; }
  // Everything between inputs and outputs as one step, with a derivative of its own. Outputs without a
  // gradient give it none.
  virtual void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                             const CustomBackward& backward) = 0;
  virtual void record_block(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                            const BlockBackward& backward) {
    (void)inputs, (void)outputs, (void)backward;
  }
  // A recorder that will repeat what it hears is told of such steps by how to take them again instead.
  virtual bool repeats() const { return false; }
  virtual void record_again(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                            const Again& again) {
    (void)inputs, (void)outputs, (void)again;
  }
  virtual void on_variable_read(const Variable& variable) { (void)variable; }

  Recorder* outer = nullptr;  // the next on the list
  int depth = 0;              // the batching depth at which it was made: it sees the ops of that depth
  bool paused = false;
  std::shared_ptr<RecordingThread> thread;  // on whose list it is; none: on no list
  std::atomic<bool> abandoned{false};       // nobody will ask it for anything; see release_recorder
};

struct ThreadState {
  Recorder* recorders = nullptr;  // innermost first
  int depth = 0;                  // vectorized_map calls around this point
  Trace* trace = nullptr;         // the innermost that is being made
  EffectLog* effects = nullptr;   // of a call that will be repeated, or is
};

ThreadState& thread_state();

// Runs an op one batching level down. Defined in autodiff/batching.cc.
Tensors run_batched(const Op& op, TensorPointers inputs, const Attrs& attrs, int level);

// A number that no other tensor has had or will have; given on first asking.
uint64_t tensor_id(const Tensor& tensor);
bool has_tensor_id(const Tensor& tensor);

void push_recorder(Recorder& recorder);
void remove_recorder(Recorder& recorder);  // wherever it is on the list
// Whether the ops of another thread go to it: then only that thread may use it.
bool records_elsewhere(const Recorder& recorder);
// Deletes a recorder, on whatever thread. One that another thread's ops go to is abandoned instead: that
// thread lets go of what it recorded with its next op, and deletes it when it ends.
void release_recorder(std::unique_ptr<Recorder> recorder);

// No recorder of this thread hears anything while one of these lives.
class StopRecording {
 public:
  StopRecording() : saved_(thread_state().recorders) { thread_state().recorders = nullptr; }
  ~StopRecording() { thread_state().recorders = saved_; }
  StopRecording(const StopRecording&) = delete;
  StopRecording& operator=(const StopRecording&) = delete;

 private:
  Recorder* saved_;
};

}  // namespace rw
