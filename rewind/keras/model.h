// Model: layers that train together. Made from symbolic tensors (the functional API), or by a subclass with
// layers as members and a call() of its own.
//
//   keras::Model model(x, {y1, y2});
//
//   struct Net : keras::Model {
//     keras::Dense hidden{100, {.activation = "relu"}}, out{10};
//     rw::Tensor call(const rw::Tensor& x, const keras::CallArgs&) override { return out(hidden(x)); }
//     RW_TRACK(hidden, out)
//   };
//
// Threads: any number may call the model, predict with it and save its weights, also while one trains.
// fit, evaluate and single steps of one model take turns: a second thread waits until the first is done.
// Layers come and go (add, pop) while no other thread uses the model.
#pragma once

#include <iosfwd>

#include "rewind/format/expansion_limit.h"
#include "rewind/keras/layer_ref.h"
#include "rewind/keras/training.h"
#include "rewind/module/saved_variables.h"

namespace rw::data {
class Dataset;
}

namespace rw::keras {

class BatchSource;
class FunctionalGraph;
class Trainer;
struct TrainerSteps;

struct SummaryOptions {
  int line_length = 0;  // 0: what fits the terminal, at most Keras' default
  bool expand_nested = false;
  bool show_trainable = false;
};

struct SaveWeightsOptions {
  // Also what training goes on with: the optimizer's counter, rate and slots, and the state of random layers.
  bool training_state = false;
  // And where it stands: History::position, or in a callback host().position().
  std::optional<TrainingPosition> position = {};
};
struct LoadWeightsOptions {
  bool training_state = false;
  bool skip_mismatch = false;  // load what fits, leave the rest as it is
  bool by_name = false;        // of older .h5 files: layers by their names, others are left as they are
  format::ExpansionLimit limit = {};  // of what is compressed
};

struct SaveModelOptions {
  bool overwrite = true;          // a file that is there
  bool include_optimizer = true;  // of .h5 files: how the model is trained, and the optimizer's variables
};

struct LoadedWeights : LoadReport {
  // Where training stood, if the file says it, also when the training state was not asked for.
  std::optional<TrainingPosition> position = {};
};

class Model : public Layer {
 public:
  explicit Model(const LayerOptions& options = {});
  Model(const KerasTensors& inputs, const KerasTensors& outputs, const LayerOptions& options = {});
  // A model of another class as a Model, with all that its class does: keras::Model m =
  // keras::Sequential({...}).
  template <class M>
    requires(std::derived_from<std::remove_cvref_t<M>, Model> && !std::same_as<std::remove_cvref_t<M>, Model>)
  Model(M&& model)  // NOLINT: as pointers to classes become pointers to their bases
      : Model(Copying::inside(model) ? static_cast<const Model&>(model)
                                     : handle_of((Copying(model), LayerRef(std::forward<M>(model))))) {}
  template <class M>
    requires(std::derived_from<std::remove_cvref_t<M>, Model> && !std::same_as<std::remove_cvref_t<M>, Model>)
  Model& operator=(M&& model) {
    return *this = Model(std::forward<M>(model));
  }
  Model(const Model&) = default;
  Model(Model&&) = default;
  Model& operator=(const Model&) = default;
  Model& operator=(Model&&) = default;

  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;
  std::shared_ptr<Layer> clone() const override;
  const Model* as_model() const override { return this; }
  // Any model as a Model: a handle that keeps the object and does what its class does.
  static Model handle_of(const LayerRef& model);
  // The object behind such a handle, or this.
  const Model& object() const;

  // The layers of the model, from inputs to outputs; of a subclass, its members.
  virtual std::vector<LayerRef> layers() const;
  // Throws NotFoundError.
  LayerRef get_layer(const std::string& name) const;
  // Of a functional model.
  std::vector<KerasTensor> inputs() const;
  std::vector<KerasTensor> outputs() const;

  // ---- training (fit.cc, train_step.cc)
  // Says how the model is trained; steps are traced anew.
  void compile(const CompileOptions& options);
  bool compiled() const;
  // Trains: epochs over the data in batches, a compiled function a step.
  History fit(const Arrays& x, const Arrays& y, const FitOptions& options = {});
  // Elements are (x, y) or (x, y, sample_weight), in batches.
  History fit(const data::Dataset& dataset, const FitOptions& options = {});
  History fit(const data::Dataset& dataset, const data::Dataset& validation, const FitOptions& options = {});
  Logs evaluate(const Arrays& x, const Arrays& y, const EvaluateOptions& options = {});
  Logs evaluate(const data::Dataset& dataset, const EvaluateOptions& options = {});
  // The outputs for all examples.
  Tensor predict(const Arrays& x, const PredictOptions& options = {});
  std::vector<Tensor> predict_all(const Arrays& x, const PredictOptions& options = {});
  std::vector<Tensor> predict_all(const data::Dataset& dataset, const PredictOptions& options = {});
  // One step, and what the metrics give for this batch alone.
  Logs train_on_batch(const Arrays& x, const Arrays& y, const Tensor& sample_weight = {});
  Logs test_on_batch(const Arrays& x, const Arrays& y, const Tensor& sample_weight = {});

  // A step, for subclasses that train in another way. The default runs the model in training mode, takes the
  // gradient of compute_loss and applies the optimizer.
  virtual StepLogs train_step(const Batch& batch);
  virtual StepLogs test_step(const Batch& batch);
  virtual std::vector<Tensor> predict_step(const Batch& batch);
  // The compiled loss and what layers added; notes its mean.
  virtual Tensor compute_loss(const Batch& batch, const std::vector<Tensor>& y_pred);
  // Updates the compiled metrics and gives the values of all.
  virtual StepLogs compute_metrics(const Batch& batch, const std::vector<Tensor>& y_pred);

  // ---- keeping (save_weights.cc): the extension says how.
  //   .weights.h5   Keras 3's files; a compiled model's optimizer is in them
  //   .h5, .hdf5    Keras' older files: weights, or a whole model's, by the order of the layers
  //   .keras        only to load from: the weights of a whole model
  //   others        safetensors, .npz: the weights by their paths
  // Writes the file whole or not at all: under a temporary name, synced, renamed.
  void save_weights(const std::string& path, const SaveWeightsOptions& options = {}) const;
  // Throws NotFoundError, DataLossError for a damaged file (one with a position has a checksum), and
  // InvalidArgumentError, before anything is loaded, for one whose names, shapes or types do not fit. Layers
  // that were named by their class may have got other numbers in the model that was saved.
  LoadedWeights load_weights(const std::string& path, const LoadWeightsOptions& options = {}) const;

  // The whole model: keras::models::save_model (models.h).
  void save(const std::string& path, const SaveModelOptions& options = {}) const;

  const Optimizer& optimizer() const;
  std::vector<Metric> metrics() const;
  void reset_metrics() const;
  // Asks fit, while it runs, to end after the step at hand; from any thread.
  void set_stop_training(bool stop) const;

  // ---- configs (model_config.cc)
  // Of a functional model the layers and their calls; of a subclass what keras::saving knows of it.
  format::Json get_config() const override;
  // The architecture and how the model is trained, as Keras' model.to_json(); no weights.
  std::string to_json() const;

  // The table that Keras prints: to standard output, or as text.
  void summary(const SummaryOptions& options = {}) const;
  std::string summary_text(const SummaryOptions& options = {}) const;

  // What compile was given; null before it.
  const CompileOptions* compile_options() const;

  // For the library: null for subclasses and models that are not built.
  FunctionalGraph* own_graph() const { return graph_.get(); }
  virtual const FunctionalGraph* graph() const { return behind_ ? behind_->graph() : graph_.get(); }

 protected:
  Model(std::string class_name, const LayerOptions& options);

 public:
  // By which logs call the outputs.
  std::vector<std::string> output_names() const;

 private:
  // While a handle of a model is made: a class whose copy constructor says `: Model(other)` means its base.
  struct Copying {
    explicit Copying(const Layer& model);
    ~Copying();
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;
    static bool inside(const Layer& model);
    const LayerState* before;
  };
  Trainer& trainer() const;  // throws FailedPreconditionError before compile()
  std::shared_ptr<TrainerSteps> make_steps();
  // Makes the weights for batches of any size, as Keras does before it trains.
  void build_from(const Batch& batch);
  // Makes the metrics for such batches, which a step does otherwise.
  void make_metrics(const Batch& batch);
  size_t input_count() const;
  size_t output_count() const;
  History fit_on(BatchSource& training, BatchSource* validation, const FitOptions& options);
  Logs evaluate_alone(BatchSource& source, const EvaluateOptions& options);
  Logs evaluate_on(BatchSource& source, int64_t steps, CallbackList& callbacks);
  std::vector<Tensor> predict_on(BatchSource& source, const PredictOptions& options);

  std::shared_ptr<FunctionalGraph> graph_;
  std::shared_ptr<Layer> kept_;  // what behind_ is
  Model* behind_ = nullptr;      // of a handle: the object
};

}  // namespace rw::keras
