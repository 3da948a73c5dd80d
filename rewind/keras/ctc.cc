// Connectionist temporal classification: minus the log-probability of a labelling, over all ways to spread it
// over time. States of a labelling of L labels are blank, l1, blank, l2, ..., blank: S = 2 L + 1. A step
// stays, goes to the next state, or leaves out a blank between labels that differ.
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/function/functional.h"
#include "rewind/keras/loss_config.h"
#include "rewind/keras/losses.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/nn.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
inline namespace losses {
namespace {

constexpr int kBlank = 0;
constexpr int64_t kUnrolled = 32;  // steps of known number that are written out
// What is impossible has this log-probability beside the rest, as in TensorFlow, so that sums stay finite.
constexpr double kLogZero = -706.893623549172;  // log(1e-307)
constexpr double kNoState = -1e30;

// x (batch, states) moved to later states by `by`.
Tensor shifted(const Tensor& x, int64_t by) {
  const Sizes sizes = sizes_of(x);
  const Tensor front = fill_sizes({sizes[0], Size(by)}, scalar_tensor(kNoState, x.dtype()));
  return concat({front, x(Slice(), Slice(0, -by))}, 1);
}

Tensor log_sum_exp(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor largest = stop_gradient(maximum(maximum(a, b), c));
  return largest + math::log(exp(a - largest) + exp(b - largest) + exp(c - largest));
}

}  // namespace

Tensor ctc(const Operand& y_true, const Operand& y_pred) {
  if (y_true.shape().has_rank() && y_true.shape().rank() != 2)
    fail_invalid(
        "ctc",
        "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in integer "
        "format: got shape " +
            y_true.shape().to_string());
  const Tensor& given = y_pred.tensor();
  if (given.rank() != 3)
    fail_invalid("ctc",
                 "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, "
                 "num_classes)`: got shape " +
                     given.shape().to_string());
  const Tensor logits = given.dtype() == float32 ? given : cast(given, float32);
  const Tensor labels = cast(y_true.tensor(), int32);
  const Sizes label_sizes = sizes_of(labels);
  const Tensor length = reduce_sum(cast(labels != kBlank, int32), {-1});  // (batch)

  // Labels of the states, and where a blank may be left out.
  const Tensor blanks = zeros_like(labels);
  const Tensor pairs = stack({blanks, labels}, 2);
  const Tensor flat = reshape_sizes(pairs, {label_sizes[0], label_sizes[1] * Size(2)});
  const Tensor states =
      concat({flat, fill_sizes({label_sizes[0], Size(1)}, constant(kBlank))}, 1);  // (batch, S)
  const Tensor two_before =
      concat({fill_sizes({label_sizes[0], Size(2)}, constant(kBlank)), states(Slice(), Slice(0, -2))}, 1);
  const Tensor may_skip = logical_and(states != kBlank, states != two_before);
  const Tensor skip_cost = where(may_skip, constant(0.0), constant(kLogZero));

  // (time, batch, S)
  const Tensor by_class = transpose(nn::log_softmax(logits), {0, 2, 1});
  const Tensor emitted = transpose(gather(by_class, states, 1, 1), {2, 0, 1});

  const Size count = label_sizes[1] * Size(2) + Size(1);
  const Tensor place = range(count.tensor(int32));  // (S)
  const Tensor start = where(place == 0, constant(0.0), constant(kLogZero));
  const Tensor first = zeros_like(emitted[0]) + start;
  const auto step = [&](const Tensor& before, const Tensor& e) {
    return log_sum_exp(before, shifted(before, 1), shifted(before, 2) + skip_cost) + e;
  };
  Tensor last = first;
  const int64_t time = emitted.shape()[0];
  if (time >= 0 && time <= kUnrolled) {
    for (int64_t t = 0; t < time; ++t) last = step(last, emitted[t]);
  } else {
    last = foldl(step, emitted, first);
  }
  const Tensor end = expand_dims(length * 2, 1);
  const Tensor is_end = logical_or(equal(place, end), equal(place, end - 1));
  const Tensor total = reduce_logsumexp(last + where(is_end, constant(0.0), constant(kLogZero)), {-1});
  const Tensor loss = negative(total);
  return given.dtype() == float64 ? cast(loss, float64) : loss;
}

CTC::CTC(const LossOptions& o)
    : Loss("ctc", [](const Tensor& y, const Tensor& p) { return LossValues(ctc(y, p)); }, o) {
  set_origin(described<CTC>(*this, o));
}

}  // namespace losses
}  // namespace rw::keras
