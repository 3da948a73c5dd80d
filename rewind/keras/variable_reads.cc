#include "rewind/keras/variable_reads.h"

#include <algorithm>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/tensor/live_variables.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {

class VariableReads::Listener : public Recorder {
 public:
  Listener() {
    depth = thread_state().depth;
    push_recorder(*this);
  }
  ~Listener() override { remove_recorder(*this); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void record(const Op&, TensorPointers, const Attrs&, Tensors&) override {}
  bool follows(const Tensor&) const override { return false; }
  void record_custom(std::span<const Tensor>, std::span<const Tensor>, const CustomBackward&) override {}
  void on_variable_read(const Variable& variable) override {
    auto same = [&](const Variable& v) { return same_variable(v, variable); };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back(variable);
  }

  std::vector<Variable> list;
};

VariableReads::VariableReads() {
  if (const Trace* trace = thread_state().trace) {
    known_ = trace->variables().size();
  } else {
    [[maybe_unused]] static const bool reads_are_told = (GradientTape(), true);
    listener_ = std::make_unique<Listener>();
  }
}

VariableReads::~VariableReads() = default;

std::vector<Variable> VariableReads::list() const {
  std::vector<Variable> read;
  if (listener_) read = listener_->list;
  else if (const Trace* trace = thread_state().trace)
    read.assign(trace->variables().begin() + long(std::min(known_, trace->variables().size())),
                trace->variables().end());
  // C++ leaves open which operand of an operator is read first.
  std::sort(read.begin(), read.end(), [](const Variable& a, const Variable& b) {
    return variable_number(a.id()) < variable_number(b.id());
  });
  return read;
}

}  // namespace rw::keras
