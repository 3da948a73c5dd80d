#include "rewind/function/while_loop.h"

#include "rewind/base/error.h"
#include "rewind/function/loop_staging.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::detail {

bool tracing() { return current_trace() != nullptr; }
bool is_batch(const Tensor& predicate) { return predicate.impl()->kind == TensorKind::kBatched; }

int64_t iteration_limit(const Tensor& maximum_iterations) {
  if (!maximum_iterations.defined()) return -1;
  const Tensor wide = cast(maximum_iterations, DType::kInt64);
  if (wide.size() != 1)
    fail_invalid("while_loop", "maximum_iterations must be a scalar: got shape " + wide.shape().to_string());
  return std::max<int64_t>(0, wide.item<int64_t>());
}

TensorList stage_while(LoopCond cond, LoopBody body, const LoopState& initial,
                       const WhileLoopOptions& options) {
  LoopStaging loop("while_loop", initial, options);
  for (bool held = false; !held;) {
    loop.close_condition(cond(loop.open_condition()));
    BodyResult results;
    NestWriter writer = results.writer();
    body(loop.open_body(), writer);
    held = loop.close_body(results);
  }
  return loop.finish();
}

}  // namespace rw::detail
