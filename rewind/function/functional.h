// map_fn, scan, foldl, foldr: a function over the elements of tensors along their first axis, as loops with
// TensorArrays. Elements are structures of tensors that are cut alike; in a trace they become a While.
//
//   rw::Tensor squares = rw::map_fn([](rw::Tensor x) { return x * x; }, elems);
//   rw::Tensor sums = rw::scan([](rw::Tensor sum, rw::Tensor x) { return sum + x; }, elems);
#pragma once

#include "rewind/function/function.h"
#include "rewind/function/while_loop.h"

namespace rw {

struct MapFnOptions {
  // What fn returns, its tensors in order: dtypes, and shapes where they help. Without it the results look
  // like the elements.
  std::vector<TensorSpec> fn_output_signature = {};
  int parallel_iterations = 10;
  bool infer_shape = true;  // results of all elements have one shape
};

struct ScanFnOptions {
  bool reverse = false;  // from the last element to the first
  int parallel_iterations = 10;
  bool infer_shape = true;
};

namespace detail {

struct ElementsCore {
  const char* what;
  TensorList elems;
  TraceKey structure;
};
using MapFn = FunctionRef<void(std::span<const Tensor> element, NestWriter& results)>;
using StepFn =
    FunctionRef<void(std::span<const Tensor> state, std::span<const Tensor> element, NestWriter& next)>;

TensorList map_elements(const ElementsCore& elems, const MapFn& fn, const MapFnOptions& options);
// Without an initial state the first element is it.
TensorList scan_elements(const ElementsCore& elems, const LoopState* initial, const StepFn& fn,
                         const ScanFnOptions& options);
TensorList fold_elements(const ElementsCore& elems, const LoopState* initial, const StepFn& fn,
                         bool from_right);
// Whether fn would never be called: an eager call on no elements. Tracing then tells what fn returns.
bool no_elements_now(const ElementsCore& elems);

template <class E>
ElementsCore elements_of(const char* what, const E& elems) {
  ElementsCore core{what, {}, {}};
  NestWriter writer{core.structure, core.elems};
  Nest<E>::write(elems, writer);
  return core;
}
template <class S>
S read_as(const S& like, const Tensor* tensors) {
  NestReader reader{tensors};
  return Nest<S>::read(like, reader);
}

// fn of a state and an element, on flat tensors.
template <class A, class E, class F>
auto step_of(F& fn, const A& state_like, const E& element_like) {
  return [&](std::span<const Tensor> state, std::span<const Tensor> element, NestWriter& next) {
    const A a = read_as(state_like, state.data());
    Nest<A>::write(staged::fit<A>(fn(a, read_as(element_like, element.data())), &a), next);
  };
}

}  // namespace detail

// fn(element) for every element; results are stacked.
template <class F, class L>
staged::Type<staged::CallResult<F, staged::Type<L>>> map_fn(F&& fn, const L& elems,
                                                            const MapFnOptions& options = {}) {
  using E = staged::Type<L>;
  using R = staged::Type<staged::CallResult<F, E>>;
  const E list = staged::fit<E>(elems);
  std::optional<R> prototype;
  auto flat = [&](std::span<const Tensor> element, NestWriter& results) {
    prototype.emplace(staged::fit<R>(staged::call(fn, detail::read_as(list, element.data()))));
    Nest<R>::write(*prototype, results);
  };
  const detail::ElementsCore core = detail::elements_of("map_fn", list);
  if (detail::no_elements_now(core)) return function([&] { return map_fn(fn, list, options); })();
  const TensorList results = detail::map_elements(core, flat, options);
  return detail::read_as(*prototype, results.data());
}

// All states: state = fn(state, element), from the initializer, or from the first element itself, which is
// then the first result.
template <class F, class L, class I>
  requires(!std::is_same_v<I, ScanFnOptions>)
auto scan(F&& fn, const L& elems, const I& initializer, const ScanFnOptions& options = {}) {
  using E = staged::Type<L>;
  using A = staged::Type<I>;
  const E list = staged::fit<E>(elems);
  const A state = staged::fit<A>(initializer);
  detail::LoopState initial;
  NestWriter writer{initial.key, initial.tensors};
  Nest<A>::write(state, writer);
  auto step = detail::step_of(fn, state, list);
  const TensorList results =
      detail::scan_elements(detail::elements_of("scan", list), &initial, step, options);
  return detail::read_as(state, results.data());
}
template <class F, class L>
auto scan(F&& fn, const L& elems, const ScanFnOptions& options = {}) {
  using E = staged::Type<L>;
  const E list = staged::fit<E>(elems);
  auto step = detail::step_of(fn, list, list);
  const TensorList results = detail::scan_elements(detail::elements_of("scan", list), nullptr, step, options);
  return detail::read_as(list, results.data());
}

// The last state, over the elements from the first to the last (foldl) or the other way round (foldr).
namespace detail {
template <class F, class L, class I>
auto fold(const char* what, F& fn, const L& elems, const I& initializer, bool from_right) {
  using E = staged::Type<L>;
  using A = staged::Type<I>;
  const E list = staged::fit<E>(elems);
  const A state = staged::fit<A>(initializer);
  LoopState initial;
  NestWriter writer{initial.key, initial.tensors};
  Nest<A>::write(state, writer);
  auto step = step_of(fn, state, list);
  return read_as(state, fold_elements(elements_of(what, list), &initial, step, from_right).data());
}
template <class F, class L>
auto fold(const char* what, F& fn, const L& elems, bool from_right) {
  using E = staged::Type<L>;
  const E list = staged::fit<E>(elems);
  auto step = step_of(fn, list, list);
  return read_as(list, fold_elements(elements_of(what, list), nullptr, step, from_right).data());
}
}  // namespace detail

template <class F, class L, class I>
auto foldl(F&& fn, const L& elems, const I& initializer) {
  return detail::fold("foldl", fn, elems, initializer, false);
}
template <class F, class L>
auto foldl(F&& fn, const L& elems) {
  return detail::fold("foldl", fn, elems, false);
}
template <class F, class L, class I>
auto foldr(F&& fn, const L& elems, const I& initializer) {
  return detail::fold("foldr", fn, elems, initializer, true);
}
template <class F, class L>
auto foldr(F&& fn, const L& elems) {
  return detail::fold("foldr", fn, elems, true);
}

}  // namespace rw
