// rw::function(f): f becomes a graph. The first call with a kind of arguments traces f: it runs once on
// tensors that stand for values, and its ops become a graph. Later calls with arguments of that kind run the
// graph.
//
//   auto step = rw::function([&](rw::Tensor x) { return rw::tanh(rw::matmul(x, w)); });
//   rw::Tensor y = step(x);
//
// A kind is: dtype and shape of tensors, the value of numbers and strings, the identity of objects; of
// variables dtype, shape, whether they are trained, and which of them are one.
// Functions are called from any number of threads; each function() has its own traces.
#pragma once

#include <any>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "rewind/base/function_ref.h"
#include "rewind/function/concrete_function.h"
#include "rewind/function/nest.h"
#include "rewind/function/result.h"
#include "rewind/function/structure_of.h"

namespace rw {

class Object;

struct FunctionOptions {
  std::string name = {};
  // One trace for all calls: flat tensors in the order of the arguments. Calls that do not fit are refused.
  std::optional<std::vector<TensorSpec>> input_signature = {};
  // Sizes that keep changing become unknown, so that one trace serves them all.
  bool reduce_retracing = false;
  // Bytes that the library may hold on the device while the function runs, all in: what does not fit is
  // recomputed, and what cannot fit is refused before the first step. 0: the device's budget, if one is set.
  int64_t memory_budget = 0;
  // Of the parameters, for files: C++ does not tell them. TensorFlow calls the saved function by them.
  std::vector<std::string> argument_names = {};
};

// Everything runs eagerly, for debuggers.
void run_functions_eagerly(bool enabled);
bool functions_run_eagerly();

// The part of a function that knows nothing of its C++ type.
class FunctionCore {
 public:
  struct Entry {
    TraceKey key;
    std::vector<TensorSpec> specs;  // of the tensors among the arguments
    std::shared_ptr<const ConcreteFunction> concrete;
    std::any prototype;  // the traced result, for its structure
    bool general = false;
    ArgumentObjects objects;     // of the call that was traced
    bool own_variables = false;  // the trace is for these very variables, which it uses as it would others
    std::vector<const Object*> captured;  // resources, which no other variable may be as well
  };
  // Runs the user's function on symbols: gives flat results and the prototype.
  using Tracer =
      FunctionRef<std::any(std::span<const Tensor> symbols, const ArgumentObjects& arguments,
                           const ArgumentObjects& inside, TensorList* results, CallStructure* structure)>;

  explicit FunctionCore(FunctionOptions options);
  // What the call passes on is behind `tensors`: handles of the variables among the arguments.
  const Entry& find(const TraceKey& key, TensorList& tensors, const ArgumentObjects& objects, Tracer tracer);

  const FunctionOptions& options() const { return options_; }
  int tracing_count() const;
  // The traces there are, in the order in which they were made.
  std::vector<ConcreteFunction> concrete_functions() const;
  std::string pretty_printed_concrete_signatures() const;

 private:
  const Entry& find_entry(const TraceKey& key, const TensorList& tensors, const ArgumentObjects& objects,
                          Tracer tracer);
  const Entry* look_up(const TraceKey& key, const TensorList& tensors, const ArgumentObjects& objects) const;
  const Entry& trace(std::unique_ptr<Entry> entry, Tracer tracer);
  Ref<Trace> run_tracer(Entry& entry, bool may_create_variables, Tracer tracer,
                        CallStructure* structure) const;
  void check_recursion(const TraceKey& key) const;
  std::vector<TensorSpec> generalised(const TraceKey& key, const TensorList& tensors, bool* general) const;
  void warn_of_retracing(const TraceKey& key);

  FunctionOptions options_;
  mutable std::mutex mutex_;  // guards entries_
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<const Entry*> last_{nullptr};
  bool warned_ = false;
};

// A tensor without a value that stands for the spec.
Tensor spec_tensor(const TensorSpec& spec);

namespace detail {

// How an argument reaches the user's function while tracing: structures with symbols in them, objects as they
// are.
template <class A>
struct TracedArgument {
  using T = std::remove_cvref_t<A>;
  static constexpr bool kIsNest = HasNest<T>;
  static void write(const T& a, NestWriter& w) {
    w.key.begin_argument();
    if constexpr (kIsNest) {
      Nest<T>::write(a, w);
    } else if constexpr (std::is_empty_v<T>) {
      static const char identity = 0;  // one per type
      Nest<const void*>::write(&identity, w);
    } else {
      static_assert(std::is_lvalue_reference_v<A>,
                    "objects are known by their address: pass them by reference");
      Nest<const T*>::write(&a, w);
    }
  }
  static decltype(auto) read(std::remove_reference_t<A>& a, NestReader& r) {
    if constexpr (kIsNest) return Nest<T>::read(a, r);
    else return (a);
  }
};

template <class A>
decltype(auto) as_argument(A&& a) {
  if constexpr (std::is_same_v<std::remove_cvref_t<A>, TensorSpec>) return spec_tensor(a);
  else if constexpr (std::is_same_v<std::remove_cvref_t<A>, std::vector<TensorSpec>>) {
    std::vector<Tensor> list;
    for (const TensorSpec& s : a) list.push_back(spec_tensor(s));
    return list;
  } else return std::forward<A>(a);
}

template <class R>
using ResultOrNothing =
    ResultOf<std::conditional_t<std::is_void_v<R>, std::monostate, std::remove_cvref_t<R>>>;

}  // namespace detail

template <class F>
class Function {
 public:
  Function(F f, FunctionOptions options)
      : f_(std::make_shared<F>(std::move(f))), core_(std::make_shared<FunctionCore>(std::move(options))) {}
  // With the traces of another one of the same callable.
  Function(F f, std::shared_ptr<FunctionCore> core)
      : f_(std::make_shared<F>(std::move(f))), core_(std::move(core)) {}

  template <class... A>
  decltype(auto) operator()(A&&... args) const {
    using R = std::invoke_result_t<F&, A&...>;
    using Result = detail::ResultOrNothing<R>;
    if (functions_run_eagerly()) {
      if constexpr (std::is_void_v<R>) return std::invoke(*f_, args...);
      else return detail::take_result<std::remove_cvref_t<R>>(std::invoke(*f_, args...));
    }
    TensorList tensors;
    const FunctionCore::Entry& entry = find<A...>(&tensors, args...);
    TensorList results;
    entry.concrete->call({tensors.data(), tensors.size()}, &results);
    [[maybe_unused]] NestReader reader{results.data()};
    if constexpr (!std::is_void_v<R>)
      return Nest<Result>::read(*std::any_cast<Result>(&entry.prototype), reader);
  }

  // The trace for arguments like these; a TensorSpec stands for a tensor of its kind, a vector of them for a
  // vector of tensors.
  template <class... A>
  ConcreteFunction get_concrete_function(A&&... args) const {
    return concrete_for(detail::as_argument(std::forward<A>(args))...);
  }

  // What a call with these arguments does with memory. Traces and plans; the function itself does not run
  // (kernels may, once each on zeros, to say what scratch memory they take).
  template <class... A>
  MemoryReport memory_plan(A&&... args) const {
    TensorList tensors;
    const FunctionCore::Entry& entry = find<A...>(&tensors, args...);
    return entry.concrete->memory_plan({tensors.data(), tensors.size()});
  }

  int tracing_count() const { return core_->tracing_count(); }
  std::string pretty_printed_concrete_signatures() const {
    return core_->pretty_printed_concrete_signatures();
  }
  F& callable() const { return *f_; }
  const std::shared_ptr<F>& shared_callable() const { return f_; }
  const std::shared_ptr<FunctionCore>& core() const { return core_; }

 private:
  template <class... A>
  const FunctionCore::Entry& find(TensorList* tensors, std::remove_reference_t<A>&... args) const {
    TraceKey key;
    key.add_types<std::decay_t<A>...>();
    ArgumentObjects objects;
    [[maybe_unused]] NestWriter writer{key, *tensors, &objects};  // of a function without arguments
    (detail::TracedArgument<A>::write(args, writer), ...);
    using R = std::invoke_result_t<F&, std::remove_reference_t<A>&...>;
    return core_->find(key, *tensors, objects, tracer<detail::ResultOrNothing<R>>(args...));
  }
  template <class... A>
  ConcreteFunction concrete_for(A&&... args) const {
    TensorList tensors;
    return *find<A...>(&tensors, args...).concrete;
  }

  template <class Result, class... A>
  auto tracer(A&... args) const {
    return [&](std::span<const Tensor> symbols, const ArgumentObjects& arguments,
               const ArgumentObjects& inside, TensorList* results, CallStructure* structure) -> std::any {
      detail::StructureReader given;
      structure->arguments = {.kind = Structure::Kind::kTuple, .items = {given.read(std::as_const(args))...}};
      [[maybe_unused]] NestReader reader{symbols.data(), &arguments.variables, &inside.variables};
      // Braces fix the order of evaluation.
      std::tuple<decltype(detail::TracedArgument<A&>::read(args, reader))...> traced{
          detail::TracedArgument<A&>::read(args, reader)...};
      TraceKey unused;
      [[maybe_unused]] NestWriter writer{unused, *results};
      using R = std::invoke_result_t<F&, A&...>;
      if constexpr (std::is_void_v<R>) {
        std::apply([&](auto&... a) { std::invoke(*f_, a...); }, traced);
        return std::monostate();
      } else {
        Result result = std::apply(
            [&](auto&... a) -> Result {
              return detail::take_result<std::remove_cvref_t<R>>(std::invoke(*f_, a...));
            },
            traced);
        Nest<Result>::write(result, writer);
        structure->results = detail::StructureReader().read(std::as_const(result));
        return result;
      }
    };
  }

  std::shared_ptr<F> f_;
  std::shared_ptr<FunctionCore> core_;
};

template <class F>
Function<std::decay_t<F>> function(F&& f, FunctionOptions options = {}) {
  return Function<std::decay_t<F>>(std::forward<F>(f), std::move(options));
}

}  // namespace rw
