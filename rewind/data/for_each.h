// Loops over datasets. Eagerly they are plain loops. In a function they become one While of the graph, with
// the iterator as a resource; the body is traced once, whatever the number of elements.
//
//   auto loss = rw::for_each(ds, rw::constant(0.0), [&](rw::Tensor last, rw::Tensor x, rw::Tensor y) {
//     return step(x, y);
//   });
//
// The body takes the state and an element (each whole, or the parts of a tuple one by one) and returns the
// next state. No gradient flows through the iterator.
#pragma once

#include "rewind/data/dataset.h"
#include "rewind/function/control_flow.h"
#include "rewind/function/while_loop.h"

namespace rw {
namespace detail {

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };
template <class F, class S, class E>
constexpr bool takes_parts() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_v<F&, const S&, const std::tuple_element_t<I, E>&...>;
  }(std::make_index_sequence<std::tuple_size_v<E>>());
}

template <class F, class S, class E>
decltype(auto) call_step(F& f, const S& state, const E& element) {
  if constexpr (std::is_invocable_v<F&, const S&, const E&>) {
    return f(state, element);
  } else if constexpr (!TupleLike<E>) {
    return std::apply([&](const auto&... s) -> decltype(auto) { return f(s..., element); }, state);
  } else if constexpr (takes_parts<F, S, E>()) {
    return std::apply([&](const auto&... e) -> decltype(auto) { return f(state, e...); }, element);
  } else {
    static_assert(TupleLike<S>, "the body takes the state and an element");
    return std::apply(
        [&](const auto&... s) -> decltype(auto) {
          if constexpr (std::is_invocable_v<F&, decltype(s)..., const E&>) return f(s..., element);
          else return std::apply([&](const auto&... e) -> decltype(auto) { return f(s..., e...); }, element);
        },
        state);
  }
}

}  // namespace detail

// While cond(state) is true and there is an element.
template <class T, class S, class Cond, class Body>
staged::Type<S> for_each_while(const data::Iterator<T>& iterator, const S& initial_state, Cond&& cond,
                               Body&& body, const WhileLoopOptions& options = {}) {
  using State = staged::Type<S>;
  auto step = [&](const State& s, const T& e) {
    return staged::fit<State>(detail::call_step(body, s, e), &s);
  };
  if (!detail::tracing()) {
    State state = staged::fit<State>(initial_state);
    int64_t left = detail::iteration_limit(options.maximum_iterations);
    auto it = iterator;
    while (left != 0 && bool(Operand(staged::call(cond, state)).tensor())) {
      std::optional<T> element = it.next();
      if (!element) break;
      state = step(state, *element);
      if (left > 0) --left;
    }
    return state;
  }
  // Elements of unknown shapes make such states of them.
  WhileLoopOptions relaxed = options;
  relaxed.relax_shapes = options.shape_invariants.empty();
  const data::Specs& specs = iterator.node().specs();
  const bool known = data::fully_known(specs);
  return while_loop(
      [&](const State& s) -> Tensor {
        return data::wanted_and_there(Operand(staged::call(cond, s)).tensor(), iterator.handle());
      },
      [&](const State& s) -> State {
        data::Element all = data::iterator_next(iterator.handle(), specs);
        const Tensor there = all[0];
        data::Element tensors;
        for (size_t i = 1; i < all.size(); ++i) tensors.push_back(all[i]);
        const T element = iterator.form()->read(tensors, iterator.node());
        if (known) return step(s, element);
        // A branch is compiled for the sizes that come, one by one.
        return rw::cond(there, [&] { return step(s, element); }, [&] { return s; });
      },
      initial_state, relaxed);
}
template <class T, class S, class Cond, class Body>
staged::Type<S> for_each_while(const data::DatasetOf<T>& dataset, const S& initial_state, Cond&& cond,
                               Body&& body, const WhileLoopOptions& options = {}) {
  const data::Iterator<T> it(data::make_iterator(dataset.made()), dataset.made().node, dataset.form());
  return for_each_while(it, initial_state, cond, body, options);
}

// Over all elements. `over` is a dataset, or an iterator, which goes on where it stands.
template <class D, class S, class Body>
staged::Type<S> for_each(const D& over, const S& initial_state, Body&& body,
                         const WhileLoopOptions& options = {}) {
  return for_each_while(
      over, initial_state, [](const staged::Type<S>&) { return Tensor(true); }, body, options);
}
// Without a state: the body works by its effects.
template <class D, class Body>
  requires requires(const D& d) { d.form(); }
void for_each(const D& over, Body&& body) {
  for_each(over, constant(int64_t{0}), [&](const Tensor& n, const auto& element) {
    staged::call(body, element);
    return n + 1;
  });
}

template <class T>
template <class S, class F>
staged::Type<S> data::DatasetOf<T>::reduce(const S& initial_state, F&& f) const {
  return for_each(*this, initial_state, f);
}

}  // namespace rw
