// rewind saved_model show | run | check
#include <algorithm>
#include <set>

#include "cli/command.h"
#include "cli/saved_model_facts.h"

namespace rw::cli {
namespace {

using format::Json;
using saved_model::LoadedModel;

struct Options {
  std::string dir, signature = "serving_default", inputs, outputs;
  std::vector<std::string> tags, allowed;
};

LoadedModel open(const Options& o) {
  return saved_model::load(o.dir, {.tags = o.tags, .allowed_ops = o.allowed});
}

using Tensors = std::map<std::string, std::string>;  // by the signature's names

std::string tensor_of(const Tensors& tensors, const std::string& name) {
  const auto at = tensors.find(name);
  return at == tensors.end() ? "" : at->second;
}

std::vector<std::vector<std::string>> spec_rows(const char* title,
                                                const std::map<std::string, TensorSpec>& specs,
                                                const Tensors& tensors) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, spec] : specs)
    rows.push_back(
        {rows.empty() ? title : "", name, spec_text(spec.dtype, spec.shape), tensor_of(tensors, name)});
  return rows;
}

Json specs_json(const std::map<std::string, TensorSpec>& specs, const Tensors& tensors) {
  Json all = Json::object();
  for (const auto& [name, spec] : specs) {
    all[name] = spec_json(spec.dtype, spec.shape);
    all[name]["tensor"] = tensor_of(tensors, name);
  }
  return all;
}

// Of the MetaGraph that was loaded.
MetaGraphFacts facts_of(const Options& o) {
  const std::vector<MetaGraphFacts> all = read_saved_model_facts(o.dir);
  for (const MetaGraphFacts& facts : all) {
    const std::set<std::string> tags(facts.tags.begin(), facts.tags.end());
    if (std::all_of(o.tags.begin(), o.tags.end(), [&](const auto& t) { return tags.contains(t); }))
      return facts;
  }
  return all.empty() ? MetaGraphFacts() : all[0];
}

template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

Json problems_json(const LoadedModel& model) {
  Json::Array list;
  for (const auto& missing : model.missing_ops()) {
    Json entry = Json::object();
    entry["op"] = missing.op;
    entry["refused"] = missing.refused;
    entry["needed_by"] = Json::Array(missing.functions.begin(), missing.functions.end());
    list.push_back(std::move(entry));
  }
  return list;
}

int64_t elements_bytes(const std::vector<Variable>& variables) {
  int64_t bytes = 0;
  for (const Variable& v : variables) bytes += v.shape().num_elements() * int64_t(size_of(v.dtype()));
  return bytes;
}

void show_json(const LoadedModel& model, MetaGraphFacts facts) {
  Json all = Json::object();
  all["path"] = model.path();
  all["tensorflow_version"] = model.tensorflow_version();
  all["tags"] = Json::Array(facts.tags.begin(), facts.tags.end());
  Json& signatures = all["signatures"] = Json::object();
  for (const auto& [name, signature] : model.signatures()) {
    signatures[name]["method"] = facts.signatures[name].method;
    signatures[name]["inputs"] = specs_json(signature.inputs(), facts.signatures[name].inputs);
    signatures[name]["outputs"] = specs_json(signature.outputs(), facts.signatures[name].outputs);
  }
  Json& functions = all["functions"] = Json::object();
  for (const std::string& name : model.function_names()) {
    const auto traces = model.function(name).traces();
    functions[name]["parameters"] = model.function(name).parameters();
    functions[name]["traces"] = Json::Array(traces.begin(), traces.end());
  }
  Json::Array variables;
  for (const Variable& v : model.variables()) {
    Json entry = spec_json(v.dtype(), v.shape());
    entry["name"] = v.name();
    entry["trainable"] = v.trainable();
    variables.push_back(std::move(entry));
  }
  all["variables"] = std::move(variables);
  all["ops"] = Json::Array(facts.ops.begin(), facts.ops.end());
  all["missing_ops"] = problems_json(model);
  print(all);
}

void show(const Options& o, const Context& context) {
  const LoadedModel model = open(o);
  MetaGraphFacts facts = facts_of(o);
  if (context.json) return show_json(model, std::move(facts));
  std::string text = model.path() + ", written by TensorFlow " + model.tensorflow_version() +
                     ", tags: " + joined(facts.tags) + "\n";
  for (const auto& [name, signature] : model.signatures()) {
    const SignatureFacts& of = facts.signatures[name];
    text += "\nsignature " + name + (of.method.empty() ? "" : ", method " + of.method) + "\n";
    auto rows = spec_rows("inputs", signature.inputs(), of.inputs);
    for (auto& row : spec_rows("outputs", signature.outputs(), of.outputs)) rows.push_back(std::move(row));
    text += table(rows);
  }
  for (const std::string& name : model.function_names()) {
    const auto function = model.function(name);
    text += "\nfunction " + name + function.parameters() + "\n";
    for (const std::string& trace : function.traces()) text += "  " + trace + "\n";
  }
  const auto variables = model.variables();
  text += "\nvariables: " + std::to_string(variables.size()) + ", " +
          std::to_string(model.trainable_variables().size()) + " of them trainable, " +
          bytes_text(elements_bytes(variables)) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const Variable& v : variables)
    rows.push_back({v.name(), spec_text(v.dtype(), v.shape()), v.trainable() ? "" : "not trainable"});
  text += table(rows);
  print(text + "\nops: " + std::to_string(facts.ops.size()) + " kinds: " + joined(facts.ops) + "\n");
}

// Numbers in files are often of numpy's default types: they take the signature's when both are floats or
// integers.
Tensor fitting(const Tensor& value, DType wanted) {
  const bool floats = is_floating(value.dtype()) && is_floating(wanted);
  const bool integers = is_integer(value.dtype()) && is_integer(wanted);
  return value.dtype() != wanted && (floats || integers) ? cast(value, wanted) : value;
}

void run(const Options& o, const Context& context) {
  const LoadedModel model = open(o);
  const auto found = model.signatures().find(o.signature);
  if (found == model.signatures().end()) {
    throw NotFoundError("[saved_model run] " + unknown_signature(model, o.signature));
  }
  std::map<std::string, Tensor> inputs = numpy::load_npz(o.inputs);
  for (auto& [name, value] : inputs)
    if (const auto spec = found->second.inputs().find(name); spec != found->second.inputs().end())
      value = fitting(value, spec->second.dtype);
  const std::map<std::string, Tensor> results = found->second(inputs);
  numpy::savez(o.outputs, results);
  if (context.json) {
    Json all = Json::object();
    for (const auto& [name, value] : results) all[name] = spec_json(value.dtype(), value.shape());
    return print(all);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : results) rows.push_back({name, spec_text(value.dtype(), value.shape())});
  print("wrote " + o.outputs + "\n" + table(rows));
}

void check(const Options& o, Context& context) {
  const LoadedModel model = open(o);
  std::map<std::string, std::vector<std::string>> obstacles;  // by "signature serving_default"
  for (const auto& missing : model.missing_ops())
    for (const std::string& function : missing.functions)
      obstacles[function].push_back(missing.op + (missing.refused ? " (refused)" : ""));
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, signature] : model.signatures())
    all.emplace_back("signature " + name, "signature " + name);
  for (const std::string& name : model.function_names()) all.emplace_back("function " + name, name);
  Json report = Json::object();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [title, key] : all) {
    const auto bad = obstacles.find(key);
    std::string ops;
    if (bad != obstacles.end())
      for (const std::string& op : bad->second) ops += (ops.empty() ? "" : ", ") + op;
    report[title] =
        bad == obstacles.end() ? Json("runs") : Json(Json::Array(bad->second.begin(), bad->second.end()));
    rows.push_back(
        {bad == obstacles.end() ? "runs" : "does not run", title, ops.empty() ? "" : "needs " + ops});
    if (bad != obstacles.end()) context.status = 1;
  }
  if (context.json) return print(report);
  print(table(rows, 0));
}

}  // namespace

void add_saved_model(CLI::App& app, Context& context) {
  auto* group = app.add_subcommand("saved_model", "Folders that TensorFlow, Keras and this library export");
  group->require_subcommand(1);
  const auto command = [&](const char* name, const char* text) {
    auto options = std::make_shared<Options>();
    auto* added = group->add_subcommand(name, text);
    added->fallthrough();
    added->add_option("DIR", options->dir, "The folder with saved_model.pb")->required();
    added->add_option("--tags", options->tags, "Which MetaGraph, where there are several")->delimiter(',');
    added->add_option("--allow-op", options->allowed,
                      "Let the graph use this op, which reaches files or other programs");
    return std::pair(added, options);
  };
  {
    const auto [added, options] = command("show", "Signatures, functions and variables");
    added->callback([options = options, &context] { show(*options, context); });
  }
  {
    const auto [added, options] = command("run", "One call of a signature, from and to .npz files");
    added->add_option("--signature", options->signature, "Its name")->capture_default_str();
    added->add_option("--inputs", options->inputs, "An .npz file with an array per input")->required();
    added->add_option("--outputs", options->outputs, "The .npz file to write")->required();
    added->callback([options = options, &context] { run(*options, context); });
  }
  {
    const auto [added, options] =
        command("check", "Which signatures and functions run here, and which ops the others lack");
    added->callback([options = options, &context] { check(*options, context); });
  }
}

}  // namespace rw::cli
