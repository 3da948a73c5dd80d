// Eager ops of one stretch as they ran, without their results: enough to run them again on other inputs.
// Effects do not run again: what they gave the first time is kept beside the block.
#pragma once

#include <memory>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/autodiff/tensor_numbers.h"
#include "rewind/base/function_ref.h"
#include "rewind/tensor/thread_state.h"

namespace rw {

struct BlockStep {
  const Op* op = nullptr;              // nullptr: see `again`
  std::shared_ptr<const Again> again;  // a step with a derivative of its own
  Attrs attrs;
  SmallVector<int32_t, 3> inputs;  // slots
  SmallVector<int32_t, 1> outputs;
  int32_t given = -1;  // an effect: the first of its outputs among the given tensors
};

struct Block {
  std::vector<BlockStep> steps;
  std::vector<int32_t> inputs, outputs;  // slots
  std::vector<int32_t> last_use;         // by slot: the last step that reads it; -1: none
};

// A block with the tensors of one run.
struct BlockRun {
  std::shared_ptr<const Block> block;
  std::vector<Tensor> inputs, given;
};

// Takes the steps once more; recorders hear them.
std::vector<Tensor> run_block(const Block& block, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& given);
// As run_block, but who listens hears of one step.
std::vector<Tensor> run_as_step(const BlockRun& run);
// Tells recorders that a block made `outputs`.
void tell_of_block(std::span<Recorder* const> recorders, const BlockRun& run,
                   const std::vector<Tensor>& outputs);

// An effect whose outputs are known, as if it had just run.
void tell_of_effect(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs);
// Whether an op must not run again.
bool has_effects(const Op& op, const Attrs& attrs);

// Runs a block's ops under a tape of its own and adds its inputs' gradients to `sums` (see BlockBackward).
// Who listens hears of all this as one step that can be computed again in its turn.
void differentiate_block(FunctionRef<std::vector<Tensor>()> run, std::span<const Tensor> inputs,
                         std::span<const Gradient> outputs, std::span<Gradient* const> sums);

// The recorders of this thread's depth do not listen while one of these lives.
class Unheard {
 public:
  Unheard();
  ~Unheard() { resume(); }
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;
  void resume();
  std::span<Recorder* const> recorders() const { return {hidden_.data(), hidden_.size()}; }
  bool follow(const Tensor& tensor) const;

 private:
  SmallVector<Recorder*, 4> hidden_;
};

// Hears the ops of a stretch in place of the recorders around it.
class BlockRecorder final : public Recorder {
 public:
  BlockRecorder();
  ~BlockRecorder() override { stop(); }

  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override;
  void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomBackward& backward) override;
  bool repeats() const override { return true; }
  void record_again(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    const Again& again) override;
  bool follows(const Tensor& tensor) const override { return made(tensor) || around_.follow(tensor); }
  void on_variable_read(const Variable& variable) override;

  // Whether the tensor is the result of a step.
  bool made(const Tensor& tensor) const;
  // Ends recording: what these results need.
  BlockRun finish(const std::vector<Tensor>& results);
  const Unheard& around() const { return around_; }

 private:
  void stop();
  int32_t slot(const Tensor& tensor);

  Unheard around_;
  bool recording_ = true;
  TensorNumbers numbers_;
  std::vector<Tensor> outside_;  // by slot; undefined for results of steps
  std::vector<BlockStep> steps_;
  std::vector<Tensor> given_;
};

}  // namespace rw
