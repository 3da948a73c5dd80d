// The tape behind GradientTape: a list of records in the order of execution. Each tensor the tape follows has
// a number; the backward pass walks the list once from its end, with an array of gradients by number, so its
// depth on the stack does not grow with the history.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/autodiff/rule.h"
#include "rewind/base/chunked_vector.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/variable.h"

namespace rw {

class Tape final : public Recorder {
 public:
  Tape(bool persistent, bool watch_accessed_variables);
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override;
  void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomBackward& backward) override;

  void watch(const Tensor& tensor);
  void watch(const Variable& variable);
  void on_variable_read(const Variable& variable);
  bool follows(const Tensor& tensor) const override { return number_of(tensor) >= 0; }
  bool is_tape() const override { return true; }
  const std::vector<Variable>& watched_variables() const { return variables_; }

  void start();
  void stop();
  bool recording() const { return recording_; }
  void reset();

  // One gradient per source, in order. Undefined entries of `output_gradients` stand for ones.
  std::vector<Gradient> gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                                 std::span<const Tensor> output_gradients);

 private:
  friend class TapeGradContext;
  struct Saved {
    Saved(const Tensor& t, int32_t number, bool keep);
    Tensor shape_tensor() const;
    Tensor zeros() const;
    Tensor tensor;  // kept only where the rule needs it, or where its shape is not known
    Shape shape;
    int32_t number;  // on this tape; -1: not followed
    DType dtype;
  };
  struct Record {
    const Op* op = nullptr;
    const GradientRule* rule = nullptr;
    Attrs attrs;
    SmallVector<Saved, 2> inputs;
    SmallVector<Saved, 1> outputs;
    std::unique_ptr<CustomBackward> custom;
  };

  int32_t number_of(const Tensor& tensor) const;
  // A number for a tensor that the tape starts to follow.
  int32_t follow(const Tensor& tensor, bool fresh);
  [[noreturn]] static void fail_without_rule(const Record& record);
  void run_backward(Record& record, std::vector<Gradient>& grads, const std::vector<uint8_t>& needed);

  const bool persistent_;
  const bool watch_variables_;
  bool recording_ = false;
  bool used_ = false;
  uint32_t serial_;
  int32_t next_number_ = 0;
  ChunkedVector<Record> records_;
  std::unordered_map<uint64_t, int32_t> by_id_;  // tensors that another tape has marked, and watched ones
  std::vector<Variable> variables_;
};

}  // namespace rw
