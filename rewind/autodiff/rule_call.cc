#include "rewind/autodiff/rule_call.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"

namespace rw {
namespace {

class CallContext final : public GradContext {
 public:
  CallContext(const Op& op, const Attrs& attrs, std::span<const Tensor> inputs,
              std::span<const Tensor> outputs, std::span<const Gradient> grads,
              const std::vector<bool>& wanted)
      : inputs_(inputs),
        outputs_(outputs),
        grads_(grads),
        wanted_(wanted),
        dense_(outputs.size()),
        results(inputs.size()) {
    op_ = &op;
    attrs_ = &attrs;
  }
  int num_inputs() const override { return int(inputs_.size()); }
  int num_outputs() const override { return int(outputs_.size()); }
  const Tensor& input(int i) const override { return inputs_[size_t(i)]; }
  const Tensor& output(int i) const override { return outputs_[size_t(i)]; }
  const Shape& input_shape(int i) const override { return input(i).shape(); }
  DType input_dtype(int i) const override { return input(i).dtype(); }
  const Shape& output_shape(int i) const override { return output(i).shape(); }
  DType output_dtype(int i) const override { return output(i).dtype(); }
  Tensor input_shape_tensor(int i) const override { return shape_as_tensor(input_shape(i), input(i)); }
  Tensor output_shape_tensor(int i) const override { return shape_as_tensor(output_shape(i), output(i)); }
  const Tensor& grad(int i) override {
    Tensor& dense = dense_[size_t(i)];
    if (!dense.defined()) dense = has_grad(i) ? raw_grad(i).tensor() : zeros_of(output(i));
    return dense;
  }
  bool has_grad(int i) const override { return !raw_grad(i).none(); }
  const Gradient& raw_grad(int i) const override { return grads_[size_t(i)]; }
  bool wants(int i) const override { return wanted_[size_t(i)]; }
  void set(int i, Gradient gradient) override { results[size_t(i)] = std::move(gradient); }

 private:
  std::span<const Tensor> inputs_, outputs_;
  std::span<const Gradient> grads_;
  const std::vector<bool>& wanted_;
  std::vector<Tensor> dense_;

 public:
  std::vector<Gradient> results;
};

}  // namespace

std::vector<Gradient> call_gradient_rule(const Op& op, const Attrs& attrs, std::span<const Tensor> inputs,
                                         std::span<const Tensor> outputs,
                                         std::span<const Gradient> output_gradients,
                                         const std::vector<bool>& wanted) {
  const GradientRule* rule = find_gradient(op);
  if (!rule) {
    fail_not_found("autodiff", "op " + op.name +
                                   " has no gradient rule; give it one with rw::RegisterGradient(\"" +
                                   op.name + "\", rule)");
  }
  CallContext ctx(op, attrs, inputs, outputs, output_gradients, wanted);
  if (rule->fn) rule->fn(ctx);
  return std::move(ctx.results);
}

}  // namespace rw
