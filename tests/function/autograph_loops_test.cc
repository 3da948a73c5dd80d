// Loops over tensors, ranges, arrays and with the condition behind the body, written as the rewriter writes
// them.
#include "tests/support/autograph_support.h"

namespace rw::autograph {
namespace {

TEST(AutographFor, OverTheRowsOfATensor) {
  const auto f = [](Tensor xs) {
    Tensor sum = zeros({2});
    for (For s(xs, state(sum), "sum"); s.open(); s.step()) {
      Tensor x = s.element();
      sum = sum * 0.5 + x * x;
    }
    return reduce_sum(sum);
  };
  eager_equals_staged(
      f, {constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), constant({{0.0, 1.0}, {-1.0, 2.0}, {7.0, 0.5}})});
}
TEST(AutographFor, OverNumbers) {
  const auto f = [](Tensor xs) {
    Tensor product = constant(1.0);
    for (For s(xs, state(product), "product"); s.open(); s.step()) {
      Tensor x = s.element();
      for (If t(x > 0.0, state(product), "product"); t.next();)
        if (t.branch()) product = product * x;
    }
    return product;
  };
  eager_equals_staged(f, {constant({1.0, 2.0, -3.0}), constant({2.0, 5.0, 3.0})});
  EXPECT_EQ(f(zeros({0})).item<float>(), function(f)(zeros({0})).item<float>());
}
TEST(AutographFor, OverARangeCarriesTheNumber) {
  const auto f = eager_equals_staged(
      [](Tensor n) {
        Tensor sum = constant(0);
        for (For s(range(n), state(sum), "sum"); s.open(); s.step()) {
          Tensor i = s.element();
          sum = sum + i * i;
        }
        return sum;
      },
      {constant(10), constant(0), constant(1)});
  EXPECT_EQ(count_rows(f, TensorSpec({}, int32), "GatherV2"), 0);
  eager_equals_staged(
      [](Tensor n) {
        Tensor sum = constant(0);
        for (For s(range(n, -n, -2), state(sum), "sum"); s.open(); s.step()) {
          Tensor i = s.element();
          sum = sum * 3 + i;
        }
        for (For s(range(0, 12, n), state(sum), "sum"); s.open(); s.step()) {
          Tensor i = s.element();
          sum = sum * 3 + i;
        }
        return sum;
      },
      {constant(5), constant(2), constant(1)});
}
TEST(AutographFor, OverConstants) {
  const auto f = eager_equals_staged(
      [](Tensor x) {
        for (For s(constant({1.0, 2.0, 3.0}), state(x), "x"); s.open(); s.step()) {
          Tensor c = s.element();
          x = x * c + 1.0;
        }
        return x;
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 1);
}
TEST(AutographFor, OverATensorArray) {
  eager_equals_staged(
      [](Tensor xs) {
        const TensorArray array = TensorArray(float32, {.size = 3, .clear_after_read = false}).unstack(xs);
        Tensor sum = constant(0.0);
        for (For s(array, state(sum), "sum"); s.open(); s.step()) {
          Tensor x = s.element();
          sum = sum * x + 1.0;
        }
        return sum;
      },
      {constant({1.0, 2.0, -3.0}), constant({2.0, 5.0, 3.0})});
}
TEST(AutographFor, OverAVariable) {
  Variable v({1.0, 2.0, 3.0});
  eager_equals_staged(
      [&](Tensor x) {
        for (For s(v, state(x), "x"); s.open(); s.step()) {
          Tensor c = s.element();
          x = x * c;
        }
        return x;
      },
      reals());
}
TEST(AutographFor, RangesOfTheHostAreUnrolled) {
  const std::vector<double> factors{2.0, 3.0};
  const auto f = eager_equals_staged(
      [&](Tensor x) {
        for (For s(factors, state(x), "x"); s.open(); s.step()) {
          const double c = s.element();
          x = x * c;
        }
        std::vector<Tensor> parts{x, x + 1.0};
        for (For s(parts, state(parts), "parts"); s.open(); s.step()) {
          Tensor& part = s.element();
          part = part * 2.0;
        }
        return parts[0] + parts[1];
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 0);
}
TEST(AutographFor, BreaksAndContinues) {
  eager_equals_staged(
      [](Tensor xs) {
        Tensor sum = constant(0.0);
        Local<bool> broke1 = false;
        for (For s(xs, state(sum, broke1), "sum, broke1"); s.open() && s.condition(!broke1); s.step()) {
          Tensor x = s.element();
          Local<bool> continued1 = false;
          for (If t(x < 0.0, state(continued1), "continued1"); t.next();)
            if (t.branch()) continued1 = true;
          for (If u(!continued1, state(sum, broke1), "sum, broke1"); u.next();)
            if (u.branch()) {
              sum = sum + x * x;
              for (If t(sum > 20.0, state(broke1), "broke1"); t.next();)
                if (t.branch()) broke1 = true;
            }
        }
        return sum;
      },
      {constant({1.0, -2.0, 3.0, 4.0, 5.0}), constant({2.0, -5.0, 0.5, 0.1, 0.2})});
}
TEST(AutographFor, Nested) {
  eager_equals_staged(
      [](Tensor xs) {
        Tensor sum = constant(0.0);
        for (For s(xs, state(sum), "sum"); s.open(); s.step()) {
          Tensor row = s.element();
          Tensor product = constant(1.0);
          for (For t(row, state(product), "product"); t.open(); t.step()) {
            Tensor x = t.element();
            product = product * x;
          }
          sum = sum + product;
        }
        return sum;
      },
      {constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), constant({{0.0, 1.0}, {-1.0, 2.0}, {7.0, 0.5}})});
}

// do { x = x / 2; ++k; } while (x > 1);
TEST(AutographDoWhile, RunsOnceAtLeast) {
  const auto f = eager_equals_staged(
      [](Tensor x) {
        Local<int> k = 0;
        for (DoWhile s(state(x, k), "x, k"); s.open(); s.step([&] { return x > 1.0; })) {
          x = x / 2.0;
          ++k;
        }
        return x * 10.0 + k;
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 1);
}
TEST(AutographDoWhile, SetsVariablesFirst) {
  eager_equals_staged(
      [](Tensor x) {
        Tensor y;
        for (DoWhile s(state(x, y), "x, y"); s.open(); s.step([&] { return y > 1.0; })) {
          y = x / 2.0;
          x = x - 1.0;
        }
        return x * y;
      },
      reals());
}
TEST(AutographDoWhile, OnFlags) {
  eager_equals_staged(
      [](Tensor x) {
        Local<bool> go = true;
        Local<int> k = 0;
        for (DoWhile s(state(x, go, k), "x, go, k"); s.open(); s.step([&] { return go; })) {
          x = x / 2.0;
          ++k;
          for (If t(x < 1.0, state(go), "go"); t.next();)
            if (t.branch()) go = false;
        }
        Local<int> j = 0;
        for (DoWhile s(state(x, j), "x, j"); s.open(); s.step([&] { return j < 3; })) {
          x = x * 3.0;
          ++j;
        }
        EXPECT_FALSE(j.staged());
        return x * 10.0 + k;
      },
      reals());
}

TEST(AutographWhile, ConditionsOfTheHost) {
  const auto f = eager_equals_staged(
      [](Tensor x) {
        int i = 0;
        for (While s(state(x, i), "x, i"); s.open() && s.condition(i++ < 3); s.step()) x = x * 2.0;
        EXPECT_EQ(i, 4);
        return x;
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 0);
}
// for (Tensor i = 0; i < 4; ++i) x = x * 2;
TEST(AutographWhile, ConditionsOnConstantsAreStaged) {
  const auto f = eager_equals_staged(
      [](Tensor x) {
        Tensor i = 0;
        for (While s(state(i, x), "i, x"); s.open() && s.condition(i < 4); s.step()) {
          x = x * 2.0;
          ++i;
        }
        return x;
      },
      reals());
  EXPECT_EQ(count_rows(f, TensorSpec({}, float32), "While"), 1);
}

}  // namespace
}  // namespace rw::autograph
