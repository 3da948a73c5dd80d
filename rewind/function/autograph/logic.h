// &&, ||, ! and ?: where an operand may be a tensor. Operands of the host alone give bool with C++'s short
// circuit. Beside a Tensor, Variable or Local the result is a Local<bool>: a left side that the host knows
// decides there whether the right side is evaluated; a staged one puts the right side into a cond. Operands
// that change variables have these named behind them: and_(a, [&] { return b; }, "x, y", x, y).
#pragma once

#include "rewind/function/autograph/if.h"
#include "rewind/function/autograph/return_slot.h"
#include "rewind/function/control_flow.h"

namespace rw::autograph {
namespace detail {

// A condition as what it is: of the host, or a scalar bool of the graph.
template <class C>
Local<bool> truth(const C& condition) {
  if constexpr (is_tensor<C>) {
    const Operand operand(condition);
    if (is_staged(operand.tensor())) return Local<bool>::of(scalar_truth(operand.tensor()));
    return bool(operand.tensor());
  } else if constexpr (is_local<C>) {
    return Local<bool>(condition);
  } else {
    return bool(condition);
  }
}
// right() where `left` equals `wanted`, else `left` itself.
Local<bool> staged_logic(const Local<bool>& left, bool wanted, FunctionRef<Local<bool>()> right);

template <class A>
inline constexpr bool is_host = !is_tensor<A> && !is_local<std::remove_cvref_t<A>>;
template <class A>
inline constexpr bool is_number = NumberOf<std::remove_cvref_t<A>>::kNumber;

template <bool kWanted, class A, class F>
auto logic(const A& a, F& right) {
  using B = std::invoke_result_t<F&>;
  if constexpr (is_host<A> && is_host<B>) {
    return bool(a) == kWanted ? bool(right()) : !kWanted;
  } else {
    const Local<bool> left = truth(a);
    if (!left.staged()) return left.host() == kWanted ? truth(right()) : left;
    return staged_logic(left, kWanted, [&] { return truth(right()); });
  }
}

template <bool kWanted, class A, class F, class... T>
auto logic_with_changes(const A& a, F& right, std::string_view names, T&... changed) {
  if constexpr (is_host<A>) {
    return logic<kWanted>(a, right);
  } else {
    const Local<bool> left = truth(a);
    if (!left.staged()) return left.host() == kWanted ? truth(right()) : left;
    Local<bool> result = !kWanted;
    for (If s(left, state(changed..., result), names); s.next();)
      if (s.branch() == kWanted) result = truth(right());
    return result;
  }
}

}  // namespace detail

template <class A, class F>
auto and_(const A& a, F&& b) {
  return detail::logic<true>(a, b);
}
template <class A, class F>
auto or_(const A& a, F&& b) {
  return detail::logic<false>(a, b);
}
template <class A, class F, class... T>
auto and_(const A& a, F&& b, std::string_view names, T&... changed) {
  return detail::logic_with_changes<true>(a, b, names, changed...);
}
template <class A, class F, class... T>
auto or_(const A& a, F&& b, std::string_view names, T&... changed) {
  return detail::logic_with_changes<false>(a, b, names, changed...);
}
// What switch (int64_t(value)) decides by: one integer.
Tensor switch_on(const Tensor& value);

template <class A>
auto not_(const A& a) {
  if constexpr (detail::is_host<A>) return !bool(a);
  else return !detail::truth(a);
}

// c ? a() : b().
template <class C, class A, class B>
auto select(const C& condition, A&& a, B&& b) {
  using X = std::remove_cvref_t<std::invoke_result_t<A&>>;
  using Y = std::remove_cvref_t<std::invoke_result_t<B&>>;
  if constexpr (detail::is_host<C>) {
    if constexpr (std::is_void_v<X>) return condition ? a() : b();
    else if constexpr (std::is_same_v<X, Y>) return condition ? X(a()) : X(b());
    else if constexpr (detail::is_number<X> && detail::is_number<Y>) {
      using R =
          Local<decltype(true ? typename detail::NumberOf<X>::type() : typename detail::NumberOf<Y>::type())>;
      return condition ? R(a()) : R(b());
    } else {
      using R = typename staged::Common<X, Y>::type;
      return condition ? R(a()) : R(b());
    }
  } else {
    const Local<bool> chosen = detail::truth(condition);
    if constexpr (std::is_void_v<X>) {
      if (!chosen.staged()) return chosen.host() ? a() : b();
      rw::detail::stage_cond(chosen.tensor(), [&](NestWriter&) { a(); }, [&](NestWriter&) { b(); });
    } else if constexpr (detail::is_number<X> && detail::is_number<Y>) {
      using T = decltype(true ? typename detail::NumberOf<X>::type() : typename detail::NumberOf<Y>::type());
      if (!chosen.staged()) return chosen.host() ? Local<T>(a()) : Local<T>(b());
      auto arm = [](auto& f) {
        return [&f](NestWriter& w) { Nest<Tensor>::write(Local<T>(f()).template as<T>(), w); };
      };
      return Local<T>::of(rw::detail::stage_cond(chosen.tensor(), arm(a), arm(b))[0]);
    } else {
      using R = typename staged::Common<X, Y>::type;
      if (!chosen.staged()) return chosen.host() ? R(a()) : R(b());
      std::optional<R> prototype;
      auto first = [&] { return R(a()); };
      auto second = [&] { return R(b()); };
      auto then_branch = rw::detail::tracer<R>(first, &prototype);
      auto else_branch = rw::detail::tracer<R>(second, &prototype);
      return rw::detail::read_result(prototype,
                                     rw::detail::stage_cond(chosen.tensor(), then_branch, else_branch));
    }
  }
}
template <class C, class A, class B, class... T>
auto select(const C& condition, A&& a, B&& b, std::string_view names, T&... changed) {
  using X = std::remove_cvref_t<std::invoke_result_t<A&>>;
  using Y = std::remove_cvref_t<std::invoke_result_t<B&>>;
  if constexpr (detail::is_host<C>) {
    return select(condition, a, b);
  } else {
    const Local<bool> chosen = detail::truth(condition);
    if constexpr (std::is_void_v<X>) {
      for (If s(chosen, state(changed...), names); s.next();)
        if (s.branch()) a();
        else b();
    } else if constexpr (detail::is_number<X> && detail::is_number<Y>) {
      using R =
          Local<decltype(true ? typename detail::NumberOf<X>::type() : typename detail::NumberOf<Y>::type())>;
      R result;
      for (If s(chosen, state(changed..., result), names); s.next();) result = s.branch() ? R(a()) : R(b());
      return result;
    } else {
      using R = typename staged::Common<X, Y>::type;
      Return<R> result;
      for (If s(chosen, state(changed..., result), names); s.next();)
        if (s.branch()) result.set(R(a()));
        else result.set(R(b()));
      return result.take();
    }
  }
}

}  // namespace rw::autograph
