// Numbers that tensors decide have C++'s arithmetic: every operator on every pair of types, as C++ computes
// it and in a graph, bit by bit.
#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw::autograph {
namespace {

template <class R>
void expect_same(R expected, const Tensor& got, const char* op, double a, double b) {
  if constexpr (std::is_same_v<R, bool>) EXPECT_EQ(bool(got), expected) << a << op << b;
  else EXPECT_EQ(got.item<R>(), expected) << a << op << b;
}

// k is a number of the graph's, of value a.
template <class A>
Local<A> staged(const Tensor& x, A a) {
  Local<A> k = a;
  for (If s(x > 0, state(k), "k"); s.next();)
    if (s.branch()) k = a;
    else k = A(a == A(0));
  EXPECT_TRUE(k.staged());
  return k;
}

// Beside a number of the host's, on both sides, and beside one of the graph's.
template <class A, class B, class F>
void operation(const char* name, A a, B b, F f) {
  using R = decltype(f(a, b));
  const auto traced = function([=](Tensor x) {
    const Local<A> k = staged(x, a);
    const Local<B> m = staged(x, b);
    return std::vector<Tensor>{Local<R>(f(k, b)).template as<R>(), Local<R>(f(k, m)).template as<R>(),
                               Local<R>(f(a, m)).template as<R>()};
  });
  for (const Tensor& got : traced(constant(1.0))) expect_same<R>(f(a, b), got, name, double(a), double(b));
}

template <class A, class B>
void all_operations(A a, B b) {
  operation("+", a, b, [](auto x, auto y) { return x + y; });
  operation("-", a, b, [](auto x, auto y) { return x - y; });
  operation("*", a, b, [](auto x, auto y) { return x * y; });
  operation("<", a, b, [](auto x, auto y) { return x < y; });
  operation(">=", a, b, [](auto x, auto y) { return x >= y; });
  operation("==", a, b, [](auto x, auto y) { return x == y; });
  if (b != B(0)) operation("/", a, b, [](auto x, auto y) { return x / y; });
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    if (b != B(0)) operation("%", a, b, [](auto x, auto y) { return x % y; });
    operation("&", a, b, [](auto x, auto y) { return x & y; });
    operation("|", a, b, [](auto x, auto y) { return x | y; });
    operation("^", a, b, [](auto x, auto y) { return x ^ y; });
    if (b >= B(0) && b < B(8)) {
      operation("<<", a, b, [](auto x, auto y) { return x << y; });
      operation(">>", a, b, [](auto x, auto y) { return x >> y; });
    }
  }
}

template <class A>
std::vector<A> values() {
  if constexpr (std::is_same_v<A, bool>) return {false, true};
  else if constexpr (std::is_floating_point_v<A>) return {A(0.1), A(-2.5)};
  else if constexpr (std::is_signed_v<A>) return {A(3), A(-7), std::numeric_limits<A>::max()};
  else return {A(5), std::numeric_limits<A>::max()};
}
template <class A, class... B>
void with_each() {
  const auto with = [&]<class Other>(std::type_identity<Other>) {
    for (const A a : values<A>())
      for (const Other b : values<Other>()) all_operations(a, b);
  };
  (with(std::type_identity<B>{}), ...);
}

template <class A>
class AutographNumbers : public testing::Test {};
using Types =
    testing::Types<bool, int8_t, uint8_t, int16_t, uint32_t, int32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(AutographNumbers, Types);
TYPED_TEST(AutographNumbers, AreThoseOfCpp) {
  with_each<TypeParam, bool, uint8_t, int16_t, int32_t, uint32_t, int64_t, double>();
}

// Assignment converts to the variable's type, and wraps at its width.
template <class A, class B>
void assignment(A a, B b) {
  const auto traced = function([=](Tensor x) {
    Local<A> assigned = a, added = staged(x, a), scaled = staged(x, a), counted = staged(x, a);
    assigned = staged(x, b);
    added += b;
    scaled *= b;
    const Local<A> before = counted++;
    ++counted;
    return std::vector<Tensor>{assigned.template as<A>(), added.template as<A>(), scaled.template as<A>(),
                               counted.template as<A>(), before.template as<A>()};
  });
  A assigned = A(b), added = a, scaled = a, counted = a;
  added += b;
  scaled *= b;
  ++counted;
  ++counted;
  const std::vector<Tensor> got = traced(constant(1.0));
  expect_same<A>(assigned, got[0], "=", double(a), double(b));
  expect_same<A>(added, got[1], "+=", double(a), double(b));
  expect_same<A>(scaled, got[2], "*=", double(a), double(b));
  expect_same<A>(counted, got[3], "++", double(a), 2);
  expect_same<A>(a, got[4], "++ before", double(a), 2);
}
TEST(AutographNumbersAssigned, Wrap) {
  assignment<uint8_t, int>(250, 10);
  assignment<int8_t, int>(127, 3);
  assignment<int16_t, int>(32000, 1000);
  assignment<uint32_t, int>(3, -5);
  assignment<int32_t, int64_t>(1 << 30, int64_t(1) << 33);
  assignment<int64_t, int>(int64_t(1) << 62, 2);
  assignment<uint64_t, int>(7, -9);
  assignment<int, double>(7, 1.75);
  assignment<float, double>(0.1f, 0.3);
  assignment<double, float>(0.1, 0.3f);
}

}  // namespace
}  // namespace rw::autograph
