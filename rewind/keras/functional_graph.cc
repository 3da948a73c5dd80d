#include "rewind/keras/functional_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "rewind/base/error.h"
#include "rewind/keras/call_context.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/loading_scope.h"

namespace rw::keras {
namespace {

using NodeRef = std::shared_ptr<GraphNode>;

struct Search {
  const std::vector<KerasTensor>& inputs;
  std::unordered_set<const GraphNode*> seen;
  std::vector<NodeRef> ordered;                              // inputs first
  std::unordered_map<const LayerState*, size_t> first_seen;  // operations in the order of the search

  // Without recursion: graphs may be some thousand layers deep.
  void visit(const KerasTensor& output) {
    struct Step {
      KerasTensor tensor;
      size_t next = 0;
    };
    std::vector<Step> stack{{output}};
    while (!stack.empty()) {
      Step& step = stack.back();
      const NodeRef node = step.tensor.node();
      if (step.next == 0) {
        const bool outside =
            !node->is_input() && std::find(inputs.begin(), inputs.end(), step.tensor) != inputs.end();
        if (outside || !seen.insert(node.get()).second) {
          stack.pop_back();
          continue;
        }
        first_seen.emplace(node->layer.state().get(), first_seen.size());
      }
      if (step.next < node->inputs.size() + node->masks.size()) {
        const size_t at = step.next++;
        const KerasTensor before =
            at < node->inputs.size() ? node->inputs[at] : node->masks[at - node->inputs.size()].tensor;
        stack.push_back({before});
        continue;
      }
      ordered.push_back(node);
      stack.pop_back();
    }
  }
};

}  // namespace

std::vector<KerasTensor> GraphNode::sources() const {
  std::vector<KerasTensor> all = inputs;
  for (const MaskInput& m : masks) all.push_back(m.tensor);
  return all;
}

CallArgs with_masks(CallArgs args, const std::vector<MaskInput>& masks, const std::vector<Tensor>& values) {
  for (size_t i = 0; i < masks.size(); ++i) {
    if (masks[i].name == "attention_mask") {
      args.attention_mask = values.at(i);
      continue;
    }
    args.masks.resize(std::max(args.masks.size(), masks[i].input + 1));
    args.masks[masks[i].input] = values.at(i);
  }
  return args;
}

FunctionalGraph::FunctionalGraph(std::vector<KerasTensor> inputs, std::vector<KerasTensor> outputs)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  Search search{inputs_, {}, {}, {}};
  for (const KerasTensor& y : outputs_) search.visit(y);

  // A node lies as deep as the longest way from it to an output; a layer as deep as its deepest node.
  std::unordered_map<const GraphNode*, int> depth;
  std::unordered_map<const LayerState*, int> layer_depth;
  std::vector<NodeRef> nodes;  // in the order in which depths became known, as Keras lists them
  std::unordered_set<const GraphNode*> listed;
  const std::unordered_set<const GraphNode*>& in_graph = search.seen;
  std::unordered_map<const GraphNode*, NodeRef> refs;
  for (const NodeRef& n : search.ordered) refs[n.get()] = n;
  auto list = [&](const GraphNode* n) {
    if (listed.insert(n).second) nodes.push_back(refs.at(n));
  };
  std::vector<LayerRef> layers;
  for (auto it = search.ordered.rbegin(); it != search.ordered.rend(); ++it) {
    const GraphNode* n = it->get();
    list(n);
    const LayerState* layer = n->layer.state().get();
    const int d = std::max(depth[n], layer_depth[layer]);
    if (std::find(layers.begin(), layers.end(), n->layer) == layers.end()) layers.push_back(n->layer);
    layer_depth[layer] = depth[n] = d;
    for (const KerasTensor& x : n->sources()) {
      const GraphNode* before = x.node().get();
      if (!in_graph.contains(before) || !refs.contains(before)) continue;
      list(before);
      depth[before] = std::max(d + 1, depth[before]);
    }
  }
  for (const KerasTensor& x : inputs_) {
    const LayerState* layer = x.node()->layer.state().get();
    if (!x.node()->is_input() || layer_depth.contains(layer)) continue;
    layer_depth[layer] = depth[x.node().get()] = 0;
    nodes.push_back(x.node());
    layers.push_back(x.node()->layer);
  }

  std::map<int, std::vector<NodeRef>, std::greater<>> by_depth;
  for (const NodeRef& n : nodes) by_depth[depth[n.get()]].push_back(n);
  for (auto& [d, list_at] : by_depth) by_depth_.push_back(std::move(list_at));
  auto place = [&](const LayerRef& l) {
    const auto found = search.first_seen.find(l.state().get());
    return found == search.first_seen.end() ? int64_t(-1) : int64_t(found->second);
  };
  std::stable_sort(layers.begin(), layers.end(), [&](const LayerRef& a, const LayerRef& b) {
    const int da = layer_depth[a.state().get()], db = layer_depth[b.state().get()];
    return da != db ? da > db : place(a) < place(b);
  });
  operations_ = std::move(layers);

  std::set<std::pair<const GraphNode*, size_t>> known;
  for (const KerasTensor& x : inputs_) known.insert({x.node().get(), x.index()});
  std::set<std::string> names;
  for (const LayerRef& l : operations_)
    if (!names.insert(l.name()).second)
      fail_invalid("Model", "The name \"" + l.name() +
                                "\" is used by two layers of the model. All layer names should be unique.");
  for (const auto& level : by_depth_) {
    for (const NodeRef& n : level) {
      for (const KerasTensor& x : n->sources())
        if (!known.contains({x.node().get(), x.index()}))
          fail_invalid("Model", "Graph disconnected: no input of the model leads to tensor \"" + x.name() +
                                    "\", shape " + x.shape().to_string() + ", which layer \"" +
                                    n->layer.name() + "\" takes");
      if (n->is_input() && !known.contains({n.get(), 0}))
        fail_invalid("Model", "Graph disconnected: the outputs need the input \"" + n->layer.name() +
                                  "\", which is not among the model's inputs");
      for (size_t i = 0; i < n->shapes.size(); ++i) known.insert({n.get(), i});
    }
  }
}

std::vector<Tensor> FunctionalGraph::run(const std::vector<Tensor>& inputs) const {
  // Whether it is training, as the call of the model says it, goes before what the calls of the graph say.
  std::optional<bool> training;
  if (const CallContext* around = CallContext::current(); around && !around->stack().empty())
    training = around->stack().back().training;
  std::map<std::pair<const GraphNode*, size_t>, Tensor> values;
  for (size_t i = 0; i < inputs_.size(); ++i)
    values[{inputs_[i].node().get(), inputs_[i].index()}] = inputs[i];
  LoadingScope* const loading = LoadingScope::current();
  for (const auto& level : by_depth_) {
    for (const auto& n : level) {
      if (n->is_input()) continue;
      if (loading) loading->count_call();
      std::vector<Tensor> taken;
      for (const KerasTensor& x : n->inputs) taken.push_back(values.at({x.node().get(), x.index()}));
      std::vector<Tensor> masks;
      for (const MaskInput& m : n->masks)
        masks.push_back(values.at({m.tensor.node().get(), m.tensor.index()}));
      CallArgs args = with_masks(n->args, n->masks, masks);
      if (training) args.training = training;
      const std::vector<Tensor> results = n->layer->all(taken, args);
      for (size_t i = 0; i < results.size(); ++i) values[{n.get(), i}] = results[i];
    }
  }
  std::vector<Tensor> results;
  for (const KerasTensor& y : outputs_) results.push_back(values.at({y.node().get(), y.index()}));
  return results;
}

}  // namespace rw::keras
