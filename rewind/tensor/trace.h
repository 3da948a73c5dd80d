// Tracing: while a TraceScope lives on a thread, every op of that thread becomes a node of its trace's graph,
// and the tensors that come back stand for values of that graph. What the ops use from outside is captured:
// it becomes an argument behind the others, in the order of first use. Small constants are copied into the
// graph instead.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rewind/base/call_site.h"
#include "rewind/graph/equal.h"
#include "rewind/graph/extend.h"
#include "rewind/op/object.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/variable.h"

namespace rw {

// What a node of control flow gives out of its bodies for derivatives, beyond what the user's call did.
struct KeptValues {
  std::vector<Tensor> inputs;                           // of the node, as tapes know them
  std::map<std::pair<int, ValueId>, Tensor> by_branch;  // branch and value in it, or its list
};

class Trace : public RefCounted {
 public:
  explicit Trace(std::string name);
  friend void destroy(Trace* trace) { delete trace; }

  // Arguments come first: none may be added once something was captured.
  Tensor add_argument(DType dtype, const Shape& shape, std::string name = {});
  // An argument that a variable's handle tensor stands for: see Variable::as_argument.
  void add_argument(const Tensor& handle);
  // Somebody asked which variable stands behind the handle. If it is an argument's, the graph may depend on
  // it.
  void note_identity(const Tensor& handle);
  bool knows_its_variables() const { return knows_its_variables_; }
  // The value that a tensor has in this graph: captures it if it is from outside.
  ValueId value_of(const Tensor& tensor);
  // The value that it has here already; -1: none.
  ValueId find(const Tensor& tensor) const;
  // A tensor that stands for the value.
  Tensor symbol(ValueId id);
  Tensors add(const Op& op, TensorPointers inputs, const Attrs& attrs);
  // An argument among the captures, for which nothing was captured (captures() holds an undefined tensor):
  // who asks for it must take it out of the finished graph again.
  Tensor add_late_argument(DType dtype, const Shape& shape);
  // Replaces the node that makes `output` by a larger one (see graph/extend.h). Gives its new outputs.
  std::vector<ValueId> extend(ValueId output, const NodeExtension& extension);
  // Remembers that so many nodes were there; position() tells where this is now that nodes may have moved.
  size_t mark();
  size_t position(size_t mark) const { return marks_[mark]; }
  // Ends the trace with these results. Tensors of the trace cannot be used any more.
  void finish(std::span<const Tensor> results);

  Graph& graph() { return *graph_; }
  std::shared_ptr<const Graph> graph_ref() const { return graph_; }
  bool open() const { return open_; }
  // The first error that comes of tracing itself (a value was asked for that is not there yet). User code may
  // have caught it and gone on without the answer, so finish() throws it again.
  void throw_failure() const;
  // In a handler: the traces of this thread fail with its exception, which goes on.
  [[noreturn]] static void fail_all();
  // What was captured, one per argument behind the first num_arguments().
  const std::vector<Tensor>& captures() const { return captures_; }
  size_t num_arguments() const { return num_arguments_; }
  Trace* outer() const { return outer_; }
  // Greater than that of every trace before it.
  uint64_t serial() const { return serial_; }
  static uint64_t latest_serial();
  // Nodes that an outermost trace and those in it may add; more come of a loop that is unrolled without end.
  // Tests lower it.
  static int64_t most_added;
  // Variables that were read or written here or in traces inside, each once, in order.
  const std::vector<Variable>& variables() const { return variables_; }
  // Tapes and accumulators around the trace. They hear of variables that are read inside a branch or a loop's
  // body.
  Recorder* hidden_recorders() const { return hidden_; }
  // Takes one of them off their list, if it is there.
  bool unlink_hidden(const Recorder& recorder);
  bool part_of_outer = false;  // a branch or a loop's body: what is used here is used by the trace around it
  bool repeats = false;        // a loop's condition or body: C++ would run it once per iteration
  int32_t num_branchings = 0;  // ifs that were staged here
  bool is_trial = false;       // its maker expects errors: they do not reach the traces around it
  bool may_create_variables = true;  // only while a function is traced for the first time
  bool created_variables = false;
  void note_variable(const Variable& variable);
  // The user's line that asks for a node now.
  CallSiteRef site_here();

  // Of a derivative's trace: results of effects in the body that is differentiated stand here as late
  // arguments, because the effects must not happen again. `body` is what the forward run will be.
  struct Mirror {
    std::shared_ptr<Graph> body;
    std::unordered_map<ValueId, ValueId> in_body;  // by argument of this trace
    std::map<ValueId, KeptValues> kept;
  };
  std::unique_ptr<Mirror> mirror;
  GraphShelf bodies;                   // of stretches that are recomputed
  int32_t region = 0;                  // of the nodes that are added now: see Node::region
  std::map<ValueId, KeptValues> kept;  // by the node's first output; while the trace is open

 private:
  friend class TraceScope;
  friend class SiteScope;
  // Whether a tape around the trace follows the tensor: then it is captured, however small it is.
  bool followed_outside(const Tensor& tensor) const;
  [[noreturn]] void fail_endless();
  std::shared_ptr<Graph> graph_;
  Trace* outer_ = nullptr;
  Recorder* hidden_ = nullptr;
  const uint64_t serial_;
  Trace* root_ = this;     // the outermost around it
  int64_t num_added_ = 0;  // of a root: nodes added to it and to traces inside, those given up among them
  const void* stack_end_ = nullptr;  // the user's code runs below it
  CallSites sites_;
  CallSiteRef site_;  // set: nodes come from there
  bool open_ = true;
  std::exception_ptr failure_;
  size_t num_arguments_ = 0;
  std::vector<Tensor> captures_;
  std::vector<size_t> marks_;
  std::unordered_map<const TensorImpl*, ValueId> known_;  // captures and constants by tensor
  std::vector<Tensor> kept_;                              // keeps the keys of known_ alive
  // Resources by what they refer to: one value each, however many tensors do.
  std::unordered_map<const Object*, ValueId> by_object_;
  std::unordered_set<const TensorImpl*> argument_handles_;
  bool knows_its_variables_ = false;
  std::vector<Variable> variables_;
  std::unordered_map<const void*, size_t> variable_index_;
};

// A tensor of a trace. It keeps its trace alive, so that a late use is an error and not a crash.
struct SymbolImpl : TensorImpl {
  Ref<Trace> trace;
  ValueId value = -1;
  static void* operator new(size_t) { return Pool<SymbolImpl>::take(); }
  static void operator delete(void* block) { Pool<SymbolImpl>::give(block); }
};

// Traces on this thread until it dies. Tapes and batches from outside do not hear what happens inside.
class TraceScope {
 public:
  explicit TraceScope(Trace& trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  ThreadState saved_;
};

// While it lives, nodes that this thread traces come from one line of the user's: that of a node they are
// made from, or the one that calls now. Does nothing outside of traces.
class SiteScope {
 public:
  SiteScope();
  explicit SiteScope(const Node& node);
  ~SiteScope();
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

 private:
  Trace* trace_;
  CallSiteRef saved_;
};

// Runs eagerly, and hears nothing, until it dies: initial values of variables that are made in a trace.
class OutsideTraces {
 public:
  OutsideTraces();
  ~OutsideTraces();
  OutsideTraces(const OutsideTraces&) = delete;
  OutsideTraces& operator=(const OutsideTraces&) = delete;

 private:
  ThreadState saved_;
};

// FailedPreconditionError for what cannot be done while tracing. The traces of this thread fail with it,
// whoever catches it.
[[noreturn]] void fail_staged(std::string_view tag, std::string_view message);

bool is_symbol(const Tensor& tensor);
// "the result of MatMul_3, float32(2, 2), of the function step".
std::string describe_symbol(const TensorImpl& impl);
[[noreturn]] void fail_stale_symbol(const TensorImpl& impl);
// The user's line that made the node; nullptr where it is not known.
CallSiteRef site_of(const Node& node);
// Of a traced tensor.
CallSiteRef site_of(const Tensor& tensor);
// Whether this thread is tracing.
Trace* current_trace();
// One thread at a time traces functions or builds layers, in any nesting: one lock for both, because a trace
// builds the layers that it calls and a build may trace.
std::recursive_mutex& tracing_mutex();

// The value of a traced tensor that no argument of its function reaches, computed now, outside the trace:
// what the initial value of a variable must be. Throws FailedPreconditionError if it depends on an argument.
Tensor value_outside(const Tensor& symbol);

// Whether a function that is called on this thread now becomes a node of the trace. It does not where tapes
// or batches listen, and in branches and loops: derivatives and native loops look inside.
bool calls_become_nodes();

// Runs the nodes of a graph through apply, one by one, on these inputs: inlines it into a trace, or makes its
// ops heard by tapes and batching. One input per argument.
std::vector<Tensor> replay(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace rw
