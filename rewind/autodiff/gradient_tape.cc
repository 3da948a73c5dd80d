#include "rewind/autodiff/gradient_tape.h"

#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/tape.h"
#include "rewind/base/error.h"
#include "rewind/runtime/variable_cell.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {

GradientTape::GradientTape(GradientTapeOptions options)
    : tape_(std::make_unique<Tape>(options.persistent, options.watch_accessed_variables)) {}
GradientTape::~GradientTape() { release_recorder(std::move(tape_)); }

void GradientTape::watch(const Tensor& tensor) { tape_->watch(tensor); }
void GradientTape::watch(const Variable& variable) { tape_->watch(variable); }
void GradientTape::watch(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) tape_->watch(t);
}
void GradientTape::watch(const std::vector<Variable>& variables) {
  for (const Variable& v : variables) tape_->watch(v);
}
void GradientTape::watch_all(structure::Sources sources) {
  for (const structure::Source& s : sources)
    s.is_variable() ? tape_->watch(s.variable()) : tape_->watch(s.tensor());
}

std::vector<Gradient> GradientTape::flat_gradient(const std::vector<Tensor>& targets,
                                                  const std::vector<Tensor>& sources,
                                                  const GradientOptions& options) {
  for (const Tensor& t : targets)
    if (!t.defined()) fail_invalid("GradientTape", "a target is an undefined tensor");
  for (const Tensor& s : sources)
    if (!s.defined()) fail_invalid("GradientTape", "a source is an undefined tensor");
  std::vector<Gradient> gradients = tape_->gradient(targets, sources, options.output_gradients);
  if (options.unconnected_gradients == UnconnectedGradients::NONE) return gradients;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!gradients[i].none()) continue;
    if (sources[i].dtype() == DType::kResource) {
      VariableCell& cell = variable_of(sources[i].impl()->view(), "GradientTape");
      gradients[i] = filled(cell.value.dtype, cell.value.shape, 0);
    } else {
      gradients[i] = zeros_of(sources[i]);
    }
  }
  return gradients;
}

std::vector<Variable> GradientTape::watched_variables() const {
  tape_->check_thread();
  return tape_->watched_variables();
}
void GradientTape::reset() { tape_->reset(); }
void GradientTape::stop() { tape_->stop(); }

GradientTape::Pause::Pause(Tape& tape) : tape(tape), was(tape.paused) {
  tape.check_thread();
  tape.paused = true;
}
GradientTape::Pause::~Pause() { tape.paused = was; }

}  // namespace rw
