#include "rewind/tensor/trace.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/graph/expanded_size.h"
#include "rewind/runtime/constant.h"
#include "rewind/runtime/variable_cell.h"
#include "rewind/tensor/thread_state.h"

namespace rw {
namespace {

constexpr int64_t kMostReplayed = int64_t(1) << 21;
constexpr int64_t kLargestCopied = 256;  // bytes of a constant that is copied into the graph

bool copied_as_constant(const TensorImpl& t) {
  return t.kind == TensorKind::kEager && t.dtype != DType::kResource && t.dtype != DType::kVariant &&
         t.size * int64_t(size_of(t.dtype)) <= kLargestCopied && !t.storage->buffer.foreign();
}

std::shared_ptr<const VariableSpec> spec_of(const TensorImpl& t) {
  if (t.dtype != DType::kResource || t.kind != TensorKind::kEager || t.size != 1) return nullptr;
  const auto* cell = dynamic_cast_to<const VariableCell*>(static_cast<Ref<Object>*>(t.data)->get());
  if (!cell) return nullptr;
  return std::make_shared<VariableSpec>(VariableSpec{cell->dtype, cell->shape});
}

// Whether every run of the trace will find these very elements.
bool is_fixed(const TensorImpl& t) {
  return t.kind == TensorKind::kEager && !is_host_only(t.dtype) && !t.movable() &&
         !t.storage->buffer.foreign();
}

// What a resource refers to; nullptr for other tensors.
const Object* referred(const TensorImpl& t) {
  if (t.dtype != DType::kResource || t.kind != TensorKind::kEager || t.size != 1) return nullptr;
  return static_cast<const Ref<Object>*>(t.data)->get();
}

const SymbolImpl& symbol_of(const Tensor& t) { return static_cast<const SymbolImpl&>(*t.impl()); }

}  // namespace

void destroy_symbol(TensorImpl* impl) { delete static_cast<SymbolImpl*>(impl); }

const void* known_data(const TensorImpl& impl) {
  const auto& s = static_cast<const SymbolImpl&>(impl);
  return s.trace->graph().value(s.value).known->data.get();
}

std::string describe_symbol(const TensorImpl& impl) {
  const auto& s = static_cast<const SymbolImpl&>(impl);
  const Graph& g = s.trace->graph();
  const GraphValue& v = g.value(s.value);
  std::string what;
  if (v.node >= 0) what = "the result of " + g.name_of(v.node);
  else if (const std::string& name = g.argument_names[size_t(v.index)]; !name.empty())
    what = "argument " + name;
  else what = "argument " + std::to_string(v.index);
  return what + ", " + std::string(name_of(v.dtype)) + v.shape.to_string() + ", of the function " + g.name;
}

int64_t Trace::most_added = int64_t(1) << 23;

static std::atomic<uint64_t> latest_serial_{0};
uint64_t Trace::latest_serial() { return latest_serial_.load(std::memory_order_relaxed); }

Trace::Trace(std::string name)
    : graph_(std::make_shared<Graph>()), serial_(latest_serial_.fetch_add(1, std::memory_order_relaxed) + 1) {
  graph_->name = std::move(name);
}

Tensor Trace::add_argument(DType dtype, const Shape& shape, std::string name) {
  RW_CHECK(captures_.empty());
  ++num_arguments_;
  return symbol(graph_->add_argument(dtype, shape, std::move(name)));
}

void Trace::add_argument(const Tensor& handle) {
  const TensorImpl& t = *handle.impl();
  RW_CHECK(captures_.empty() && referred(t));
  ++num_arguments_;
  const ValueId id = graph_->add_argument(t.dtype, t.shape);
  graph_->value(id).variable = spec_of(t);
  known_.emplace(&t, id);
  by_object_.emplace(referred(t), id);
  argument_handles_.insert(&t);
  kept_.push_back(handle);
}

void Trace::note_identity(const Tensor& handle) {
  knows_its_variables_ = knows_its_variables_ || argument_handles_.contains(handle.impl());
}

Tensor Trace::symbol(ValueId id) {
  auto* impl = new SymbolImpl;
  const GraphValue& v = graph_->value(id);
  impl->kind = TensorKind::kSymbol;
  impl->dtype = v.dtype;
  impl->shape = v.shape;
  impl->trace = Ref<Trace>(this);
  impl->value = id;
  return Tensor(Ref<TensorImpl>::adopt(impl));
}

bool Trace::followed_outside(const Tensor& tensor) const {
  for (const Trace* t = this; t; t = t->outer_)
    for (const Recorder* r = t->hidden_; r; r = r->outer)
      if (!r->paused && r->follows(tensor)) return true;
  return false;
}

ValueId Trace::find(const Tensor& tensor) const {
  if (is_symbol(tensor) && symbol_of(tensor).trace.get() == this) return symbol_of(tensor).value;
  const auto it = known_.find(tensor.impl());
  return it == known_.end() ? -1 : it->second;
}

ValueId Trace::value_of(const Tensor& tensor) {
  const TensorImpl& t = *tensor.impl();
  if (t.kind == TensorKind::kSymbol) {
    const SymbolImpl& s = symbol_of(tensor);
    if (s.trace.get() == this) return s.value;
    bool around = false;
    for (const Trace* o = outer_; o && !around; o = o->outer_) around = o == s.trace.get();
    if (!around || !s.trace->open()) fail_stale_symbol(t);
  }
  if (const auto it = known_.find(&t); it != known_.end()) return it->second;
  const Object* object = referred(t);
  if (const auto it = by_object_.find(object); object && it != by_object_.end()) {
    // A function that reaches its argument by another way too would be another graph for other arguments.
    for (Trace* o = this; o; o = o->outer_) {
      const auto at = o->by_object_.find(object);
      if (at != o->by_object_.end() && o->graph_->value(at->second).index < int32_t(o->num_arguments_))
        o->knows_its_variables_ = true;
    }
    return it->second;
  }
  const bool constant = copied_as_constant(t) && !followed_outside(tensor);
  ValueId id;
  if (constant) {
    id = graph_->add_constant(as_constant(t));
    if (t.unique()) return id;
  } else {
    id = graph_->add_argument(t.dtype, t.shape, {});
    graph_->value(id).variable =
        t.kind == TensorKind::kSymbol
            ? symbol_of(tensor).trace->graph().value(symbol_of(tensor).value).variable
            : spec_of(t);
    if (is_fixed(t)) graph_->value(id).known = as_constant(t);
    if (t.kind == TensorKind::kSymbol)
      graph_->value(id).known = symbol_of(tensor).trace->graph().value(symbol_of(tensor).value).known;
    captures_.push_back(tensor);
    if (object) by_object_.emplace(object, id);
  }
  known_.emplace(&t, id);
  kept_.push_back(tensor);
  return id;
}

// A loop of C++'s that ends by values which a trace does not have would take all memory.
void Trace::fail_endless() {
  try {
    fail_exhausted("function",
                   "tracing " + root_->graph().name + " has taken more than " + std::to_string(most_added) +
                       " operations: a loop of C++'s is unrolled that has very many iterations, or "
                       "whose end a tensor decides; loop over rw::range(n) with a tensor n, or "
                       "while a tensor's condition holds, which is a loop in the graph");
  } catch (const Error& e) { throw_with_places(e, {{"at", site_here()}}); }
}

Tensors Trace::add(const Op& op, TensorPointers inputs, const Attrs& attrs) {
  if (++root_->num_added_ > most_added) [[unlikely]]
    fail_endless();
  SmallVector<ValueId, 8> ids(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) ids[i] = value_of(*inputs[i]);
  CallSiteRef site = site_here();
  NodeId node = -1;
  try {
    node = graph_->add_node(op, attrs, {ids.data(), ids.size()});
  } catch (const Error& e) { throw_with_places(e, {{"at", site}}); }
  graph_->node(node).site = std::move(site);
  graph_->node(node).region = region;
  Tensors outputs;
  for (const ValueId v : graph_->node(node).outputs) outputs.push_back(symbol(v));
  return outputs;
}

Tensor Trace::add_late_argument(DType dtype, const Shape& shape) {
  captures_.emplace_back();
  return symbol(graph_->add_argument(dtype, shape));
}

std::vector<ValueId> Trace::extend(ValueId output, const NodeExtension& extension) {
  RW_CHECK(open_);
  return extend_node(*graph_, graph_->value(output).node, extension, marks_);
}

size_t Trace::mark() {
  marks_.push_back(graph_->nodes().size());
  return marks_.size() - 1;
}

void Trace::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

void Trace::finish(std::span<const Tensor> results) {
  throw_failure();
  for (const Tensor& t : results) graph_->outputs.push_back(value_of(t));
  open_ = false;
  known_.clear();
  by_object_.clear();
  argument_handles_.clear();
  kept_.clear();
}

void Trace::note_variable(const Variable& variable) {
  for (const Trace* t = this; t; t = t->outer_)
    if (t->argument_handles_.contains(variable.handle().impl())) return;
  if (variable_index_.emplace(variable.identity().get(), variables_.size()).second)
    variables_.push_back(variable);
}

bool Trace::unlink_hidden(const Recorder& recorder) {
  for (Recorder** at = &hidden_; *at; at = &(*at)->outer) {
    if (*at != &recorder) continue;
    *at = recorder.outer;
    return true;
  }
  return false;
}

CallSiteRef Trace::site_here() { return site_ ? site_ : sites_.here(stack_end_); }

TraceScope::TraceScope(Trace& trace) : saved_(thread_state()) {
  ThreadState& state = thread_state();
  trace.stack_end_ = state.trace ? state.trace->stack_end_ : __builtin_frame_address(0);
  trace.outer_ = state.trace;
  trace.root_ = state.trace ? state.trace->root_ : &trace;
  trace.hidden_ = state.recorders;
  state.trace = &trace;
  state.recorders = nullptr;
  state.depth = 0;
}
TraceScope::~TraceScope() {
  Trace& trace = *thread_state().trace;
  trace.outer_ = nullptr;
  trace.root_ = &trace;
  saved_.recorders = trace.hidden_;  // some may have been taken off
  // They hold tensors of the trace, which hold the trace.
  trace.kept.clear();
  if (trace.mirror) trace.mirror->kept.clear();
  thread_state() = saved_;
}

SiteScope::SiteScope() : trace_(thread_state().trace) {
  if (!trace_) return;
  saved_ = trace_->site_;
  trace_->site_ = trace_->site_here();
}
SiteScope::SiteScope(const Node& node) : trace_(thread_state().trace) {
  if (!trace_) return;
  saved_ = trace_->site_;
  if (node.site) trace_->site_ = site_of(node);
}
SiteScope::~SiteScope() {
  if (trace_) trace_->site_ = std::move(saved_);
}

OutsideTraces::OutsideTraces() : saved_(thread_state()) { thread_state() = ThreadState{}; }
OutsideTraces::~OutsideTraces() { thread_state() = saved_; }

bool is_symbol(const Tensor& tensor) {
  return tensor.defined() && tensor.impl()->kind == TensorKind::kSymbol;
}
Trace* current_trace() { return thread_state().trace; }
std::recursive_mutex& tracing_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

CallSiteRef site_of(const Node& node) { return std::static_pointer_cast<const CallSite>(node.site); }
CallSiteRef site_of(const Tensor& tensor) {
  const SymbolImpl& s = symbol_of(tensor);
  const Node* maker = s.trace->graph().producer(s.value);
  return maker ? site_of(*maker) : nullptr;
}

namespace {

// Of a traced tensor in the wrong place: with the line that made it, and the line that uses it.
[[noreturn]] void fail_use(const TensorImpl& impl, const std::string& message) {
  const auto& s = static_cast<const SymbolImpl&>(impl);
  const Node* maker = s.trace->graph().producer(s.value);
  try {
    fail_precondition("tensor", describe_symbol(impl) + message);
  } catch (const Error& e) {
    try {
      throw_with_places(e, {{"made at", maker ? site_of(*maker) : nullptr},
                            {"used at", std::make_shared<CallSite>(CallSite::here())}});
    } catch (const Error&) { Trace::fail_all(); }
  }
}

}  // namespace

void Trace::fail_all() {
  for (Trace* t = thread_state().trace; t; t = t->is_trial ? nullptr : t->outer_)
    if (!t->failure_) t->failure_ = std::current_exception();
  throw;  // NOLINT: the caller's exception
}

void fail_staged(std::string_view tag, std::string_view message) {
  try {
    fail_precondition(tag, message);
  } catch (const Error&) { Trace::fail_all(); }
}

void fail_stale_symbol(const TensorImpl& impl) {
  fail_use(impl,
           ", is used outside the trace that made it; return it from the function, or keep state in an "
           "rw::Variable");
}

void fail_symbol_value(const TensorImpl& impl, const char* cure) {
  if (!static_cast<const SymbolImpl&>(impl).trace->open()) fail_stale_symbol(impl);
  fail_use(impl, std::string(", has no value while the function is traced; ") + cure);
}

Tensor value_outside(const Tensor& tensor) {
  const SymbolImpl& s = symbol_of(tensor);
  Trace& trace = *s.trace;
  const Graph& g = trace.graph();
  std::vector<uint8_t> needed(g.num_values(), 0);
  needed[size_t(s.value)] = 1;
  for (size_t i = g.nodes().size(); i-- > 0;) {
    bool wanted = false;
    for (const ValueId v : g.nodes()[i].outputs) wanted |= needed[size_t(v)] != 0;
    if (wanted)
      for (const ValueId v : g.nodes()[i].inputs) needed[size_t(v)] = 1;
  }
  for (size_t i = 0; i < trace.num_arguments(); ++i)
    if (needed[size_t(g.arguments[i])])
      fail_staged("Variable", "the initial value depends on an argument of the function " + g.name +
                                  ", which has no value while it is traced");
  std::vector<Tensor> values(g.num_values());
  for (size_t i = trace.num_arguments(); i < g.arguments.size(); ++i) {
    if (!needed[size_t(g.arguments[i])]) continue;
    const Tensor& captured = trace.captures()[i - trace.num_arguments()];
    values[size_t(g.arguments[i])] = is_symbol(captured) ? value_outside(captured) : captured;
  }
  const OutsideTraces outside;
  for (const Node& n : g.nodes()) {
    bool wanted = false;
    for (const ValueId v : n.outputs) wanted |= needed[size_t(v)] != 0;
    if (!wanted) continue;
    SmallVector<const Tensor*, 8> in;
    for (const ValueId v : n.inputs) in.push_back(&values[size_t(v)]);
    Tensors out = rw::apply(*n.op, TensorPointers(in.data(), in.size()), n.attrs);
    for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = std::move(out[k]);
  }
  return values[size_t(s.value)];
}

bool calls_become_nodes() {
  const ThreadState& state = thread_state();
  return state.trace && !state.recorders && state.depth == 0 && !state.trace->part_of_outer;
}

namespace {

bool is_call(const Op& op) { return op.name == "PartitionedCall" || op.name == "StatefulPartitionedCall"; }

bool is_batched(const Tensor& t) { return t.impl()->kind == TensorKind::kBatched; }

// Control flow outside a trace is plain C++, so that who listens hears the ops inside. What depends on the
// elements of a batch goes through the op itself.
std::optional<std::vector<Tensor>> unroll(const Node& n, std::span<const Tensor> in) {
  const auto body = [&](std::string_view name) { return graph_attr(n, name); };
  const std::string_view name = std::string_view(n.op->name).starts_with("Stateless")
                                    ? std::string_view(n.op->name).substr(9)
                                    : std::string_view(n.op->name);
  if (is_call(*n.op)) return replay(*body("f"), in);
  if (name == "If" || name == "Case") {
    if (is_batched(in[0])) return {};
    if (name == "If") return replay(*body(bool(in[0]) ? "then_branch" : "else_branch"), in.subspan(1));
    const auto branches = attr_as<std::vector<BodyRef>>(*n.op, n.attrs, "branches");
    const size_t i = size_t(in[0].item<int32_t>());  // a negative one becomes large
    return replay(*graph_ref(branches[std::min(i, branches.size() - 1)]), in.subspan(1));
  }
  if (name != "While") return {};
  std::vector<Tensor> state(in.begin(), in.end());
  while (true) {
    const Tensor more = replay(*body("cond"), state)[0];
    if (is_batched(more)) {
      Tensors rest = rw::apply(*n.op, state, n.attrs);
      return std::vector<Tensor>(rest.begin(), rest.end());
    }
    if (!bool(more)) return state;
    state = replay(*body("body"), state);
  }
}

}  // namespace

std::vector<Tensor> replay(const Graph& g, std::span<const Tensor> inputs) {
  RW_CHECK(inputs.size() == g.arguments.size());
  if (const int64_t nodes = ExpandedSizes(ExpandedSizes::Branches::kAll).of(g); nodes > kMostReplayed)
    fail_exhausted(g.name, "at most " + std::to_string(kMostReplayed) +
                               " nodes can be differentiated, batched or written out, those of called "
                               "functions counted once per call: got " +
                               expanded_text(nodes));
  std::vector<Tensor> values(g.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[size_t(g.arguments[i])] = inputs[i];
  SmallVector<const Tensor*, 8> in;
  for (const Node& n : g.nodes()) {
    in.resize(n.inputs.size());
    for (size_t k = 0; k < n.inputs.size(); ++k) in[k] = &values[size_t(n.inputs[k])];
    const bool tracing = thread_state().trace;
    if (n.op->runtime && (!tracing || (is_call(*n.op) && !calls_become_nodes()))) {
      std::vector<Tensor> list;
      for (const Tensor* t : in) list.push_back(*t);
      if (auto out = unroll(n, list)) {
        for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = (*out)[k];
        continue;
      }
    }
    const SiteScope site(n);
    Tensors out;
    try {
      out = rw::apply(*n.op, TensorPointers(in.data(), in.size()), n.attrs);
    } catch (const Error& e) { throw_with_places(e, {{"at", site_of(n)}}); }
    for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = std::move(out[k]);
  }
  std::vector<Tensor> results;
  for (const ValueId v : g.outputs) results.push_back(values[size_t(v)]);
  return results;
}

}  // namespace rw
