// Batching rules: how an op runs on a whole batch at once. vectorized_map and jacobian run user code once on
// tensors that stand for a batch; each op's rule turns it into ops on the tensors with the batch as axis 0.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "rewind/op/op.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/tensor.h"

namespace rw {

class BatchContext {
 public:
  BatchContext(const Op& op, const Attrs& attrs, std::vector<Tensor> inputs, std::vector<bool> batched,
               Size batch, size_t num_outputs)
      : op_(op),
        attrs_(attrs),
        inputs_(std::move(inputs)),
        batched_(std::move(batched)),
        batch_(std::move(batch)),
        outputs_(num_outputs),
        same_(num_outputs) {}

  const Op& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }
  template <class T>
  T attr(std::string_view name) const {
    return attr_as<T>(op_, attrs_, name);
  }
  const Size& batch() const { return batch_; }
  int64_t batch_size() const { return batch_.number(); }  // -1: open, in a trace
  int num_inputs() const { return int(inputs_.size()); }
  int num_outputs() const { return int(outputs_.size()); }
  bool batched(int i) const { return batched_[size_t(i)]; }
  // The tensor behind input i: with the batch as axis 0 if batched(i), as it is otherwise.
  const Tensor& input(int i) const { return inputs_[size_t(i)]; }
  // Rank without the batch axis.
  int rank(int i) const { return input(i).rank() - (batched(i) ? 1 : 0); }
  // Input i with the batch as axis 0 in any case: an unbatched one is repeated.
  Tensor with_batch(int i) const;
  // Input i of at least this rank without the batch axis: ones are put behind the batch axis (or in front,
  // when it is not batched), so that elementwise ops broadcast as they would have.
  Tensor aligned(int i, int rank) const;

  // Output i, with the batch as axis 0.
  void set(int i, Tensor output) { outputs_[size_t(i)] = std::move(output); }
  // Output i where it is the same for all elements, without the batch.
  void set_same(int i, Tensor output) {
    set(i, std::move(output));
    same_[size_t(i)] = true;
  }
  // All outputs at once, from an op applied to batched tensors.
  template <class List>
  void set_all(const List& list) {
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = list[i];
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  bool same(size_t i) const { return same_[i]; }

 private:
  const Op& op_;
  const Attrs& attrs_;
  std::vector<Tensor> inputs_;
  std::vector<bool> batched_;
  Size batch_;
  std::vector<Tensor> outputs_;
  std::vector<bool> same_;
};

using BatchRule = std::function<void(BatchContext&)>;

// Elementwise ops need no rule. An op without one runs once per element of the batch, which is right and
// slow.
void register_batching(std::string_view op, BatchRule rule);
// A rule that also runs where no input depends on the batch: random numbers differ from element to element.
void register_draw_batching(std::string_view op, BatchRule rule);
bool has_batching(const Op& op);
// The slow way, for a rule whose case it does not cover: one call per element of the batch.
void batch_by_loop(BatchContext& ctx);

// Runs f once on tensors that stand for the elements of `elements` along axis 0, and stacks the results.
std::vector<Tensor> vectorized_map(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                   const std::vector<Tensor>& elements);
Tensor vectorized_map(const std::function<Tensor(const Tensor&)>& f, const Tensor& elements);

}  // namespace rw
