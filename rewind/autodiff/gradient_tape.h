// GradientTape: records what happens in its scope and differentiates it.
//
//   rw::GradientTape tape;
//   tape.watch(x);
//   auto y = x * x;
//   rw::Tensor dy_dx = tape.gradient(y, x);
//
// A tape records the ops of the thread that made it, until gradient(), stop() or the end of its scope. While
// it records, its members throw FailedPreconditionError on other threads; behind stop() one thread at a time
// may use it, whichever. Any thread may destroy it.
#pragma once

#include <memory>
#include <vector>

#include "rewind/autodiff/gradient.h"
#include "rewind/autodiff/structure.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"

namespace rw {

class Tape;

struct GradientTapeOptions {
  bool persistent = false;
  bool watch_accessed_variables = true;
};

enum class UnconnectedGradients { NONE, ZERO };

struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  // one per target; empty: ones
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::NONE;
};

class GradientTape {
 public:
  explicit GradientTape(GradientTapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  void watch(const Tensor& tensor);
  void watch(const Variable& variable);
  void watch(const std::vector<Tensor>& tensors);
  void watch(const std::vector<Variable>& variables);
  // In braces, as the sources of gradient().
  template <class = void>
  void watch(structure::Sources sources) {
    watch_all(sources);
  }
  void watch(structure::SourceRows rows) {
    for (const structure::Sources& row : rows) watch_all(row);
  }

  // d target / d sources, in the structure of the sources. Several targets add up.
  template <class S>
  structure::ResultOf<S> gradient(const Tensor& target, const S& sources,
                                  const GradientOptions& options = {}) {
    return gradient_of({target}, sources, options);
  }
  template <class S>
  structure::ResultOf<S> gradient(const std::vector<Tensor>& targets, const S& sources,
                                  const GradientOptions& options = {}) {
    return gradient_of(targets, sources, options);
  }
  // In braces: gradient(y, {w, b}), gradient(y, {{w1, b1}, {w2, b2}}). The template is taken only where the
  // other one does not fit, so that {{w}} is a list of lists.
  template <class = void>
  std::vector<Gradient> gradient(const Tensor& target, structure::Sources sources,
                                 const GradientOptions& options = {}) {
    return gradient_of({target}, sources, options);
  }
  std::vector<std::vector<Gradient>> gradient(const Tensor& target, structure::SourceRows sources,
                                              const GradientOptions& options = {}) {
    return gradient_of({target}, sources, options);
  }
  template <class = void>
  std::vector<Gradient> gradient(const std::vector<Tensor>& targets, structure::Sources sources,
                                 const GradientOptions& options = {}) {
    return gradient_of(targets, sources, options);
  }
  std::vector<std::vector<Gradient>> gradient(const std::vector<Tensor>& targets,
                                              structure::SourceRows sources,
                                              const GradientOptions& options = {}) {
    return gradient_of(targets, sources, options);
  }

  // Variables are followed through their handles.
  std::vector<Gradient> flat_gradient(const std::vector<Tensor>& targets, const std::vector<Tensor>& sources,
                                      const GradientOptions& options);

  // d target[i...] / d source[j...], of shape target.shape + source.shape: one vectorised backward pass.
  template <class S>
  structure::ResultOf<S> jacobian(const Tensor& target, const S& sources,
                                  UnconnectedGradients unconnected = UnconnectedGradients::NONE) {
    return jacobian_of(target, sources, unconnected);
  }
  template <class = void>
  std::vector<Gradient> jacobian(const Tensor& target, structure::Sources sources,
                                 UnconnectedGradients unconnected = UnconnectedGradients::NONE) {
    return jacobian_of(target, sources, unconnected);
  }
  std::vector<std::vector<Gradient>> jacobian(const Tensor& target, structure::SourceRows sources,
                                              UnconnectedGradients unconnected = UnconnectedGradients::NONE) {
    return jacobian_of(target, sources, unconnected);
  }
  std::vector<Gradient> flat_jacobian(const Tensor& target, const std::vector<Tensor>& sources,
                                      UnconnectedGradients unconnected);
  // For targets whose row i depends on row i of the source alone: shape (batch, target..., source...).
  Gradient batch_jacobian(const Tensor& target, const Tensor& source,
                          UnconnectedGradients unconnected = UnconnectedGradients::NONE);
  Gradient batch_jacobian(const Tensor& target, const Variable& source,
                          UnconnectedGradients unconnected = UnconnectedGradients::NONE);

  std::vector<Variable> watched_variables() const;
  // Runs f without recording on this tape.
  template <class F>
  void stop_recording(F&& f) {
    Pause pause(*tape_);
    f();
  }
  // Forgets everything, as if the tape were new.
  void reset();
  // Ends recording; gradient() does so by itself on a tape that is not persistent.
  void stop();

  Tape& tape() { return *tape_; }

 private:
  template <class S>
  structure::ResultOf<S> gradient_of(const std::vector<Tensor>& targets, const S& sources,
                                     const GradientOptions& options) {
    const std::vector<Gradient> flat = flat_gradient(targets, structure::flatten(sources), options);
    const Gradient* at = flat.data();
    return structure::Traits<S>::pack(sources, at);
  }
  template <class S>
  structure::ResultOf<S> jacobian_of(const Tensor& target, const S& sources,
                                     UnconnectedGradients unconnected) {
    const std::vector<Gradient> flat = flat_jacobian(target, structure::flatten(sources), unconnected);
    const Gradient* at = flat.data();
    return structure::Traits<S>::pack(sources, at);
  }
  void watch_all(structure::Sources sources);
  // `value` is the source, or what the variable holds whose handle that is.
  Gradient batch_jacobian_of(const Tensor& target, const Tensor& source, const Tensor& value,
                             UnconnectedGradients unconnected);
  struct Pause {
    explicit Pause(Tape& tape);
    ~Pause();
    Tape& tape;
    bool was;
  };
  std::unique_ptr<Tape> tape_;
};

}  // namespace rw
