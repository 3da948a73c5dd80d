#include <algorithm>
#include <unordered_map>

#include "rewind/compiler/build_loops.h"
#include "rewind/compiler/fusible.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/compiler/tiles.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/graph/equal.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

constexpr size_t kFewestGroups = 4;
constexpr int64_t kFewestBytes = 1 << 20;    // that tiles must save
constexpr int64_t kMostTileBytes = 1 << 20;  // a thread: about what its cache holds
constexpr int64_t kShortestBlock = 256, kLongestBlock = 4096;
constexpr size_t kMostLate = 64;

// The node as a group: its own function, or one around a single elementwise op.
std::shared_ptr<const Graph> group_of(const Graph& g, const Node& n) {
  if (n.op->name == "_Fused") return who_runs(g, n) == Runs::kNative ? graph_attr(n, "f") : nullptr;
  if (n.outputs.size() != 1 || fusible(g, n).kind != FuseKind::kScalar) return nullptr;
  auto body = std::make_shared<Graph>();
  body->name = "fused";
  GraphCopy copy(g, *body, GraphCopy::kFew);
  for (const ValueId v : n.inputs)
    if (!copy.has(v)) copy.argument(v);
  copy.node(g.value(n.outputs[0]).node);
  body->outputs.push_back(copy[n.outputs[0]]);
  return body;
}

// The number of elements where all operands have as many, or one; 0 for other groups.
int64_t flat_length(const Graph& body) {
  int64_t length = 0;
  for (const ValueId v : body.outputs) {
    if (!body.value(v).shape.fully_known()) return 0;
    const int64_t n = body.value(v).shape.num_elements();
    if (n < kShortestBlock || (length != 0 && n != length)) return 0;
    length = n;
  }
  for (const ValueId v : body.arguments) {
    const int64_t n = body.value(v).shape.num_elements();
    if (n != length && n != 1) return 0;
  }
  return length != 0 && build_flat_loops(body, length) ? length : 0;
}

struct Run {
  int64_t length = 0;
  std::vector<NodeId> all;           // from its first group to its last, in order
  std::vector<NodeId> groups, late;  // of those: its groups, and nodes that must come behind it
  // The groups as a function, with its arguments and results, values of the graph; when the run has ended.
  std::shared_ptr<const Graph> body;
  std::vector<ValueId> inputs, outputs;
};

// A run of groups, or a single node.
struct Item {
  NodeId node = -1;
  int tiles = -1;
};

class Tiling {
 public:
  explicit Tiling(const Graph& from) : from_(from), uses_(from), made_(from.num_values(), 0) {}

  // Whether there is anything to do.
  bool find() {
    for (size_t i = 0; i < from_.nodes().size(); ++i)
      if (uses_.needed[i]) visit(NodeId(i));
    end_run();
    return !runs_.empty();
  }
  Graph run() {
    Graph to;
    to.name = from_.name;
    GraphCopy copy(from_, to);
    copy.arguments();
    for (const Item& item : order_) {
      if (item.tiles < 0) copy.node(item.node);
      else add_tiles(runs_[size_t(item.tiles)], copy, to);
    }
    copy.outputs();
    return to;
  }

 private:
  enum : uint8_t { kBefore, kInRun, kLate };  // of a value

  uint8_t latest_input(const Node& n) const {
    uint8_t latest = kBefore;
    for (const ValueId v : n.inputs) latest = std::max(latest, made_[size_t(v)]);
    return latest;
  }

  void visit(NodeId id) {
    const Node& n = from_.node(id);
    const Runs runs = who_runs(from_, n);
    if (n.op->stateful && effects_of(n).any()) {
      end_run();
      order_.push_back({id});
      return;
    }
    std::shared_ptr<const Graph> group;
    int64_t length = 0;
    if (runs == Runs::kNative || runs == Runs::kKernel) group = group_of(from_, n);
    if (group) {
      group = shelf_.share(std::move(group));
      const auto [it, fresh] = lengths_.try_emplace(group.get(), 0);
      if (fresh) it->second = flat_length(*group);
      length = it->second;
    }
    uint8_t latest = latest_input(n);
    if (length > 0 && (latest == kLate || (latest == kInRun && length != run_.length))) {
      end_run();
      latest = kBefore;
    }
    if (length > 0 && (run_.groups.empty() || length == run_.length)) {
      if (run_.groups.empty()) run_.length = length;
      run_.groups.push_back(id);
      run_.all.push_back(id);
      bodies_[id] = group;
      mark(n, kInRun);
      return;
    }
    if (run_.groups.empty()) {
      order_.push_back({id});
      return;
    }
    run_.all.push_back(id);
    if (latest == kBefore) return;
    mark(n, kLate);
    run_.late.push_back(id);
    if (run_.late.size() > kMostLate) end_run();
  }

  void mark(const Node& n, uint8_t when) {
    for (const ValueId v : n.outputs) {
      made_[size_t(v)] = when;
      touched_.push_back(v);
    }
  }

  void end_run() {
    if (worth_it()) {
      for (const NodeId id : run_.all) {
        const bool group = std::binary_search(run_.groups.begin(), run_.groups.end(), id);
        if (!group && !std::binary_search(run_.late.begin(), run_.late.end(), id)) order_.push_back({id});
      }
      order_.push_back({-1, int(runs_.size())});
      for (const NodeId id : run_.late) order_.push_back({id});
      runs_.push_back(std::move(run_));
    } else {
      for (const NodeId id : run_.all) order_.push_back({id});
    }
    for (const ValueId v : touched_) made_[size_t(v)] = kBefore;
    touched_.clear();
    run_ = {};
  }

  bool worth_it() {
    if (run_.groups.size() < kFewestGroups || best_block(run_.length, 1) == 0) return false;
    make_body(&run_);
    return plan_tile(*run_.body, run_.length).bytes >= kFewestBytes;
  }

  // The longest block whose values fit the cache, of those that divide the length; 0 when there is none.
  static int64_t best_block(int64_t length, int64_t bytes_an_element) {
    int64_t best = 0;
    for (const int64_t multiple : {16, 1}) {
      for (int64_t b = kShortestBlock; b <= std::min(kLongestBlock, length); b += multiple) {
        if (length % b != 0) continue;
        if (best == 0 || b * bytes_an_element <= kMostTileBytes) best = b;
      }
      if (best > 0) break;
    }
    return best;
  }

  void make_body(Run* run) const {
    static const Op& fused = find_op("_Fused");
    auto body = std::make_shared<Graph>();
    body->name = "tiles";
    body->reserve(run->groups.size(), 2 * run->groups.size());
    GraphCopy copy(from_, *body);
    std::vector<int32_t> read_here(from_.num_values(), 0);
    for (const NodeId id : run->groups) {
      const Node& n = from_.node(id);
      SmallVector<ValueId, 8> operands, in;
      for (const ValueId v : n.inputs) {
        ++read_here[size_t(v)];
        // The function around a single op takes each once.
        if (n.op == &fused || std::find(operands.begin(), operands.end(), v) == operands.end())
          operands.push_back(v);
      }
      for (const ValueId v : operands) {
        if (!copy.has(v)) {
          copy.argument(v);
          run->inputs.push_back(v);
        }
        in.push_back(copy[v]);
      }
      SmallVector<DType, 4> dtypes;
      SmallVector<Shape, 2> shapes;
      for (const ValueId v : n.outputs) {
        dtypes.push_back(from_.value(v).dtype);
        shapes.push_back(from_.value(v).shape);
      }
      Attrs attrs = n.attrs;
      if (n.op != &fused)
        attrs = {{"f", BodyRef(bodies_.at(id))}, {"Tout", std::vector<DType>(dtypes.begin(), dtypes.end())}};
      const NodeId made = body->add_node(fused, attrs, {in.data(), in.size()}, {dtypes.data(), dtypes.size()},
                                         {shapes.data(), shapes.size()});
      body->node(made).site = n.site;
      for (size_t k = 0; k < n.outputs.size(); ++k) copy.set(n.outputs[k], body->node(made).outputs[k]);
    }
    for (const NodeId id : run->groups) {
      for (const ValueId v : from_.node(id).outputs) {
        if (uses_.count[size_t(v)] <= read_here[size_t(v)]) continue;
        run->outputs.push_back(v);
        body->outputs.push_back(copy[v]);
      }
    }
    run->body = std::move(body);
  }

  void add_tiles(const Run& run, GraphCopy& copy, Graph& to) const {
    static const Op& tiles = find_op("_Tiles");
    const int64_t block =
        best_block(run.length, std::max<int64_t>(1, plan_tile(*run.body, run.length).bytes / run.length));
    std::vector<ValueId> inputs;
    for (const ValueId v : run.inputs) inputs.push_back(copy[v]);
    std::vector<DType> dtypes;
    std::vector<Shape> shapes;
    for (const ValueId v : run.outputs) {
      dtypes.push_back(from_.value(v).dtype);
      shapes.push_back(from_.value(v).shape);
    }
    Node& made = to.node(to.add_node(tiles, {{"f", BodyRef(run.body)}, {"Tout", dtypes}, {"block", block}},
                                     inputs, dtypes, shapes));
    made.site = from_.node(run.groups.front()).site;
    for (size_t k = 0; k < run.outputs.size(); ++k) copy.set(run.outputs[k], made.outputs[k]);
  }

  const Graph& from_;
  const Uses uses_;
  std::vector<uint8_t> made_;
  std::vector<ValueId> touched_;
  std::unordered_map<NodeId, std::shared_ptr<const Graph>> bodies_;
  GraphShelf shelf_;
  std::unordered_map<const Graph*, int64_t> lengths_;  // of groups, by function
  Run run_;
  std::vector<Run> runs_;
  std::vector<Item> order_;
};

}  // namespace

Graph tile_groups(Graph from) {
  Tiling tiling(from);
  return tiling.find() ? tiling.run() : std::move(from);
}

}  // namespace rw
