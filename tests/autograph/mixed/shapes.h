// What headers define in many files: here in one that is converted and in one that is not. Each takes 1 from
// what is positive and doubles the rest.
#pragma once

#include <memory>

#include "rewind/rewind.h"

namespace mixed {

using rw::Tensor;

inline Tensor in_a_function(Tensor x) {
  if (x > 0) x = x - 1;
  else x = x * 2;
  return x;
}
inline Tensor by_a_call(const Tensor& x) { return in_a_function(x); }

template <class T>
T in_a_template(T x) {
  if (x > 0) return x - 1;
  return x * 2;
}
template <class F>
Tensor applied(F f, const Tensor& x) {
  return f(x);
}
template <class T>
T by_a_call_in_a_template(const T& x) {
  return in_a_template(x);
}

struct Plain {
  Tensor x;
  Tensor member() const { return x > 0 ? x - 1 : x * 2; }
  static Tensor static_member(Tensor x) {
    while (x > 0) return x - 1;
    return x * 2;
  }
  Tensor declared() const;
  friend Tensor operator+(const Plain& a, double) {
    if (a.x > 0) return a.x - 1;
    return a.x * 2;
  }
  struct Inner {
    Tensor operator()(Tensor x) const {
      if (x > 0) return x - 1;
      return x * 2;
    }
  };
};
inline Tensor Plain::declared() const {
  if (x > 0) return x - 1;
  return x * 2;
}

template <class T>
struct Box {
  T value;
  T open() const {
    if (value > 0) return value - 1;
    return value * 2;
  }
  template <class U>
  U open_as(U x) const {
    if (x > 0) return x - 1;
    return x * 2;
  }
};

// No function of these stands in one file alone, so each file that uses them has a table of their virtual
// functions.
struct Base {
  virtual ~Base() = default;
  virtual Tensor call(const Tensor& x) const { return x; }
};
struct Derived : Base {
  Tensor call(const Tensor& x) const override {
    if (x > 0) return x - 1;
    return x * 2;
  }
};
struct Further : Derived {
  Tensor twice(const Tensor& x) const { return call(call(x)); }
};
struct Holder {
  Derived inside;
  Tensor operator()(const Tensor& x) const { return of(inside, x); }
  static Tensor of(const Base& b, const Tensor& x) { return b.call(x); }
};
// What std::function and std::bind make of these is a template's.
struct Called {
  Tensor operator()(const Tensor& x) const {
    if (x > 0) return x - 1;
    return x * 2;
  }
};
struct CalledByAMember {
  Called inside;
  Tensor operator()(const Tensor& x) const { return inside(x); }
};
struct Maker {
  std::shared_ptr<Base> made;
  Maker() : made(std::make_shared<Derived>()) {}
  Tensor call(const Tensor& x) const { return made->call(x); }
};
template <class T>
struct Pointer {
  static std::unique_ptr<Base> make() { return std::make_unique<T>(); }
};
inline std::unique_ptr<Base> made_by_a_template() { return Pointer<Derived>::make(); }
template <class T>
struct Layer : Base {
  Tensor call(const Tensor& x) const override {
    if (x > T(0)) return x - 1;
    return x * 2;
  }
};

inline const auto in_a_lambda = [](Tensor x) {
  if (x > 0) return x - 1;
  return x * 2;
};
inline Tensor calls_a_lambda(const Tensor& x) { return in_a_lambda(x); }
inline const auto names_a_function = [](Tensor x) { return by_a_call(x); };
inline auto returns_a_lambda() {
  return [](Tensor x) {
    if (x > 0) return x - 1;
    return x * 2;
  };
}
inline Tensor has_a_static(const Tensor& x) {
  static const auto f = [](const Tensor& t) -> Tensor { return t > 0 ? t - 1 : t * 2; };
  return f(x);
}

// In two files, in no converted function.
inline int counter() {
  static int count = 0;
  return ++count;
}

}  // namespace mixed
