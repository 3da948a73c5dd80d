#include "rewind/keras/model_host.h"

#include <algorithm>
#include <numeric>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/backup_and_restore.h"
#include "rewind/keras/progress_bar.h"
#include "rewind/keras/resume.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

void ModelHost::resume_from(const TrainingPosition& position) {
  if (!begin_at)
    fail_precondition("resume_from", "a callback may say where fit begins in on_train_begin only");
  begin_at(position);
}

CallbackList listeners(const std::vector<CallbackRef>& given, int verbose) {
  std::vector<CallbackRef> ordered = given;
  CallbackList list(given);
  if (verbose > 0 && !list.find<ProgressBar>()) ordered.push_back(ProgressBar());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const CallbackRef& c) { return !dynamic_cast_to<BackupAndRestore*>(&*c); });
  return CallbackList(std::move(ordered));
}

Logs numbers(const std::vector<std::string>& names, const std::vector<Tensor>& values) {
  return Logs([names, values](Logs& logs) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
    for (const size_t i : order) {
      const Tensor mean = values[i].rank() > 0 ? reduce_mean(cast(values[i], DType::kFloat32)) : values[i];
      logs.set(names[i], mean.dtype() == DType::kFloat32 ? double(mean.item<float>())
                                                         : cast(mean, DType::kFloat64).item<double>());
    }
  });
}

void refuse_sample_weight(const char* tag, const Tensor& weights) {
  if (weights.defined())
    fail_invalid(tag,
                 "sample_weight goes with arrays; a dataset has the weights in its elements: (x, y, "
                 "sample_weight)");
}

int64_t shorter(int64_t steps, int64_t limit) {
  return limit > 0 && (steps < 0 || limit < steps) ? limit : steps;
}

std::vector<std::string> save_states(const CallbackList& callbacks) {
  std::vector<std::string> states;
  for (const CallbackRef& c : callbacks.list())
    if (std::string state = c->save_state(); !state.empty()) states.push_back(std::move(state));
  return states;
}

void load_states(const CallbackList& callbacks, const std::vector<std::string>& states) {
  if (states.empty()) return;
  size_t next = 0;
  for (const CallbackRef& c : callbacks.list()) {
    if (c->save_state().empty()) continue;
    if (next < states.size()) c->load_state(states[next]);
    ++next;
  }
  if (next != states.size())
    fail_position("it has the state of " + std::to_string(states.size()) + " callbacks, and this fit has " +
                  std::to_string(next) + " that keep one");
}

}  // namespace rw::keras
