#include "rewind/keras/layers/tfsm_layer.h"

#include "rewind/base/error.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/loading_scope.h"
#include "rewind/keras/registry.h"
#include "rewind/saved/loaded_model.h"

namespace rw::keras {
namespace {

struct TFSMLayerArguments {
  using Made = TFSMLayer;
  std::string filepath;
  TFSMLayerOptions options = {};
  TFSMLayer make() const {
    if (const LoadingScope* loading = LoadingScope::current(); loading && loading->safe_mode())
      fail_invalid("from_config", "layer \"" + options.name +
                                      "\" is a TFSMLayer, which opens the SavedModel " + filepath +
                                      ": safe_mode refuses it; {.safe_mode = false} opens it");
    return TFSMLayer(filepath, options);
  }
};
void fields(ConfigFields& f, TFSMLayerArguments& a) {
  f("filepath", a.filepath);
  f("call_endpoint", a.options.call_endpoint);
  f.or_null("call_training_endpoint", a.options.call_training_endpoint);
}

bool is_signature(const saved_model::LoadedModel& model, const std::string& endpoint) {
  return !model.has_function(endpoint) && model.signatures().contains(endpoint);
}

void check_endpoint(const saved_model::LoadedModel& model, const std::string& endpoint) {
  if (model.has_function(endpoint) || model.signatures().contains(endpoint)) return;
  std::string all;
  for (const std::string& name : model.function_names()) all += (all.empty() ? "" : ", ") + name;
  for (const auto& [name, signature] : model.signatures()) all += (all.empty() ? "" : ", ") + name;
  fail_invalid("TFSMLayer", "the endpoint \"" + endpoint + "\" is neither a function nor a signature of " +
                                model.path() + "; available: " + all);
}

std::vector<Tensor> call_signature(const saved_model::SignatureFunction& signature, const std::string& layer,
                                   const std::vector<Tensor>& inputs) {
  if (inputs.size() != signature.inputs().size())
    fail_invalid(layer, "the signature takes " + std::to_string(signature.inputs().size()) + " inputs: got " +
                            std::to_string(inputs.size()));
  std::map<std::string, Tensor> named;
  size_t i = 0;
  for (const auto& [name, spec] : signature.inputs()) named[name] = inputs[i++];
  std::vector<Tensor> results;
  for (auto& [name, result] : signature(named)) results.push_back(result);
  return results;
}

}  // namespace

void add_tfsm_classes(ClassRegistry& r) { add_class<TFSMLayerArguments>(r.layers); }

TFSMLayer::TFSMLayer(const std::string& filepath, const TFSMLayerOptions& options)
    : LayerOf(layer_options(options)),
      loaded_(std::make_shared<const saved_model::LoadedModel>(saved_model::load(filepath))),
      options_(options) {
  check_endpoint(*loaded_, options.call_endpoint);
  if (!options.call_training_endpoint.empty()) check_endpoint(*loaded_, options.call_training_endpoint);
  for (const Variable& v : loaded_->trainable_variables()) layer_state()->add_listed(v);
  for (const Variable& v : loaded_->non_trainable_variables()) layer_state()->add_listed(v);
  set_origin(origin_of(TFSMLayerArguments{filepath, options}));
  set_built();
}

std::vector<Tensor> TFSMLayer::call_many(const std::vector<Tensor>& inputs, const CallArgs& args) {
  const bool trains = args.is_training() && !options_.call_training_endpoint.empty();
  const std::string& endpoint = trains ? options_.call_training_endpoint : options_.call_endpoint;
  if (is_signature(*loaded_, endpoint))
    return call_signature(loaded_->signatures().at(endpoint), name(), inputs);
  if (inputs.size() == 1) return loaded_->function(endpoint).call({inputs[0]});
  return loaded_->function(endpoint).call({saved_model::Value(inputs)});
}

}  // namespace rw::keras
