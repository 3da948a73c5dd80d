#include "rewind/function/function.h"

#include <atomic>
#include <cstdio>

#include "rewind/base/error.h"
#include "rewind/function/control_rules.h"
#include "rewind/tensor/check_outputs.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

std::atomic<bool> g_run_eagerly{false};
thread_local std::vector<const FunctionCore*> t_being_traced;

// One thread traces at a time: functions trace functions in any order.
std::recursive_mutex& tracing_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

constexpr size_t kTracesBeforeWarning = 5;

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
      if ((detail & 255) == 4) return std::to_string(std::bit_cast<float>(uint32_t(words[1])));
      return std::to_string(std::bit_cast<double>(words[1]));
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

const FunctionCore::Entry* FunctionCore::look_up(const TraceKey& key, const TensorList& tensors) const {
  const std::lock_guard lock(mutex_);
  for (const auto& e : entries_)
    if (!e->general && e->key == key) return e.get();
  std::optional<TraceKey> shapeless;
  for (const auto& e : entries_) {
    if (!e->general || !admits(e->specs, tensors)) continue;
    if (!shapeless) shapeless = without_shapes(key);
    if (without_shapes(e->key) == *shapeless) return e.get();
  }
  return nullptr;
}

const FunctionCore::Entry& FunctionCore::find(const TraceKey& given, const TensorList& tensors,
                                              Tracer tracer) {
  std::optional<TraceKey> checked;  // other traces: they have checks in them
  if (checks_numerics()) [[unlikely]]
    checked.emplace(given).add(TraceKey::kNothing, 1);
  const TraceKey& key = checked ? *checked : given;
  for (const FunctionCore* core : t_being_traced)
    if (core == this)
      fail_precondition(
          options_.name,
          "the function calls itself while it is traced: a recursion has no graph; use rw::while_loop");
  if (const Entry* e = last_.load(std::memory_order_acquire); e && !e->general && e->key == key) return *e;
  if (options_.input_signature && !admits(*options_.input_signature, tensors)) {
    fail_invalid(options_.name, "the arguments do not fit the input_signature: expected " +
                                    describe(*options_.input_signature) + ", got " +
                                    describe(specs_of(tensors)));
  }
  if (const Entry* e = look_up(key, tensors)) {
    last_.store(e, std::memory_order_release);
    return *e;
  }
  const std::lock_guard tracing(tracing_mutex());
  if (const Entry* e = look_up(key, tensors)) return *e;  // another thread was faster
  bool general = false;
  std::vector<TensorSpec> specs =
      options_.input_signature ? *options_.input_signature : generalised(key, tensors, &general);
  return trace(key, std::move(specs), general || options_.input_signature.has_value(), tracer);
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

Ref<Trace> FunctionCore::run_tracer(const std::vector<TensorSpec>& specs, bool may_create_variables,
                                    Tracer tracer, std::any* prototype) const {
  register_control_flow_rules();  // ops inside may become loops
  auto trace = Ref<Trace>::adopt(new Trace(options_.name));
  trace->may_create_variables = may_create_variables;
  const TraceScope scope(*trace);
  std::vector<Tensor> symbols;
  for (const TensorSpec& s : specs) symbols.push_back(trace->add_argument(s.dtype, s.shape, s.name));
  TensorList results;
  try {
    *prototype = tracer(symbols, &results);
  } catch (...) {
    trace->throw_failure();  // what came of it is not the cause
    throw;
  }
  trace->finish({results.data(), results.size()});
  return trace;
}

const FunctionCore::Entry& FunctionCore::trace(const TraceKey& key, std::vector<TensorSpec> specs,
                                               bool general, Tracer tracer) {
  auto entry = std::make_unique<Entry>();
  t_being_traced.push_back(this);
  struct Pop {
    ~Pop() { t_being_traced.pop_back(); }
  } pop;
  const Trace* const outer = thread_state().trace;
  const bool first = entries_.empty() && (!outer || outer->may_create_variables);
  Ref<Trace> trace = run_tracer(specs, first, tracer, &entry->prototype);
  // The first run made variables, later ones find them there: the second run is what all calls do.
  if (trace->created_variables) trace = run_tracer(specs, false, tracer, &entry->prototype);
  entry->key = key;
  entry->general = general;
  entry->specs = std::move(specs);
  entry->concrete = std::make_shared<ConcreteFunction>(trace, options_.memory_budget);
  const Entry& made = *entry;
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  last_.store(&made, std::memory_order_release);
  if (!warned_ && entries_.size() > kTracesBeforeWarning) warn_of_retracing(key);
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
  fprintf(stderr,
          "rewind: function %s was traced %zu times, and each trace costs time: %s. Pass numbers as tensors, "
          "give an "
          "input_signature with unknown sizes, or set reduce_retracing.\n",
          options_.name.c_str(), entries_.size(), changed.c_str());
}

int FunctionCore::tracing_count() const {
  const std::lock_guard lock(mutex_);
  return int(entries_.size());
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
