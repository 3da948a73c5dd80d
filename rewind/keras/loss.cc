#include "rewind/keras/loss.h"

#include "rewind/base/error.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/losses.h"
#include "rewind/tensor/ops/binary.h"

namespace rw::keras {

Loss::Loss(const char* name) : Loss(std::string(name)) {}
Loss::Loss(const std::string& name) {
  const Loss named = losses::get(name);
  set_origin(named.origin());
  State state = named.state();
  state.given_name = name;
  state_ = std::make_shared<State>(std::move(state));
}

Loss::Loss(const std::string& name, Call call, const LossOptions& options)
    : state_(std::make_shared<State>(
          State{options.name.empty() ? name : options.name, std::move(call), options, ""})) {
  check_reduction(options.reduction);
}

const Loss::State& Loss::state() const {
  if (!state_) fail_precondition("loss", "this loss is empty");
  return *state_;
}
const std::string& Loss::name() const { return state().name; }
const std::string& Loss::given_name() const {
  return state().given_name.empty() ? state().name : state().given_name;
}
const std::string& Loss::reduction() const { return state().options.reduction; }

LossValues Loss::call(const Operand& y_true, const Operand& y_pred) const {
  const DType dtype = state().options.dtype;
  // Class numbers stay integers: a cast there and back again would only cost.
  const Tensor& truth = y_true.tensor();
  const auto [a, b] =
      same_rank(is_floating(truth.dtype()) ? as_type(truth, dtype) : truth, as_type(y_pred.tensor(), dtype));
  return state().call(a, b);
}

Tensor Loss::operator()(const Operand& y_true, const Operand& y_pred, const Tensor& sample_weight,
                        const Tensor& mask) const {
  const LossValues out = call(y_true, y_pred);
  Tensor all = mask;
  if (out.mask.defined())
    all = mask.defined() ? as_type(mask, DType::kBool) & as_type(out.mask, DType::kBool) : out.mask;
  return reduce_weighted(as_type(out.values, state().options.dtype), sample_weight, all, reduction());
}

}  // namespace rw::keras
