// Model: compile, and what one step of training, testing and predicting does.
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/function/function.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/loss_scale_optimizer.h"
#include "rewind/keras/model.h"
#include "rewind/keras/trainer.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

std::vector<Tensor> values_of(const StepLogs& logs, std::vector<std::string>* names) {
  std::vector<Tensor> values;
  names->clear();
  for (const auto& [name, value] : logs) {
    names->push_back(name);
    values.push_back(value);
  }
  return values;
}

}  // namespace

void Model::compile(const CompileOptions& options) {
  LayerState& s = *layer_state();
  const std::lock_guard turn(s.training);
  const auto made = std::make_shared<Trainer>(options, true);
  Optimizer& optimizer = made->options.optimizer;
  if (options.auto_scale_loss && s.policy.name() == "mixed_float16" && !optimizer.adapts_loss_scale())
    optimizer = LossScaleOptimizer(optimizer, {.name = "loss_scale_optimizer"});
  made->output_names = made->loss_names = output_names();
  if (const FunctionalGraph* g = graph(); g && g->output_structure.is_nested())
    made->loss_names = g->output_structure.paths(made->output_names);
  made->compiled_unbuilt = !built();
  {
    const std::lock_guard lock(s.mutex);
    s.trainer = made;
  }
  tell_new_children(*this);
}

bool Model::compiled() const {
  const std::shared_ptr<Trainer> t = layer_state()->trainer_now();
  return t && t->compiled;
}

Trainer& Model::trainer() const {
  if (!compiled())
    fail_precondition(name(), "You must call `compile()` before fit(), evaluate() or a step. Model \"" +
                                  name() + "\" was not compiled");
  return *layer_state()->trainer_now();
}

const Optimizer& Model::optimizer() const { return trainer().options.optimizer; }
std::vector<Metric> Model::metrics() const { return trainer().metrics(); }
void Model::reset_metrics() const { trainer().reset_metrics(); }
void Model::set_stop_training(bool stop) const {
  trainer();
  const std::shared_ptr<Trainer> t = layer_state()->trainer_now();
  const std::lock_guard lock(t->mutex);
  if (t->host) t->host->stop_training = stop;
}

std::vector<std::string> Model::output_names() const {
  std::vector<std::string> names;
  if (const FunctionalGraph* g = graph();
      g && g->output_structure.kind == TensorStructure::Kind::kDict && !g->output_structure.is_nested())
    return g->output_structure.keys;
  for (const KerasTensor& y : outputs()) names.push_back(y.name());
  return names;
}
size_t Model::input_count() const { return graph() ? graph()->inputs().size() : 1; }
size_t Model::output_count() const { return graph() ? graph()->outputs().size() : 1; }

StepLogs Model::train_step(const Batch& batch) {
  if (behind_) return behind_->train_step(batch);
  Trainer& t = trainer();
  const CallContext context;  // masks of the outputs reach the loss
  layer_state()->clear_losses();
  GradientTape tape;
  const std::vector<Tensor> y_pred = all(batch.x, {.training = true});
  const Tensor loss = t.options.optimizer.scale_loss(compute_loss(batch, y_pred));
  const std::vector<Variable> weights = trainable_weights();
  if (!weights.empty()) t.options.optimizer.apply_gradients(tape.gradient(loss, weights), weights);
  return compute_metrics(batch, y_pred);
}

StepLogs Model::test_step(const Batch& batch) {
  if (behind_) return behind_->test_step(batch);
  const CallContext context;
  layer_state()->clear_losses();
  const std::vector<Tensor> y_pred = all(batch.x, {.training = false});
  compute_loss(batch, y_pred);
  return compute_metrics(batch, y_pred);
}

std::vector<Tensor> Model::predict_step(const Batch& batch) {
  return behind_ ? behind_->predict_step(batch) : all(batch.x, {.training = false});
}

Tensor Model::compute_loss(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (behind_) return behind_->compute_loss(batch, y_pred);
  Trainer& t = trainer();
  Tensor loss = t.loss_of(batch, y_pred);
  for (const Tensor& more : losses()) {
    const Tensor term = cast(more, DType::kFloat32);
    loss = loss.defined() ? loss + term : term;
  }
  if (!loss.defined())
    fail_precondition(
        name(),
        "No loss to compute. Give compile() a `loss`, or add one by `add_loss()` in a layer of model \"" +
            name() + "\"");
  t.note_loss(loss, batch);
  return loss;
}

StepLogs Model::compute_metrics(const Batch& batch, const std::vector<Tensor>& y_pred) {
  if (behind_) return behind_->compute_metrics(batch, y_pred);
  trainer().update_metrics(batch, y_pred);
  return trainer().results();
}

void Model::build_from(const Batch& batch) {
  if (built()) return;
  const std::lock_guard building(tracing_mutex());
  if (built()) return;
  const auto trace = Ref<Trace>::adopt(new Trace(name()));
  trace->is_trial = true;
  const TraceScope scope(*trace);
  std::vector<Tensor> symbols;
  for (const Tensor& x : batch.x) {
    Shape shape = x.shape();
    if (shape.rank() > 0) shape.set(0, Shape::kUnknown);
    symbols.push_back(trace->add_argument(x.dtype(), shape));
  }
  try {
    all(symbols);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // A model that needs the size of its batches is built by its first step, which tells what else is wrong.
  }
  layer_state()->clear_losses();
}

void Model::make_metrics(const Batch& batch) {
  const std::lock_guard tracing(tracing_mutex());
  const auto trace = Ref<Trace>::adopt(new Trace(name()));
  const TraceScope scope(*trace);
  auto symbol = [&](const Tensor& t) {
    return t.defined() ? trace->add_argument(t.dtype(), t.shape()) : Tensor();
  };
  Batch symbols{{}, {}, symbol(batch.sample_weight)};
  for (const Tensor& x : batch.x) symbols.x.push_back(symbol(x));
  for (const Tensor& y : batch.y) symbols.y.push_back(symbol(y));
  test_step(symbols);
  layer_state()->clear_losses();
}

// Steps call this object; another one, with the same weights, makes its own.
std::shared_ptr<TrainerSteps> Model::make_steps() {
  LayerState& s = *layer_state();
  std::unique_lock state_lock(s.mutex);
  if (!s.trainer) s.trainer = std::make_shared<Trainer>(CompileOptions(), false);
  const std::shared_ptr<Trainer> kept = s.trainer;
  state_lock.unlock();
  Trainer& t = *kept;
  const std::lock_guard lock(t.mutex);
  if (t.steps && t.steps->owner == this) return t.steps;
  const auto all = std::make_shared<TrainerSteps>();
  TrainerSteps* steps = all.get();
  steps->owner = this;
  auto made = [&](const char* what, int64_t budget, auto step) -> TrainerSteps::Step {
    if (t.options.run_eagerly || !t.options.jit)
      return [step](const Batch& b) { return step(b.x, b.y, b.sample_weight); };
    auto f = function(step, {.name = what, .memory_budget = budget});
    return [f](const Batch& b) { return f(b.x, b.y, b.sample_weight); };
  };
  using List = const std::vector<Tensor>&;
  steps->train = made("train_step", t.options.memory_budget, [this, steps](List x, List y, const Tensor& w) {
    return values_of(train_step({x, y, w}), &steps->train_names);
  });
  steps->test = made("test_step", 0, [this, steps](List x, List y, const Tensor& w) {
    return values_of(test_step({x, y, w}), &steps->test_names);
  });
  steps->predict =
      made("predict_step", 0, [this](List x, List y, const Tensor& w) { return predict_step({x, y, w}); });
  return t.steps = all;
}

}  // namespace rw::keras
