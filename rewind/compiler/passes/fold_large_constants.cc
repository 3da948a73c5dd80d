// Products of constant matrices, tables of angles: values that follow from known ones and are read at every
// run. What the rest of the graph reads of them becomes constants; what only they read goes with the next
// prune.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/compiler/memory/cost.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/runtime/constant.h"
#include "rewind/runtime/eager.h"

namespace rw {
namespace {

constexpr int64_t kMostBytesKept = int64_t(64) << 20;   // of all new constants
constexpr int64_t kMostBytesMade = int64_t(256) << 20;  // with what was computed on the way
constexpr double kMostMicroseconds = 1e6;               // of computing, by the model of cost.h
constexpr int64_t kSmall = 4096;                        // elements: read as fast as made

bool is_one_of(const Op& op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op.name) != names.end();
}
bool makes_copies(const Op& op) {
  return is_one_of(op, {"Fill", "BroadcastTo", "ZerosLike", "OnesLike", "Tile"});
}
bool counts_up(const Op& op) { return is_one_of(op, {"Range", "LinSpace"}); }
bool contracts(const Op& op) {
  return op.name == "MatMul" || op.name == "Einsum" || op.name.starts_with("BatchMatMul") ||
         op.name.starts_with("Conv") || op.name.starts_with("DepthwiseConv");
}
bool decomposes(const Op& op) {
  const auto begins = [&](std::string_view prefix) { return op.name.starts_with(prefix); };
  return begins("Matrix") || begins("BatchMatrix") || begins("Cholesky") || begins("LogMatrix") ||
         begins("Tridiagonal") || begins("Band") ||
         is_one_of(op, {"Qr", "Svd", "SelfAdjointEigV2", "Eig", "Lu"});
}

class LargeFolding {
 public:
  explicit LargeFolding(const Graph& g)
      : g_(g), computable_(g.num_values(), 0), dense_(g.num_values(), 0), wanted_(g.num_values(), 0) {
    for (const ValueId v : g.arguments) computable_[size_t(v)] = dense_[size_t(v)] = is_plain(v) && known(v);
    for (const Node& n : g.nodes()) look_at(n);
    for (const Node& n : g.nodes())
      if (!computes(n))
        for (const ValueId v : n.inputs) wanted_[size_t(v)] = 1;
    for (const ValueId v : g.outputs) wanted_[size_t(v)] = 1;
  }

  // Values that become constants, computed.
  std::unordered_map<ValueId, HostTensor> run() {
    std::vector<ValueId> chosen;
    std::vector<uint8_t> needed(g_.num_values(), 0);
    int64_t kept = 0;
    for (const Node& n : g_.nodes()) {
      if (n.op->name == "Const" || !computes(n)) continue;
      for (const ValueId v : n.outputs) {
        const bool worth = size_of_value(v) <= kSmall || dense_[size_t(v)];
        if (!wanted_[size_t(v)] || !worth || kept + bytes(v) > kMostBytesKept) continue;
        kept += bytes(v);
        chosen.push_back(v);
        needed[size_t(v)] = 1;
      }
    }
    const auto is_needed = [&](ValueId v) { return needed[size_t(v)] != 0; };
    for (size_t i = g_.nodes().size(); i-- > 0;) {
      const Node& n = g_.nodes()[i];
      if (std::any_of(n.outputs.begin(), n.outputs.end(), is_needed))
        for (const ValueId v : n.inputs) needed[size_t(v)] = 1;
    }
    for (const Node& n : g_.nodes())
      if (computes(n) && std::any_of(n.outputs.begin(), n.outputs.end(), is_needed)) make(n);
    std::unordered_map<ValueId, HostTensor> folded;
    for (const ValueId v : chosen)
      if (const auto it = made_.find(v); it != made_.end()) folded.emplace(v, as_constant(it->second));
    return folded;
  }

 private:
  bool known(ValueId v) const { return g_.value(v).known->data != nullptr; }
  bool is_plain(ValueId v) const {
    return g_.value(v).shape.fully_known() && !is_host_only(g_.value(v).dtype);
  }
  int64_t size_of_value(ValueId v) const { return g_.value(v).shape.num_elements(); }
  int64_t bytes(ValueId v) const { return size_of_value(v) * int64_t(size_of(g_.value(v).dtype)); }
  bool computes(const Node& n) const { return !n.outputs.empty() && computable_[size_t(n.outputs[0])]; }

  // Dense: elements that are no copies of fewer others, so that reading them is no slower than making them.
  void look_at(const Node& n) {
    const bool constant = n.op->name == "Const";
    bool all = constant || (!n.op->stateful && !n.op->runtime && !n.inputs.empty());
    for (const ValueId v : n.inputs) all = all && computable_[size_t(v)];
    for (const ValueId v : n.outputs) all = all && is_plain(v);
    if (!all) return;
    bool dense = constant || contracts(*n.op) || counts_up(*n.op);
    int64_t read = 0;
    for (const ValueId v : n.inputs)
      if (dense_[size_t(v)]) read = std::max(read, bytes(v));
    for (const ValueId v : n.outputs) {
      computable_[size_t(v)] = 1;
      dense_[size_t(v)] = !makes_copies(*n.op) && (dense || 2 * read >= bytes(v));
    }
  }

  // Decompositions are not in the model.
  double microseconds(const Node& n) const {
    if (!decomposes(*n.op)) return cost_of(g_, n);
    int64_t most = 0;
    for (const ValueId v : n.inputs) most = std::max(most, size_of_value(v));
    return cost_of(g_, n) + std::pow(double(most), 1.5) / 20e3;
  }

  // Nothing is made of what fails, or lies behind the bounds: it is left to the run.
  void make(const Node& n) {
    if (n.op->name == "Const") return;
    SmallVector<Value, 4> inputs;
    for (const ValueId v : n.inputs) {
      const auto it = made_.find(v);
      if (it == made_.end() && !known(v)) return;
      inputs.push_back(it == made_.end() ? as_value(g_.value(v).known) : it->second);
    }
    if (!n.op->view)
      for (const ValueId v : n.outputs) made_bytes_ += bytes(v);
    spent_ += microseconds(n);
    if (spent_ > kMostMicroseconds || made_bytes_ > kMostBytesMade) return;
    SmallVector<const Value*, 4> pointers;
    for (const Value& v : inputs) pointers.push_back(&v);
    try {
      ValueList results = run_eager(*n.op, n.attrs, {pointers.data(), pointers.size()});
      for (size_t k = 0; k < n.outputs.size(); ++k) made_[n.outputs[k]] = std::move(results[k]);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
      // It fails when it runs, if it runs.
    }
  }

  const Graph& g_;
  std::vector<uint8_t> computable_, dense_, wanted_;
  std::unordered_map<ValueId, Value> made_;
  int64_t made_bytes_ = 0;
  double spent_ = 0;
};

// Whether a node reads nothing but known values, one of them large, or makes a large one.
bool something_large_folds(const Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(), [&](const Node& n) {
    if (n.op->stateful || n.op->runtime || n.inputs.empty()) return false;
    return std::all_of(n.inputs.begin(), n.inputs.end(),
                       [&](ValueId v) { return g.value(v).known->data != nullptr; });
  });
}

}  // namespace

Graph fold_large_constants(Graph from) {
  if (!something_large_folds(from)) return from;
  const std::unordered_map<ValueId, HostTensor> folded = LargeFolding(from).run();
  if (folded.empty()) return from;
  return rewrite(from, [&](NodeId id, GraphCopy& copy, Graph& to) {
    const Node& n = from.node(id);
    const auto is_folded = [&](ValueId v) { return folded.contains(v); };
    if (!std::all_of(n.outputs.begin(), n.outputs.end(), is_folded) || n.outputs.empty()) copy.node(id);
    for (const ValueId v : n.outputs)
      if (const auto it = folded.find(v); it != folded.end()) copy.set(v, to.add_constant(it->second));
  });
}

}  // namespace rw
