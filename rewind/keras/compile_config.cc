// What a model was compiled with, as Keras writes it: optimizer, losses, weights of losses, metrics. Losses
// and metrics are one, a list, or a dictionary by the names of the outputs.
#include <algorithm>
#include <map>

#include "rewind/base/error.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/registry.h"
#include "rewind/keras/trainer.h"

namespace rw::keras {
namespace {

// ---- writing ----------------------------------------------------------------------------------------------

Config loss_config(const Loss& loss) {
  return loss && loss.by_name() ? Config(loss.given_name()) : to_config(loss);
}

Config losses_config(const Losses& losses) {
  if (losses.empty()) return nullptr;
  if (losses.one_for_all()) return loss_config(losses.list()[0]);
  Config::Array out;
  for (const Loss& loss : losses.list()) out.push_back(loss_config(loss));
  return out;
}

Config metrics_config(const std::vector<MetricChoice>& metrics) {
  Config::Array out;
  for (const MetricChoice& m : metrics)
    out.push_back(m.name().empty() ? to_config(*m.metric()) : Config(m.name()));
  return out;
}

// ---- reading ----------------------------------------------------------------------------------------------

Loss read_loss(const Config& c) {
  Loss loss;
  from_config(c, &loss);
  return loss;
}

// Losses in the structure of the outputs, dictionaries by their keys.
void add_losses(const Config& c, std::vector<Loss>* out) {
  if (c.list()) {
    for (const Config& item : *c.list()) add_losses(item, out);
  } else if (c.members() && !c.find("class_name")) {
    std::map<std::string, const Config*> sorted;
    for (const auto& [key, value] : *c.members()) sorted[key] = &value;
    for (const auto& [key, value] : sorted) add_losses(*value, out);
  } else {
    out->push_back(c.is_null() ? Loss() : read_loss(c));
  }
}

Losses read_losses(const Config& c, const std::vector<std::string>& outputs) {
  if (c.is_null()) return {};
  std::vector<Loss> list;
  if (c.text() || c.find("class_name")) return read_loss(c);
  const auto is_structure = [](const auto& member) {
    return member.second.list() || (member.second.members() && !member.second.find("class_name"));
  };
  if (c.list() || (c.members() && std::any_of(c.members()->begin(), c.members()->end(), is_structure))) {
    add_losses(c, &list);
    return list;
  }
  for (const std::string& name : outputs) {
    const Config* one = c.find(name);
    list.push_back(one ? read_loss(*one) : Loss());
  }
  return list;
}

// {"class_name": "MeanMetricWrapper", "config": {"name": "accuracy", "fn": "categorical_accuracy"}}: what
// Keras 2 made of a name.
std::optional<MetricChoice> read_wrapped_metric(const Config& c) {
  const Config* kind = c.find("class_name");
  const Config* options = c.find("config");
  const Config* fn = options ? options->find("fn") : nullptr;
  if (!kind || !(*kind == Config("MeanMetricWrapper")) || !fn || !fn->text()) return {};
  const Metric metric(*fn->text());
  if (const Config* name = options->find("name"); name && name->text()) metric.rename(*name->text());
  return MetricChoice(metric);
}

MetricChoice read_metric(const Config& c) {
  if (const auto wrapped = read_wrapped_metric(c)) return *wrapped;
  if (c.text() && !class_registry().metrics.find(*c.text())) return *c.text();
  return metric_from_config(c);
}

// A list of metrics, or one.
std::vector<MetricChoice> read_metrics(const Config& c) {
  std::vector<MetricChoice> out;
  if (c.is_null()) return out;
  if (!c.list()) return {read_metric(c)};
  for (const Config& x : *c.list()) out.push_back(read_metric(x));
  return out;
}

bool by_output(const Config& c) {
  if (c.members()) return !c.find("class_name");
  return c.list() && !c.list()->empty() && (*c.list())[0].list();
}

std::vector<std::vector<MetricChoice>> read_output_metrics(const Config& c,
                                                           const std::vector<std::string>& outputs) {
  std::vector<std::vector<MetricChoice>> out;
  if (c.list()) {
    for (const Config& x : *c.list()) out.push_back(read_metrics(x));
    return out;
  }
  for (const std::string& name : outputs) {
    const Config* one = c.find(name);
    out.push_back(one ? read_metrics(*one) : std::vector<MetricChoice>());
  }
  return out;
}

std::vector<double> read_loss_weights(const Config& c, const std::vector<std::string>& outputs) {
  std::vector<double> out;
  if (c.is_null()) return out;
  if (!c.members()) {
    from_config(c, &out);
    return out;
  }
  for (const std::string& name : outputs) {
    double weight = 1;
    if (const Config* one = c.find(name)) from_config(*one, &weight);
    out.push_back(weight);
  }
  return out;
}

}  // namespace

const CompileOptions* Model::compile_options() const {
  const std::shared_ptr<Trainer> t = layer_state()->trainer_now();
  return t && t->compiled ? &t->options : nullptr;
}

static Config output_metrics_config(const std::vector<std::vector<MetricChoice>>& lists,
                                    const std::vector<MetricChoice>& one) {
  if (lists.empty()) return one.empty() ? Config() : metrics_config(one);
  Config::Array out;
  for (const auto& list : lists) out.push_back(metrics_config(list));
  return out;
}

Config compile_config(const Model& model) {
  const CompileOptions* o = model.compile_options();
  Config out = Config::object();
  if (!o) return out;
  out["optimizer"] = to_config(o->optimizer);
  if (const Config& before = model.layer_state()->trainer_now()->written; before.members()) {
    for (const auto& [name, value] : *before.members())
      if (name != "optimizer") out[name] = value;
    return out;
  }
  out["loss"] = losses_config(o->loss);
  out["loss_weights"] = o->loss_weights.empty() ? Config() : to_config(o->loss_weights);
  out["metrics"] = output_metrics_config(o->output_metrics, o->metrics);
  out["weighted_metrics"] = output_metrics_config(o->output_weighted_metrics, o->weighted_metrics);
  out["run_eagerly"] = o->run_eagerly;
  out["steps_per_execution"] = 1;
  out["jit_compile"] = false;
  return out;
}

void compile_from_config(Model& model, const Config& config) {
  if (!config.members()) fail_config("what a model is compiled with as an object", config);
  const std::vector<std::string> outputs = model.output_names();
  CompileOptions o;
  ConfigFields f = ConfigFields::reading(config, "compile");
  auto each = [&](const char* name, const std::function<void(const Config&)>& use) {
    const Config* c = f.take(name);
    if (c && !c->is_null()) f.read(name, [&] { use(*c); });
  };
  each("optimizer", [&](const Config& c) { o.optimizer = optimizer_from_config(c); });
  each("loss", [&](const Config& c) { o.loss = read_losses(c, outputs); });
  each("loss_weights", [&](const Config& c) { o.loss_weights = read_loss_weights(c, outputs); });
  each("metrics", [&](const Config& c) {
    if (!by_output(c)) o.metrics = read_metrics(c);
    else if (outputs.size() <= 1 && c.list()) o.metrics = read_metrics((*c.list())[0]);
    else o.output_metrics = read_output_metrics(c, outputs);
  });
  each("weighted_metrics", [&](const Config& c) {
    if (!by_output(c)) o.weighted_metrics = read_metrics(c);
    else if (outputs.size() <= 1 && c.list()) o.weighted_metrics = read_metrics((*c.list())[0]);
    else o.output_weighted_metrics = read_output_metrics(c, outputs);
  });
  each("run_eagerly", [&](const Config& c) { from_config(c, &o.run_eagerly); });
  f.ignore("steps_per_execution");
  f.ignore("jit_compile");
  f.ignore("auto_scale_loss");
  model.compile(o);
  model.layer_state()->trainer_now()->written = config;
  if (model.built()) model.optimizer().build(model.trainable_weights());
}

}  // namespace rw::keras
