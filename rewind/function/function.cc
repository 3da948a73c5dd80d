#include "rewind/function/function.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/base/thread_own.h"
#include "rewind/function/control_rules.h"
#include "rewind/tensor/check_outputs.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"
#include "rewind/tensor/variable_watch.h"

namespace rw {
namespace {

std::atomic<bool> g_run_eagerly{false};
struct BeingTraced {
  const FunctionCore* core;
  TraceKey key;
};
std::vector<BeingTraced>& being_traced() { return ThreadOwn<std::vector<BeingTraced>>::get(); }

constexpr size_t kTracesBeforeWarning = 5;
constexpr size_t kMostNestedTraces = 1000;

// A quarter of the stack is left to the code of the innermost trace.
bool stack_is_low() {
#ifdef __GLIBC__
  thread_local const uintptr_t limit = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return uintptr_t(0);
    void* lowest = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<uintptr_t>(lowest) + bytes / 4;
  }();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < limit;
#else
  return false;
#endif
}

const Object* object_behind(const Tensor& handle) {
  return is_symbol(handle) ? nullptr : static_cast<const Ref<Object>*>(handle.impl()->data)->get();
}

// Whether an entry's trace is good for these variables, their kinds and aliases being equal.
bool fits(const FunctionCore::Entry& e, const ArgumentObjects& objects) {
  for (size_t i = 0; i < objects.variables.size(); ++i) {
    const Variable& v = objects.variables[i];
    if (e.own_variables) {
      if (e.objects.variables[i].identity() != v.identity()) return false;
    } else if (std::find(e.captured.begin(), e.captured.end(), object_behind(v.handle())) !=
               e.captured.end()) {
      return false;
    }
  }
  return true;
}

// Variables that are passed are used, as far as tapes and traces around the call can know.
void hear_variables(const ArgumentObjects& objects, bool own_variables) {
  const ThreadState& state = thread_state();
  if (!state.trace && !state.recorders) return;
  for (const Variable& v : objects.variables) {
    for (Trace* t = state.trace; t; t = t->part_of_outer ? t->outer() : nullptr) t->note_variable(v);
    if (own_variables) (void)v.id();  // the trace around depends on them as well
    watch_variable(v);
  }
}

std::string describe_argument(std::span<const uint64_t> words) {
  if (words.empty()) return "nothing";
  const uint64_t detail = words[0] & 0xffffffffffffff;
  switch (TraceKey::Tag(words[0] >> 56)) {
    case TraceKey::kTensor: {
      std::vector<int64_t> dims(words.begin() + 1, words.begin() + 1 + std::max<int>(0, int32_t(detail)));
      const bool unknown_rank = int32_t(detail) < 0;
      return std::string(name_of(DType(detail >> 32 & 0xff))) +
             (unknown_rank ? Shape::unknown_rank() : Shape(dims)).to_string() +
             (detail >> 40 ? " on another device" : "");
    }
    case TraceKey::kValue: {
      if (detail & 512) return words[1] ? "true" : "false";
      if (!(detail & 256)) return std::to_string(int64_t(words[1]));
      if ((detail & 255) == 4) return number_text(std::bit_cast<float>(uint32_t(words[1])));
      return number_text(std::bit_cast<double>(words[1]));
    }
    case TraceKey::kText: {
      std::string text(detail, 0);
      std::memcpy(text.data(), words.data() + 1, detail);
      return "\"" + text + "\"";
    }
    case TraceKey::kVariable: return "a variable";
    case TraceKey::kObject: return "an object";
    case TraceKey::kNothing: return "nothing";
    case TraceKey::kList: return "a structure";
  }
  return "something";
}

// Of a tensor that stands for a TensorSpec, or for an argument of the function around.
std::string argument_name(const Tensor& t) {
  if (!is_symbol(t)) return {};
  const auto& s = static_cast<const SymbolImpl&>(*t.impl());
  const GraphValue& v = s.trace->graph().value(s.value);
  return v.node < 0 ? s.trace->graph().argument_names[size_t(v.index)] : std::string();
}

std::vector<TensorSpec> specs_of(const TensorList& tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& t : tensors) specs.push_back({t.shape(), t.dtype(), argument_name(t)});
  return specs;
}

std::string describe(const std::vector<TensorSpec>& specs) {
  std::string text = "(";
  for (size_t i = 0; i < specs.size(); ++i) text += (i ? ", " : "") + specs[i].to_string();
  return text + ")";
}

bool admits(const std::vector<TensorSpec>& specs, const TensorList& tensors) {
  if (specs.size() != tensors.size()) return false;
  for (size_t i = 0; i < specs.size(); ++i)
    if (!specs[i].admits(tensors[i])) return false;
  return true;
}

// The key without the tensors' sizes: what two traces must share to serve each other's shapes.
TraceKey without_shapes(const TraceKey& key) {
  TraceKey out;
  for (const uint64_t w : key.types()) out.add(w);
  for (size_t a = 0; a < key.num_arguments(); ++a) {
    out.begin_argument();
    const auto words = key.argument(a);
    for (size_t i = 0; i < words.size(); ++i) {
      const uint64_t tag = words[i] >> 56;
      if (tag == TraceKey::kTensor) {
        out.add(words[i] & ~uint64_t(0xffffffff));
        i += size_t(std::max<int>(0, int32_t(words[i])));
      } else {
        out.add(words[i]);
        if (tag == TraceKey::kValue || tag == TraceKey::kVariable || tag == TraceKey::kObject)
          out.add(words[++i]);
        if (tag == TraceKey::kText)
          for (size_t n = ((words[i] & 0xffffffffffffff) + 7) / 8; n > 0; --n) out.add(words[++i]);
      }
    }
  }
  return out;
}

Shape relaxed(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape out = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) out.set(k, Shape::kUnknown);
  return out;
}

}  // namespace

void run_functions_eagerly(bool enabled) { g_run_eagerly = enabled; }
bool functions_run_eagerly() { return g_run_eagerly.load(std::memory_order_relaxed); }

FunctionCore::FunctionCore(FunctionOptions options) : options_(std::move(options)) {
  if (options_.name.empty()) options_.name = "function";
}

const FunctionCore::Entry* FunctionCore::look_up(const TraceKey& key, const TensorList& tensors,
                                                 const ArgumentObjects& objects) const {
  const std::lock_guard lock(mutex_);
  for (const auto& e : entries_)
    if (!e->general && e->key == key && fits(*e, objects)) return e.get();
  std::optional<TraceKey> shapeless;
  for (const auto& e : entries_) {
    if (!e->general || !admits(e->specs, tensors) || !fits(*e, objects)) continue;
    if (!shapeless) shapeless = without_shapes(key);
    if (without_shapes(e->key) == *shapeless) return e.get();
  }
  return nullptr;
}

// Traces of one function inside each other go on through different arguments, until the code ends them.
void FunctionCore::check_recursion(const TraceKey& key) const {
  size_t own = 0;
  for (const BeingTraced& t : being_traced()) {
    if (t.core != this) continue;
    ++own;
    if (t.key == key)
      fail_staged(options_.name,
                  "the function calls itself while it is traced, with arguments of the same kind: the "
                  "recursion has no end; pass a C++ number that ends it, or use rw::while_loop");
  }
  if (being_traced().size() < kMostNestedTraces && !stack_is_low()) return;
  fail_staged(options_.name, own > 0 ? "the function calls itself while it is traced, " +
                                           std::to_string(own) + " traces deep; use rw::while_loop"
                                     : "functions are traced inside each other " +
                                           std::to_string(being_traced().size()) + " deep");
}

const FunctionCore::Entry& FunctionCore::find(const TraceKey& given, TensorList& tensors,
                                              const ArgumentObjects& objects, Tracer tracer) {
  std::optional<TraceKey> checked;  // other traces: they have checks in them
  if (checks_numerics()) [[unlikely]]
    checked.emplace(given).add(TraceKey::kNothing, 1);
  const TraceKey& key = checked ? *checked : given;
  const Entry* e = last_.load(std::memory_order_acquire);
  if (!e || e->general || !(e->key == key) || !fits(*e, objects))
    e = &find_entry(key, tensors, objects, tracer);
  if (!objects.variables.empty()) hear_variables(objects, e->own_variables);
  if (!e->own_variables)
    for (const Variable& v : objects.variables) tensors.push_back(v.handle());
  return *e;
}

const FunctionCore::Entry& FunctionCore::find_entry(const TraceKey& key, const TensorList& tensors,
                                                    const ArgumentObjects& objects, Tracer tracer) {
  if (options_.input_signature && !admits(*options_.input_signature, tensors)) {
    fail_invalid(options_.name, "the arguments do not fit the input_signature: expected " +
                                    describe(*options_.input_signature) + ", got " +
                                    describe(specs_of(tensors)));
  }
  if (const Entry* e = look_up(key, tensors, objects)) {
    last_.store(e, std::memory_order_release);
    return *e;
  }
  check_recursion(key);
  const std::lock_guard tracing(tracing_mutex());
  if (const Entry* e = look_up(key, tensors, objects)) return *e;  // another thread was faster
  auto entry = std::make_unique<Entry>();
  entry->specs =
      options_.input_signature ? *options_.input_signature : generalised(key, tensors, &entry->general);
  entry->general = entry->general || options_.input_signature.has_value();
  entry->key = key;
  entry->objects = objects;
  return trace(std::move(entry), tracer);
}

std::vector<TensorSpec> FunctionCore::generalised(const TraceKey& key, const TensorList& tensors,
                                                  bool* general) const {
  std::vector<TensorSpec> specs = specs_of(tensors);
  for (const TensorSpec& s : specs) *general |= !s.shape.fully_known();
  if (!options_.reduce_retracing) return specs;
  const TraceKey shapeless = without_shapes(key);
  for (const auto& e : entries_) {
    if (e->specs.size() != specs.size() || !(without_shapes(e->key) == shapeless)) continue;
    for (size_t i = 0; i < specs.size(); ++i) specs[i].shape = relaxed(specs[i].shape, e->specs[i].shape);
    *general = true;
  }
  return specs;
}

// A trace that turns out to depend on which variables it is given is made again with those themselves. Gives
// nullptr when that is why it failed.
Ref<Trace> FunctionCore::run_tracer(Entry& entry, bool may_create_variables, Tracer tracer,
                                    CallStructure* structure) const {
  link_control_flow_rules();  // ops inside may become loops
  auto trace = Ref<Trace>::adopt(new Trace(options_.name));
  trace->may_create_variables = may_create_variables;
  const TraceScope scope(*trace);
  std::vector<Tensor> symbols;
  for (const TensorSpec& s : entry.specs) symbols.push_back(trace->add_argument(s.dtype, s.shape, s.name));
  ArgumentObjects inside;
  for (const Variable& v : entry.objects.variables) {
    inside.variables.push_back(entry.own_variables ? v : v.as_argument());
    if (!entry.own_variables) trace->add_argument(inside.variables.back().handle());
  }
  TensorList results;
  try {
    entry.prototype = tracer(symbols, entry.objects, inside, &results, structure);
  } catch (...) {
    if (trace->knows_its_variables()) {
      entry.own_variables = true;
      return {};
    }
    trace->throw_failure();  // what came of it is not the cause
    throw;
  }
  trace->finish({results.data(), results.size()});
  entry.own_variables = entry.own_variables || trace->knows_its_variables();
  return trace;
}

const FunctionCore::Entry& FunctionCore::trace(std::unique_ptr<Entry> entry, Tracer tracer) {
  being_traced().push_back({this, entry->key});
  struct Pop {
    ~Pop() { being_traced().pop_back(); }
  } pop;
  const Trace* const outer = thread_state().trace;
  bool may_create = entries_.empty() && (!outer || outer->may_create_variables);
  Ref<Trace> trace;
  CallStructure structure{.argument_names = options_.argument_names, .known = true};
  for (bool settled = false; !settled;) {
    const bool own = entry->own_variables;
    trace = run_tracer(*entry, may_create, tracer, &structure);
    // The first run made variables, later ones find them there: the second run is what all calls do.
    const bool created = trace && trace->created_variables;
    settled = !created && entry->own_variables == own;
    may_create = may_create && !created;
  }
  entry->concrete = std::make_shared<ConcreteFunction>(trace, options_.memory_budget, std::move(structure));
  for (const Tensor& t : trace->captures())
    if (t.dtype() == DType::kResource && !is_symbol(t)) entry->captured.push_back(object_behind(t));
  const Entry& made = *entry;
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  last_.store(&made, std::memory_order_release);
  if (!warned_ && entries_.size() > kTracesBeforeWarning) warn_of_retracing(made.key);
  return made;
}

void FunctionCore::warn_of_retracing(const TraceKey& key) {
  warned_ = true;
  const TraceKey& before = entries_[entries_.size() - 2]->key;
  std::string changed;
  for (size_t i = 0; i < key.num_arguments() && i < before.num_arguments(); ++i) {
    const auto a = before.argument(i);
    const auto b = key.argument(i);
    if (std::equal(a.begin(), a.end(), b.begin(), b.end())) continue;
    changed += (changed.empty() ? "argument " : ", argument ") + std::to_string(i) + " was " +
               describe_argument(a) + " and is now " + describe_argument(b);
  }
  const std::string text =
      "rewind: function " + options_.name + " was traced " + std::to_string(entries_.size()) +
      " times, and each trace costs time: " + changed +
      ". Pass numbers as tensors, give an input_signature with unknown sizes, or set reduce_retracing.\n";
  std::fputs(text.c_str(), stderr);
}

int FunctionCore::tracing_count() const {
  const std::lock_guard lock(mutex_);
  return int(entries_.size());
}

std::vector<ConcreteFunction> FunctionCore::concrete_functions() const {
  const std::lock_guard lock(mutex_);
  std::vector<ConcreteFunction> list;
  for (const auto& e : entries_) list.push_back(*e->concrete);
  return list;
}

std::string FunctionCore::pretty_printed_concrete_signatures() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& e : entries_) text += (text.empty() ? "" : "\n\n") + e->concrete->signature();
  return text;
}

Tensor spec_tensor(const TensorSpec& spec) {
  const auto trace = Ref<Trace>::adopt(new Trace("spec"));
  return trace->add_argument(spec.dtype, spec.shape, spec.name);
}

}  // namespace rw
