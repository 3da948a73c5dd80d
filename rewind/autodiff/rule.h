// Gradient rules: one per op, written in public ops, so that they run eagerly, in a trace and under another
// tape.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "rewind/autodiff/gradient.h"
#include "rewind/op/op.h"
#include "rewind/tensor/sizes.h"

namespace rw {

// Which values a rule reads. What it does not name is not kept alive: only its shape and dtype are.
struct Needs {
  uint32_t inputs = 0;  // bit i: input i; bit 31 stands for all from 31 on
  uint32_t outputs = 0;
  bool last_input = false;  // the last input, whatever its number: the axis behind a list
  bool other = false;       // of two inputs, each only for the gradient of the other one
  static constexpr uint32_t kAll = ~uint32_t{0};
};
inline constexpr Needs kNeedsNothing{};
inline constexpr Needs kNeedsInputs{Needs::kAll, 0};
inline constexpr Needs kNeedsOtherInput{.inputs = Needs::kAll, .other = true};  // products
inline constexpr Needs kNeedsOutputs{0, Needs::kAll};
inline constexpr Needs kNeedsAll{Needs::kAll, Needs::kAll};
constexpr Needs needs_inputs(std::initializer_list<int> list) {
  Needs n;
  for (const int i : list) n.inputs |= uint32_t{1} << i;
  return n;
}

// One call of a rule: gradients of the outputs are given, those of the inputs are wanted.
class GradContext {
 public:
  virtual ~GradContext() = default;

  const Op& op() const { return *op_; }
  const Attrs& attrs() const { return *attrs_; }
  template <class T>
  T attr(std::string_view name) const {
    return attr_as<T>(*op_, *attrs_, name);
  }
  virtual int num_inputs() const = 0;
  virtual int num_outputs() const = 0;
  // Values; only those that the rule's Needs name.
  virtual const Tensor& input(int i) const = 0;
  virtual const Tensor& output(int i) const = 0;
  // Known of every input and output.
  virtual const Shape& input_shape(int i) const = 0;
  virtual DType input_dtype(int i) const = 0;
  virtual const Shape& output_shape(int i) const = 0;
  virtual DType output_dtype(int i) const = 0;
  // The shapes as tensors for ops: int32 constants when every size is known (int64 when one does not fit),
  // Shape ops otherwise.
  virtual Tensor input_shape_tensor(int i) const = 0;
  virtual Tensor output_shape_tensor(int i) const = 0;

  // The gradient of output i: zeros of its shape where none came.
  virtual const Tensor& grad(int i = 0) = 0;
  virtual bool has_grad(int i) const = 0;
  // The same before slices are made dense; rules that can pass slices on look at this.
  virtual const Gradient& raw_grad(int i = 0) const = 0;
  // Whether anybody asks for the gradient of input i. Rules skip the work otherwise.
  virtual bool wants(int i) const = 0;
  virtual void set(int i, Gradient gradient) = 0;
  // Where gradients of input i add up, this op's included, for rules that stand for many ops and must add
  // each in its turn; nullptr where the caller keeps no sum: use set().
  virtual Gradient* sum(int i) { return (void)i, nullptr; }

 protected:
  const Op* op_ = nullptr;
  const Attrs* attrs_ = nullptr;
};

using GradientFn = std::function<void(GradContext&)>;

struct GradientRule {
  Needs needs;
  GradientFn fn;  // empty: the op is not differentiable, gradients stop at it
};

// The library's rules and the users': a later one replaces an earlier one.
void register_gradient(std::string_view op, Needs needs, GradientFn fn);
void register_not_differentiable(std::string_view op);
// nullptr when nothing is known of the op.
const GradientRule* find_gradient(const Op& op);

// The gradient of a broadcast: sums `grad` over the axes that `shape` did not have or had as 1.
Tensor sum_to_shape(const Tensor& grad, const Shape& shape);

// The same when sizes may be unknown: to the shape of input i.
Tensor sum_to_input(const Tensor& grad, const GradContext& g, int i);
Tensor zeros_like_input(const GradContext& g, int i);
Tensor reshape_to_input(const Tensor& t, const GradContext& g, int i);
// Shapes of inputs and outputs as vectors of an integer type, and as sizes where the rank is known.
Tensor input_dims(const GradContext& g, int i, DType dtype = DType::kInt64);
Tensor output_dims(const GradContext& g, int i, DType dtype = DType::kInt64);
Sizes input_sizes(const GradContext& g, int i);
Sizes output_sizes(const GradContext& g, int i);

// Registers in a constructor, for users' programs: rw::RegisterGradient r("MyOp", rule);
struct RegisterGradient {
  RegisterGradient(std::string_view op, GradientFn fn, Needs needs = kNeedsAll) {
    register_gradient(op, needs, std::move(fn));
  }
};

}  // namespace rw
