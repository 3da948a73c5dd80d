// The IR: a list of nodes in program order. Every node is a row of the op table; its inputs are values that
// arguments or earlier nodes made, so a walk from the front meets every value before its uses. Effects
// (stateful nodes) happen in the order of the list. Functions in attributes (the branches of If, the body of
// While) are graphs of their own: what they use from outside is among their arguments.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/graph/chunked_list.h"
#include "rewind/graph/id_list.h"
#include "rewind/op/attrs.h"
#include "rewind/op/op.h"

namespace rw {

using ValueId = int32_t;
using NodeId = int32_t;

// What is known of the variable behind a resource.
struct VariableSpec {
  DType dtype = DType::kInvalid;
  Shape shape;
};

// Graphs of deep models have some hundred thousand nodes, and passes hold two graphs at a time: what few
// nodes and values have costs the others a pointer.

// A tensor that may be there; without one it reads as a tensor whose data is null. Copies share it.
class KnownTensor {
 public:
  KnownTensor() = default;
  KnownTensor(HostTensor tensor)  // NOLINT: it reads as the tensor
      : held_(tensor.data ? Ref<Held>::adopt(new Held(std::move(tensor))) : nullptr) {}
  operator const HostTensor&() const { return held_ ? held_->tensor : none(); }  // NOLINT
  const HostTensor* operator->() const { return held_ ? &held_->tensor : &none(); }

 private:
  struct Held : RefCounted {
    explicit Held(HostTensor t) : tensor(std::move(t)) {}
    const HostTensor tensor;
    friend void destroy(Held* held) { delete held; }
  };
  static const HostTensor& none();
  Ref<Held> held_;
};

// A text that is mostly empty.
class RareText {
 public:
  RareText() = default;
  RareText(const RareText& other) { *this = other.get(); }
  RareText(RareText&&) noexcept = default;
  RareText& operator=(const RareText& other) { return *this = other.get(); }
  RareText& operator=(RareText&&) noexcept = default;
  RareText& operator=(const std::string& text) {
    text_ = text.empty() ? nullptr : std::make_unique<const std::string>(text);
    return *this;
  }
  ~RareText() = default;
  bool empty() const { return !text_; }
  const std::string& get() const;
  operator const std::string&() const { return get(); }  // NOLINT: it reads as the text

 private:
  std::unique_ptr<const std::string> text_;
};

struct GraphValue {
  DType dtype = DType::kInvalid;
  NodeId node = -1;                                // who makes it; -1 for an argument
  int32_t index = 0;                               // which output of the node, or which argument
  Shape shape;                                     // sizes and even the rank may be unknown
  KnownTensor known{};                             // the value itself, where it is known before running
  std::shared_ptr<const VariableSpec> variable{};  // of a resource
};

struct Node {
  const Op* op = nullptr;
  Attrs attrs;
  IdList inputs, outputs;            // values
  RareText name;                     // unique in the graph; empty until somebody asks: see Graph::name_of
  std::shared_ptr<const void> site;  // where the user's code made it: see base/call_site.h
  // A stretch that computes again what the user wants recomputed, with its derivative; 0 for none. Nodes of
  // two regions stay apart: one that took the other's results would keep them alive.
  int32_t region = 0;
};

class Graph final : public FunctionBody {
 public:
  std::string name = "graph";

  // ---- building
  ValueId add_argument(DType dtype, Shape shape, std::string arg_name = {});
  // Adds a node behind all others. Checks the call against the row, runs the shape rule, and finds the value
  // where it is small, of integers and follows from known ones. Throws as the eager op would.
  NodeId add_node(const Op& op, const Attrs& attrs, std::span<const ValueId> inputs);
  // The same with the outputs' types and shapes given: for passes, which know them.
  NodeId add_node(const Op& op, const Attrs& attrs, std::span<const ValueId> inputs,
                  std::span<const DType> dtypes, std::span<const Shape> shapes);
  ValueId add_constant(const HostTensor& value);
  // A further output of a node, behind its others.
  ValueId add_output(NodeId id, DType dtype, Shape shape);
  // The nodes in another order: order[k] comes k-th. Values keep their ids, nodes get new ones.
  void reorder(std::span<const NodeId> order);

  // Room for so many more, where they can be foretold.
  void reserve(size_t nodes, size_t values);
  // A pass that is done with the nodes before this one lets them go: nobody may ask for them again.
  void release_nodes_before(NodeId id) { nodes_.release_before(size_t(id)); }

  // ---- looking
  const ChunkedList<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[size_t(id)]; }
  Node& node(NodeId id) { return nodes_[size_t(id)]; }
  size_t num_values() const { return values_.size(); }
  const GraphValue& value(ValueId id) const { return values_[size_t(id)]; }
  GraphValue& value(ValueId id) { return values_[size_t(id)]; }
  // The node that makes a value; nullptr for an argument.
  const Node* producer(ValueId id) const {
    const NodeId n = value(id).node;
    return n < 0 ? nullptr : &nodes_[size_t(n)];
  }

  std::vector<ValueId> arguments;
  std::vector<std::string> argument_names;  // one each; may be empty
  std::vector<ValueId> outputs;

  const std::string& body_name() const override { return name; }
  std::vector<DType> input_types() const override;
  std::vector<DType> output_types() const override;
  std::vector<Shape> output_shapes() const override;

  // A name like "MatMul_1", unique in this graph.
  std::string name_of(NodeId id) const;
  // One line a node: "%5 float32(2, 3) = MatMul(%1, %2) {transpose_b=true}".
  std::string to_string() const;

  // What a later room made of this graph, kept beside it; copies of the graph start without. Thread-safe.
  std::shared_ptr<const void> attachment() const { return attachment_.get(); }
  // Sets it if there is none yet; gives what is there.
  std::shared_ptr<const void> attach(std::shared_ptr<const void> made) const {
    return attachment_.set(std::move(made));
  }

 private:
  class Attachment {
   public:
    Attachment() = default;
    Attachment(const Attachment&) {}
    Attachment& operator=(const Attachment&) { return *this; }  // NOLINT: nothing is assigned
    std::shared_ptr<const void> get() const;
    std::shared_ptr<const void> set(std::shared_ptr<const void> made) const;

   private:
    mutable std::shared_ptr<const void> value_;
  };
  Attachment attachment_;
  ChunkedList<Node> nodes_;
  ChunkedList<GraphValue> values_;
};

// Throws InternalError that names the node and the rule when the graph is not well formed: inputs before
// their uses, types and shapes as the rows say, functions that fit their callers.
void verify(const Graph& graph);

// What a node may do besides computing its outputs.
struct Effects {
  bool reads = false;   // state: variables, random streams
  bool writes = false;  // state
  bool other = false;   // prints, asserts, host functions: always happen, in order
  bool any() const { return reads || writes || other; }
  bool must_run() const { return writes || other; }
};
// Looks into functions in attributes too.
Effects effects_of(const Op& op, const Attrs& attrs);
inline Effects effects_of(const Node& node) { return effects_of(*node.op, node.attrs); }

// The graph in a func attribute; throws InternalError when it is something else.
const Graph& graph_of(const FunctionBody& body);
std::shared_ptr<const Graph> graph_ref(const BodyRef& body);
std::shared_ptr<const Graph> graph_attr(const Node& node, std::string_view name);
// Calls f(const BodyRef&) for every function among the attributes.
template <class F>
void for_each_body(const Attrs& attrs, F&& f) {
  for (const std::pair<std::string, AttrValue>& attr : attrs) {
    if (const BodyRef* one = attr.second.get_if<BodyRef>()) f(*one);
    if (const std::vector<BodyRef>* list = attr.second.get_if<std::vector<BodyRef>>())
      for (const BodyRef& body : *list) f(body);
  }
}

}  // namespace rw
