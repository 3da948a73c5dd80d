// break, continue and return as flags, promoted host variables, and logic on tensors, written as the rewriter
// writes them.
#include "tests/support/autograph_support.h"

namespace rw::autograph {
namespace {

// while (x * x < 10000) { x = x * 2 + 4; if (x > 50) break; x = x + 1; }
Tensor with_break(Tensor x) {
  Local<bool> broke1 = false;
  for (While s1(state(x, broke1), "x, broke1");
       s1.open() && s1.condition(and_(!broke1, [&] { return x * x < 10000.0; })); s1.step()) {
    x = x * 2.0 + 4.0;
    for (If s2(x > 50.0, state(broke1), "broke1"); s2.next();)
      if (s2.branch()) broke1 = true;
    for (If s3(!broke1, state(x), "x"); s3.next();)
      if (s3.branch()) x = x + 1.0;
  }
  return x;
}
TEST(AutographFlags, Break) {
  const auto f = eager_equals_staged(with_break, reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 1);
}

// while (true) { x = x / 2; if (x < 1) break; }
Tensor forever(Tensor x) {
  Local<bool> broke1 = false;
  for (While s1(state(x, broke1), "x, broke1"); s1.open() && s1.condition(!broke1); s1.step()) {
    x = x / 2.0;
    for (If s2(x < 1.0, state(broke1), "broke1"); s2.next();)
      if (s2.branch()) broke1 = true;
  }
  return x;
}
TEST(AutographFlags, EndlessLoopsLeftByABreak) {
  const auto f = eager_equals_staged(forever, reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 1);
}

// while (true) { x = x * 2; if (++i == 3) break; }: the host decides.
TEST(AutographFlags, EndlessLoopsThatTheHostLeavesAreUnrolled) {
  const auto f = eager_equals_staged(
      [](Tensor x) {
        Local<bool> broke1 = false;
        int i = 0;
        for (While s1(state(x, broke1, i), "x, broke1, i"); s1.open() && s1.condition(!broke1); s1.step()) {
          x = x * 2.0;
          if (++i == 3) broke1 = true;
        }
        return x;
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 0);
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "Mul"), 3);
}

// for (int i = 0; i < 5; ++i) { if (x > 10) continue; x = x * 2 + i; }
TEST(AutographFlags, ContinueInALoopOfTheHost) {
  eager_equals_staged(
      [](Tensor x) {
        for (int i = 0; i < 5; ++i) {
          Local<bool> continued1 = false;
          for (If s2(x > 10.0, state(continued1), "continued1"); s2.next();)
            if (s2.branch()) continued1 = true;
          for (If s3(!continued1, state(x), "x"); s3.next();)
            if (s3.branch()) x = x * 2.0 + i;
        }
        return x;
      },
      reals());
}

// for (int i = 0; i < 5; ++i) { x = x * 2 + i; if (x > 10) break; }
TEST(AutographFlags, BreakInALoopOfTheHost) {
  eager_equals_staged(
      [](Tensor x) {
        Local<bool> broke1 = false;
        for (int i = 0; i < 5; ++i) {
          if (broke1.is_true_on_host()) break;
          for (If s3(!broke1, state(x, broke1), "x, broke1"); s3.next();)
            if (s3.branch()) {
              x = x * 2.0 + i;
              for (If s2(x > 10.0, state(broke1), "broke1"); s2.next();)
                if (s2.branch()) broke1 = true;
            }
        }
        return x;
      },
      reals());
}

// if (x > 1) return x * 3; x = x - 1; while (x > -5) { x = x - 2; if (x < -3) return x * x; } return x;
Tensor early(Tensor x) {
  Return<Tensor> ret;
  for (If s1(x > 1.0, state(ret), "ret"); s1.next();)
    if (s1.branch()) ret.set(x * 3.0);
  for (If s2(!ret.done(), state(x, ret), "x, ret"); s2.next();)
    if (s2.branch()) {
      x = x - 1.0;
      for (While s3(state(x, ret), "x, ret");
           s3.open() && s3.condition(and_(!ret.done(), [&] { return x > -5.0; })); s3.step()) {
        x = x - 2.0;
        for (If s4(x < -3.0, state(ret), "ret"); s4.next();)
          if (s4.branch()) ret.set(x * x);
      }
      for (If s5(!ret.done(), state(ret), "ret"); s5.next();)
        if (s5.branch()) ret.set(x);
    }
  return ret.take();
}
TEST(AutographReturn, EarlyReturns) {
  eager_equals_staged(early, {constant(3.0), constant(0.5), constant(-1.0), constant(-20.0), constant(-3.5)});
}

// for (Tensor x : xs) if (x > 2) return x; return -1;
TEST(AutographReturn, FromALoopOverATensor) {
  const auto find = [](Tensor xs) {
    Return<Tensor> ret;
    for (For s1(xs, state(ret), "ret"); s1.open() && s1.condition(!ret.done()); s1.step()) {
      Tensor x = s1.element();
      for (If s2(x > 2.0, state(ret), "ret"); s2.next();)
        if (s2.branch()) ret.set(x * x);
    }
    for (If s3(!ret.done(), state(ret), "ret"); s3.next();)
      if (s3.branch()) ret.set(constant(-1.0));
    return ret.take();
  };
  eager_equals_staged(find, {constant({1.0, 2.0, 3.0, 4.0}), constant({1.0, 0.0, 0.0, 0.0})});
}

TEST(AutographReturn, Tuples) {
  const auto f = [](Tensor x) {
    const auto pair = [](Tensor x) {
      Return<std::tuple<Tensor, Tensor>> ret;
      for (If s1(x > 1.0, state(ret), "ret"); s1.next();)
        if (s1.branch()) ret.set(std::tuple{x, x * 2.0});
      for (If s2(!ret.done(), state(ret), "ret"); s2.next();)
        if (s2.branch()) ret.set({x * x, x});
      return ret.take();
    };
    const auto [a, b] = pair(x);
    return a * 10.0 + b;
  };
  eager_equals_staged(f, reals());
}

TEST(AutographReturn, Nothing) {
  const auto run = [](bool traced) {
    Variable v(1.0);
    const auto body = [&](Tensor x) {
      Return<void> ret;
      for (If s1(x > 1.0, state(ret), "ret"); s1.next();)
        if (s1.branch()) ret.set();
      for (If s2(!ret.done(), state(ret), "ret"); s2.next();)
        if (s2.branch()) v.assign_add(x);
      return ret.take();
    };
    const auto call = function([&](Tensor x) {
      body(x);
      return x;
    });
    for (const double x : {0.5, 2.0, 0.25}) {
      if (traced) call(constant(x));
      else body(constant(x));
    }
    return v.value().item<float>();
  };
  EXPECT_EQ(run(true), run(false));
  EXPECT_EQ(run(true), 1.75f);
}

TEST(AutographReturn, NumbersOfTheHostAreRefused) {
  expect_error<InvalidArgumentError>(
      [] {
        function([](Tensor x) {
          Return<bool> ret;
          for (If s1(x > 1.0, state(ret), "ret"); s1.next();)
            if (s1.branch()) ret.set(true);
          for (If s2(!ret.done(), state(ret), "ret"); s2.next();)
            if (s2.branch()) ret.set(false);
          return x;
        })(constant(1.0));
      },
      "return an rw::Tensor");
}

// int k = 0; while (x < 100) { x = x * 2; if (x > 8) k += 2; else ++k; } return x + k;
TEST(AutographLocal, CountsInALoop) {
  eager_equals_staged(
      [](Tensor x) {
        Local<int> k = 0;
        x = x * x;
        for (While s1(state(x, k), "x, k"); s1.open() && s1.condition(x < 100.0); s1.step()) {
          x = x * 2.0 + 1.0;
          for (If s2(x > 8.0, state(k), "k"); s2.next();)
            if (s2.branch()) k += 2;
            else ++k;
        }
        return x + k;
      },
      reals());
}

template <class T, class F>
void number_case(F f, std::initializer_list<T> values) {
  for (const T a : values) {
    const auto staged = function([&](Tensor x) {
      Local<T> k = a;
      for (If s(x > 0.0, state(k), "k"); s.next();)
        if (s.branch()) k = T(a);
        else k = T(a + 1);
      EXPECT_TRUE(k.staged());
      return cast(Tensor(f(k)), float64);
    });
    EXPECT_EQ(staged(constant(1.0)).template item<double>(), double(f(a))) << +a;
    EXPECT_EQ(staged(constant(-1.0)).template item<double>(), double(f(T(a + 1)))) << +a;
  }
}
TEST(AutographLocal, ArithmeticIsThatOfCpp) {
  const std::initializer_list<int> ints{7, -7, 0, 100000};
  number_case<int>([](auto k) { return k / 2; }, ints);
  number_case<int>([](auto k) { return k % 3; }, ints);
  number_case<int>([](auto k) { return k / 2.0; }, ints);
  number_case<int>([](auto k) { return k * 100000; }, ints);
  number_case<int>([](auto k) { return (k << 2) + (k >> 1) - (k & 6) + (k | 9) - (k ^ 5); }, ints);
  number_case<int>([](auto k) { return ~k + -k; }, ints);
  number_case<int>([](auto k) { return (k < 3) + (k <= 7) + (k > 2) + (k >= 0) + (k == 7) + (k != 7); },
                   ints);
  number_case<int>([](auto k) { return !k; }, ints);
  number_case<int64_t>([](auto k) { return k * 100000; }, {7, -7, 100000});
  number_case<uint8_t>([](auto k) { return k + 250; }, {7, 255});
  number_case<uint32_t>([](auto k) { return k - 8u; }, {7, 9});
  const auto every = [](auto k) {
    const auto bits = (k & 6u) + (k | 9u) + (k ^ 5u) + ~k + (k << 3) + (k >> 1);
    const auto truths = (k < 9u) + (k <= 7u) + (k > 9u) + (k >= 7u) + (k == 7u) + (k != 7u) + !k;
    return (k / 3u + k % 3u - k * 5u + -k + bits + truths) % 1000u;
  };
  number_case<uint32_t>(every, {0, 7, 9, 4000000000u});
  number_case<uint64_t>(every, {0, 7, 9, uint64_t(1) << 63});
  number_case<uint8_t>(every, {0, 7, 9, 200});
  number_case<uint16_t>(every, {0, 7, 9, 60000});
  number_case<int16_t>([](auto k) { return k * k; }, {300, -300});
  number_case<double>([](auto k) { return k / 3 > 0.5; }, {0.1, 2.5});
  number_case<uint8_t>(
      [](auto k) {
        k += 250;
        return k + 0;
      },
      {7, 1});
  number_case<int>(
      [](auto k) {
        k *= 1.5;
        return k--;
      },
      {7, -7});
}
TEST(AutographLocal, TakesTheTypeOfATensor) {
  const auto f = [](Tensor x) {
    Local<double> d = 0.1;
    Local<int> k = 1;
    for (If s(x > 0.0, state(d, k), "d, k"); s.next();)
      if (s.branch()) {
        d = 0.3;
        k = 5;
      }
    return (x * d + k) * (k - x);
  };
  eager_equals_staged(f, {constant(3.0), constant(-2.0)});
  eager_equals_staged(f, {constant(3.0, float64), constant(-2.0, float64)});
}
TEST(AutographLocal, EqualValuesStayOnTheHost) {
  function([](Tensor x) {
    Local<int> k = 1;
    for (If s(x > 0.0, state(k), "k"); s.next();)
      if (s.branch()) k = 3;
      else k = 2 + 1;
    EXPECT_FALSE(k.staged());
    EXPECT_EQ(int(k), 3);
    return x;
  })(constant(1.0));
}

TEST(AutographLogic, ShortCircuits) {
  int evaluated = 0;
  const auto right = [&] {
    ++evaluated;
    return constant(1.0) > 0.0;
  };
  EXPECT_FALSE(and_(false, right).host());
  EXPECT_TRUE(or_(true, right).host());
  EXPECT_FALSE(and_(constant(0.0), right).host());
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(and_(constant(1.0), right).host());
  EXPECT_EQ(evaluated, 1);
  static_assert(std::is_same_v<decltype(and_(true, [] { return 3; })), bool>);
  static_assert(std::is_same_v<decltype(not_(3)), bool>);
}
TEST(AutographLogic, OfTensors) {
  eager_equals_staged(
      [](Tensor x) {
        Tensor y = x;
        for (If s(and_(x > 0.0, [&] { return or_(x < 2.0, [&] { return not_(x < 20.0); }); }), state(y), "y");
             s.next();)
          if (s.branch()) y = y * 7.0;
        return y + select(
                       x > 1.0, [&] { return x; }, [&] { return x * x; }) *
                       select(x > 2.0, [] { return 2; }, [] { return 3; });
      },
      {constant(1.0), constant(-1.0), constant(5.0), constant(50.0)});
}
// The right side is not evaluated where the left one decides: an index outside does not fail.
TEST(AutographLogic, RightSidesAreGuarded) {
  eager_equals_staged(
      [](Tensor i) {
        const Tensor xs = constant({1, 0, 1});
        Tensor y = constant(0);
        for (If s(and_(i < 3, [&] { return equal(gather(xs, i), 1); }), state(y), "y"); s.next();)
          if (s.branch()) y = constant(1);
        return y;
      },
      {constant(0), constant(1), constant(5)});
}

}  // namespace
}  // namespace rw::autograph
