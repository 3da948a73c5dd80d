// The tape behind GradientTape: a list of records in the order of execution. Each tensor the tape follows has
// a number; the backward pass walks the list once from its end, with an array of gradients by number, so its
// depth on the stack does not grow with the history.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/autodiff/gradient_sums.h"
#include "rewind/autodiff/rule.h"
#include "rewind/autodiff/tensor_numbers.h"
#include "rewind/base/chunked_vector.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/variable.h"

namespace rw {

struct HistoryLine;

class Tape final : public Recorder {
 public:
  Tape(bool persistent, bool watch_accessed_variables);
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override;
  void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                     const CustomBackward& backward) override;
  void record_block(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    const BlockBackward& backward) override;

  void watch(const Tensor& tensor);
  void watch(const Variable& variable);
  void on_variable_read(const Variable& variable) override;
  bool follows(const Tensor& tensor) const override { return numbers_.of(tensor) >= 0; }
  bool is_tape() const override { return true; }
  const std::vector<Variable>& watched_variables() const { return variables_; }

  void start();
  void stop();
  bool recording() const { return recording_; }
  // Throws FailedPreconditionError while another thread's ops go to the tape.
  void check_thread() const;
  void reset();

  // One gradient per source, in order. Undefined entries of `output_gradients` stand for ones. `sums`: what
  // the gradients of the sources are added to; empty: nothing.
  std::vector<Gradient> gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                                 std::span<const Tensor> output_gradients,
                                 std::span<const Gradient> sums = {});

 private:
  friend class TapeGradContext;
  // Deep histories have many records, so they are small: shapes are numbers of a list.
  struct Saved {
    Tensor tensor;   // kept only where the rule needs it, or where its shape is not known
    int32_t number;  // on this tape; -1: not followed
    uint32_t shape : 24;
    uint32_t dtype_number : 8;
    DType dtype() const { return DType(dtype_number); }
  };
  struct Steps {  // in place of an op and its rule
    size_t record = 0;
    CustomBackward custom;
    BlockBackward block;
  };
  struct Record {
    const Op* op = nullptr;  // nullptr: see steps_
    Attrs attrs;
    uint32_t place = 0;  // on the line of the history that a memory budget keeps
    uint32_t num_inputs = 0;
    uint32_t count = 0;  // inputs, then outputs
    uint32_t room = kFew;

    Record() {}
    ~Record() { clear(); }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    void reserve(size_t values);
    void add(Saved&& saved) { ::new (static_cast<void*>(values() + count++)) Saved(std::move(saved)); }
    std::span<const Saved> inputs() const { return {values(), num_inputs}; }
    std::span<const Saved> outputs() const { return {values() + num_inputs, count - num_inputs}; }

   private:
    static constexpr uint32_t kFew = 3;
    Saved* values() { return room == kFew ? few_ : many_; }
    const Saved* values() const { return room == kFew ? few_ : many_; }
    void clear();
    union {
      Saved few_[kFew];
      Saved* many_;
    };
  };

  // A record of a step between these, still without its steps; nullptr if the tape follows none of the
  // inputs.
  Steps* add_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  const Steps& steps_of(size_t record) const;
  [[noreturn]] static void fail_without_rule(const Record& record);
  Saved save(const Tensor& t, int32_t number, bool keep);
  uint32_t shape_number(const Shape& shape);
  const Shape& shape_of(const Saved& saved) const { return shapes_[saved.shape]; }
  Tensor shape_tensor(const Saved& saved) const;
  Tensor zeros(const Saved& saved) const;
  // Of a tape that is not persistent: throws where it was asked, or will be in a loop's next iteration.
  void check_asked_once() const;
  void leave_history();
  void leave_list();
  // Lets go of everything, on the thread that records, when nobody will ask.
  void forget();
  static void add(const Saved& in, Gradient&& gradient, GradientSums& grads,
                  const std::vector<uint8_t>& needed);
  void run_steps(size_t number, GradientSums& grads, const std::vector<uint8_t>& needed);
  void run_backward(size_t number, GradientSums& grads, const std::vector<uint8_t>& needed);

  const bool persistent_;
  const bool watch_variables_;
  bool recording_ = false;
  bool used_ = false;
  uint64_t made_at_;        // the latest trace then: those behind it are inside of the tape
  HistoryLine* line_;       // of the history that its thread writes
  bool in_history_ = true;  // counted among the tapes that will play it back
  TensorNumbers numbers_;
  ChunkedVector<Record> records_;
  ChunkedVector<Steps, 16> steps_;  // by record, rising
  std::deque<Shape> shapes_;        // references stay while it grows
  std::unordered_map<size_t, uint32_t> shape_numbers_;
  uint32_t last_shape_ = 0;
  std::vector<Variable> variables_;
};

}  // namespace rw
