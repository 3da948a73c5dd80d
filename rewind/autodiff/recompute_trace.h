// Recomputation in a trace. The stretch of nodes between two points of the trace becomes a body, a graph
// beside the node _Recompute, through which the results pass: whoever differentiates the graph, now or later,
// finds it there.
#pragma once

#include <unordered_map>
#include <vector>

#include "rewind/autodiff/block.h"
#include "rewind/tensor/trace.h"

namespace rw {

// Notes which tensors the stretch uses, in place of the recorders of the trace.
class StretchRecorder final : public Recorder {
 public:
  explicit StretchRecorder(Trace& trace);
  ~StretchRecorder() override { stop(); }

  void record(const Op& op, TensorPointers inputs, const Attrs& attrs, Tensors& outputs) override;
  void record_custom(std::span<const Tensor>, std::span<const Tensor>, const CustomBackward&) override {}
  bool repeats() const override { return true; }
  bool follows(const Tensor& tensor) const override { return around_.follow(tensor); }
  void on_variable_read(const Variable& variable) override;

  // Ends the stretch. Results that it made are replaced by what comes out of _Recompute.
  void finish(std::vector<Tensor>& results);

 private:
  void stop();

  Trace& trace_;
  size_t begin_;  // a mark of the trace
  Unheard around_;
  bool recording_ = true;
  std::unordered_map<ValueId, Tensor> used_;  // as the recorders around know it
};

void register_recompute_gradients();

}  // namespace rw
