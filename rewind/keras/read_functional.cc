// The graph of a functional model from its config: see model_config.cc.
#include <algorithm>
#include <map>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layers/input_layer.h"
#include "rewind/keras/legacy_operation.h"
#include "rewind/keras/model_config.h"
#include "rewind/keras/operation.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

// The arguments of one call, as far as they are known.
struct CallParts {
  std::vector<KerasTensor> inputs;
  std::vector<Config> constants;      // of an operation: null where an input stands
  Config::Array extra;                // of an operation: what follows them
  Config options = Config::object();  // of an operation of Keras 2
  CallArgs args;
  std::vector<MaskInput> masks;
  bool complete = true;  // false: an input is not made yet
};

class GraphReader {
 public:
  explicit GraphReader(const Config& config) : config_(config) {
    const Config* layers = config.find("layers");
    if (!layers || !layers->list()) fail_config("the layers of a functional model as a list", config);
    for (const Config& c : *layers->list()) add_layer(c);
    make_calls();
  }

  Model model(const LayerOptions& options) const {
    TensorStructure inputs, outputs;
    const std::vector<KerasTensor> first = ends("input_layers", &inputs);
    const std::vector<KerasTensor> last = ends("output_layers", &outputs);
    Model model(first, last, options);
    model.own_graph()->input_structure = std::move(inputs);
    model.own_graph()->output_structure = std::move(outputs);
    return model;
  }

 private:
  struct Entry {
    std::string name;
    const Config* config;
    LayerRef layer;  // undefined: an operation, which is made with its arguments
    std::vector<const Config*> calls;
    std::vector<std::vector<KerasTensor>> results;  // of the calls made so far
  };

  void add_layer(const Config& c) {
    const Config* name = c.find("name");
    const Config* nodes = c.find("inbound_nodes");
    const Config* kind = c.find("class_name");
    if (!name || !name->text() || !nodes || !nodes->list() || !kind || !kind->text())
      fail_config("a layer with class_name, name and inbound_nodes", c);
    Entry e{*name->text(), &c, {}, {}, {}};
    for (const Config& call : *nodes->list()) e.calls.push_back(&call);
    if (!is_operation(c) && !is_legacy_operation(c)) from_config(c, &e.layer);
    legacy_ |= !e.calls.empty() && e.calls[0]->list();
    if (const auto* input = e.layer.defined() ? dynamic_cast_to<const InputLayer*>(&*e.layer) : nullptr)
      e.results.push_back({input->output()});
    if (index_.contains(e.name)) fail_config("layers of different names", c);
    index_[e.name] = entries_.size();
    entries_.push_back(std::move(e));
  }

  // Older files do not say the module; there a layer is one whose config has what all layers have.
  static bool is_operation(const Config& c) {
    const Config* module = c.find("module");
    if (module && module->text()) return module->text()->starts_with("keras.src.ops");
    const Config* options = c.find("config");
    return !c.find("registered_name") && options && options->members() && !options->find("trainable") &&
           Operation::find(*c.find("class_name")->text());
  }

  // A call may stand in front of those that make its inputs: again and again, as long as some can be made.
  void make_calls() {
    constexpr int64_t kMostAttempts = 5'000'000;  // Keras writes layers behind those that they take from
    int64_t attempts = 0;
    bool progress = true, open = true;
    while (open && progress) {
      progress = open = false;
      for (Entry& e : entries_) {
        const size_t skipped = e.layer.defined() && e.calls.empty() ? e.results.size() : 0;
        while (e.results.size() - skipped < e.calls.size()) {
          if (++attempts > kMostAttempts)
            fail_invalid("from_config",
                         "the calls of the functional model stand in such an order that more than " +
                             std::to_string(kMostAttempts) + " attempts do not find the next one");
          if (!make_call(e, *e.calls[e.results.size()])) {
            open = true;
            break;
          }
          progress = true;
        }
      }
    }
    if (open)
      fail_invalid("from_config",
                   "the graph of the functional model has loops or calls whose inputs nobody makes");
  }

  bool make_call(Entry& e, const Config& call) {
    CallParts parts;
    if (is_legacy_operation(*e.config)) collect_legacy_operation(e, call, &parts);
    else if (call.list()) collect_legacy(e, call, &parts);
    else collect_call(e, call, &parts);
    if (!parts.complete) return false;
    if (parts.inputs.empty()) fail_config("a call with an input", call);
    e.results.push_back(e.layer.defined() ? call_with_masks(*e.layer, parts.inputs, parts.args, parts.masks)
                                          : operate(e, parts));
    return true;
  }

  // [["x", 0, 0, {}], ["y", 0, 0, {}]], as Keras 2 wrote calls.
  void collect_legacy(const Entry& e, const Config& call, CallParts* parts) const {
    for (const Config& x : *call.list()) {
      const Config::Array* four = x.list();
      if (!four || four->size() < 3) fail_config("[layer, call, result] of an input", x);
      add_history(Config::Array(four->begin(), four->begin() + 3), parts);
      if (four->size() > 3) add_legacy_options(e, (*four)[3], parts);
    }
  }

  // ["x", 0, 0, {"y": ["z", 0, 0]}], ["_CONSTANT_VALUE", -1, 1.0, {"y": ["z", 0, 0]}], or several in a list.
  void collect_legacy_operation(const Entry& e, const Config& call, CallParts* parts) const {
    const LegacyOperation& operation = legacy_operation(*e.config);
    const Config::Array* list = call.list();
    if (!list || list->empty()) fail_config("a call of a function", call);
    const Config::Array one{call};
    const Config* kwargs = nullptr;
    for (const Config& x : (*list)[0].text() ? one : *list) {
      const Config::Array* four = x.list();
      if (!four || four->size() < 3 || !(*four)[0].text())
        fail_config("[layer, call, result] of an input", x);
      if (*(*four)[0].text() == "_CONSTANT_VALUE") parts->constants.push_back((*four)[2]);
      else add_history(Config::Array(four->begin(), four->begin() + 3), parts);
      if (four->size() > 3) kwargs = &(*four)[3];
    }
    if (!kwargs) return;
    if (!kwargs->members()) fail_config("named arguments as an object", *kwargs);
    for (const auto& [name, value] : *kwargs->members()) {
      if (operation.second && name == operation.second) {
        if (is_tensor_leaf(value)) add_history(value, parts);
        else parts->constants.push_back(value);
      } else if (name != "name") {
        add_legacy_option(operation, name, value, &parts->options, &parts->extra);
      }
    }
  }

  void collect_call(const Entry& e, const Config& call, CallParts* parts) const {
    const Config* args = call.find("args");
    const Config* kwargs = call.find("kwargs");
    if (!args || !args->list() || !kwargs || !kwargs->members())
      fail_config("args and kwargs of a call", call);
    const OperationRow* row =
        e.layer.defined() ? nullptr : Operation::find(*e.config->find("class_name")->text());
    for (const Config& a : *args->list()) {
      if (row && row->arguments > 0 && parts->constants.size() == row->arguments) parts->extra.push_back(a);
      else if (!e.layer.defined() && !holds_tensors(a)) parts->constants.push_back(a);
      else collect(a, parts);
    }
    if (e.layer.defined()) add_options(e, *kwargs, parts);
    else check_no_options(e, *kwargs);
  }

  // The named arguments of Keras 2's calls: those of operations are their second operand and their options.
  void add_legacy_options(const Entry& e, const Config& kwargs, CallParts* parts) const {
    if (e.layer.defined()) add_options(e, kwargs, parts);
    else check_no_options(e, kwargs);
  }

  static void check_no_options(const Entry& e, const Config& kwargs) {
    for (const auto& [name, value] : *kwargs.members())
      if (!value.is_null())
        fail_unimplemented("from_config", "operation \"" + e.name + "\": the argument \"" + name +
                                              "\" is not supported: got " + to_text(value));
  }

  static bool is_tensor(const Config& c) {
    const Config* kind = c.find("class_name");
    return kind && kind->text() && *kind->text() == "__keras_tensor__";
  }
  static bool holds_tensors(const Config& c) {
    if (is_tensor(c)) return true;
    const Config::Array* list = c.list();
    return list && std::any_of(list->begin(), list->end(), holds_tensors);
  }

  // Dictionaries go by the order of their keys.
  void collect(const Config& c, CallParts* parts) const {
    if (is_tensor(c)) {
      const Config* config = c.find("config");
      const Config* history = config ? config->find("keras_history") : nullptr;
      if (!history) fail_config("a tensor with its keras_history", c);
      return add_history(*history, parts);
    }
    if (legacy_ && is_tensor_leaf(c)) return add_history(c, parts);
    if (const Config::Array* list = c.list()) {
      for (const Config& x : *list) collect(x, parts);
    } else if (c.members() && !c.find("class_name")) {
      std::map<std::string, const Config*> sorted;
      for (const auto& [key, value] : *c.members()) sorted[key] = &value;
      for (const auto& [key, value] : sorted) collect(*value, parts);
    } else if (!c.is_null()) {
      fail_config("a tensor of the graph as an argument", c);
    }
  }

  void add_history(const Config& history, CallParts* parts) const {
    const KerasTensor x = find(history, 0);
    if (!x.defined()) parts->complete = false;
    else parts->inputs.push_back(x);
    parts->constants.emplace_back();
  }

  // Undefined: the call was not made yet.
  KerasTensor find(const Config& history, int64_t first) const {
    const Config::Array* three = history.list();
    if (!three || three->size() != 3 || !(*three)[0].text()) fail_config("[layer, call, result]", history);
    int64_t call = 0, result = 0;
    from_config((*three)[1], &call);
    from_config((*three)[2], &result);
    const auto at = index_.find(*(*three)[0].text());
    if (at == index_.end()) fail_config("the name of a layer of the model", history);
    const Entry& e = entries_[at->second];
    // In files of Keras 2 models count their calls from 1, in those of Keras 3 where the outputs say so.
    if (legacy_ ? e.layer.defined() && e.layer->as_model() != nullptr
                : first > 0 && e.layer.defined() && is_functional(*e.layer))
      --call;
    if (call < 0 || result < 0) fail_config("[layer, call, result]", history);
    if (size_t(call) >= std::max(e.calls.size(), e.results.size()))
      fail_config("a call of the layer", history);
    if (size_t(call) >= e.results.size()) return {};
    if (size_t(result) >= e.results[size_t(call)].size()) fail_config("a result of the call", history);
    return e.results[size_t(call)][size_t(result)];
  }

  // Masks by the input that they are of: one, or lists and dictionaries with null where there is none.
  void add_mask(const std::string& name, const Config& c, size_t input, CallParts* parts) const {
    add_masks(name, c, false, &input, parts);
  }
  void add_masks(const std::string& name, const Config& c, bool in_list, size_t* input,
                 CallParts* parts) const {
    if (c.list() && !is_tensor_leaf(c)) {
      for (const Config& item : *c.list()) add_masks(name, item, true, input, parts);
      return;
    }
    if (c.members() && !is_tensor(c)) {
      std::map<std::string, const Config*> sorted;
      for (const auto& [key, value] : *c.members()) sorted[key] = &value;
      for (const auto& [key, value] : sorted) add_masks(name, *value, true, input, parts);
      return;
    }
    const size_t at = (*input)++;
    if (c.is_null()) return;
    const Config* config = is_tensor(c) ? c.find("config") : nullptr;
    const Config* history = config ? config->find("keras_history") : is_tensor_leaf(c) ? &c : nullptr;
    if (!history) fail_config("a tensor of the graph as a mask", c);
    const KerasTensor mask = find(*history, 0);
    if (!mask.defined()) parts->complete = false;
    else parts->masks.push_back({name, at, mask, in_list});
  }

  void add_options(const Entry& e, const Config& kwargs, CallParts* parts) const {
    if (!kwargs.members()) fail_config("named arguments as an object", kwargs);
    static constexpr const char* kInputs[] = {"inputs", "sequence", "sequences",    "query",
                                              "value",  "key",      "initial_state"};
    for (const char* name : kInputs)
      if (const Config* c = kwargs.find(name)) collect(*c, parts);
    for (const auto& [name, value] : *kwargs.members()) {
      if (value.is_null() || std::find(std::begin(kInputs), std::end(kInputs), name) != std::end(kInputs))
        continue;
      if (name == "training") {
        bool on = false;
        from_config(value, &on);
        parts->args.training = on;
      } else if (name == "mask") {
        add_mask(name, value, 0, parts);
      } else if (name == "query_mask" || name == "value_mask" || name == "key_mask") {
        add_mask(name, value, name == "query_mask" ? 0 : name == "value_mask" ? 1 : 2, parts);
      } else if (name == "attention_mask") {
        add_mask(name, value, 0, parts);
      } else if (name == "use_causal_mask") {
        from_config(value, &parts->args.use_causal_mask);
      } else if (name == "return_attention_scores") {
        from_config(value, &parts->args.return_attention_scores);
      } else if (!(value.boolean() && !*value.boolean())) {
        fail_unimplemented("from_config", "the argument \"" + name + "\" of a call of layer \"" + e.name +
                                              "\" in a functional model is not supported: got " +
                                              to_text(value));
      }
    }
  }

  // Numbers take the type of the inputs, but a fraction beside integers stays one; lists of whole numbers are
  // places.
  static Tensor constant_of(const Config& c, DType like) {
    Tensor fixed;
    from_config(c, &fixed);
    if (!fixed.defined() || c.members()) return fixed;
    if (c.list()) return is_whole(c) ? cast(fixed, DType::kInt32) : fixed;
    if (c.boolean()) return cast(fixed, DType::kBool);
    if (c.real() && !is_floating(like)) return fixed;
    return cast(fixed, like == DType::kBool ? DType::kInt32 : like);
  }
  static bool is_whole(const Config& c) {
    return c.list() ? std::all_of(c.list()->begin(), c.list()->end(), is_whole) : c.integer() != nullptr;
  }

  static std::vector<KerasTensor> operate(const Entry& e, const CallParts& parts) {
    const Config* options = e.config->find("config");
    const Config* kind = e.config->find("class_name");
    if (!options || !options->members()) fail_config("the options of an operation", *e.config);
    std::vector<Tensor> arguments;
    for (const Config& c : parts.constants) arguments.push_back(constant_of(c, parts.inputs[0].dtype()));
    const bool legacy = is_legacy_operation(*e.config);
    Config own = legacy ? parts.options : *options;
    own.erase("name");
    Operation operation(legacy ? legacy_operation(*e.config).operation : *kind->text(), arguments, own,
                        e.name, parts.extra);
    operation.set_given({parts.constants.begin(), parts.constants.end()});
    return operation.all(parts.inputs);
  }

  std::vector<KerasTensor> ends(const char* which, TensorStructure* structure) const {
    const Config* c = config_.find(which);
    if (!c) fail_config(std::string(which) + " of a functional model", config_);
    std::vector<KerasTensor> out;
    *structure = read_structure(*c, [&](const Config& leaf) {
      out.push_back(find(leaf, 1));
      if (!out.back().defined()) fail_config("a tensor of the model", leaf);
    });
    return out;
  }

  const Config& config_;
  bool legacy_ = false;  // calls as Keras 2 wrote them
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace

Model read_functional(const Config& config, const LayerOptions& options) {
  return GraphReader(config).model(options);
}

}  // namespace rw::keras
