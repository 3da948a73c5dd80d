// Numbers of the host that tensors decide.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// promoted
const Add add_widths("numbers_widths", [](Tensor x) {
  int8_t a = 120;
  uint16_t b = 65530;
  int64_t c = 1;
  uint32_t d = 5;
  unsigned long long e = 3;
  if (x > 1.0) {
    a += 10;
    b += 10;
    c = c << 33;
    d -= 7;
    e -= 4;
  }
  if (a < 0) x = x + 1.0;
  if (b < 100) x = x + 2.0;
  if (c > 5) x = x + 4.0;
  if (d > 1000u) x = x + 8.0;
  if (e > 10) x = x + 16.0;
  return x + a + b / 1000 + c / 1000000000 + d / 1000000000;
});
const Add add_mixed("numbers_mixed", [](Tensor x) {
  int k = 3;
  double d = 1.5;
  float f = 2.5f;
  bool b = true;
  char ch = 'a';
  if (x > 1.0) {
    k = 2.9;
    d = k / 2;
    f = d / 4;
    b = k;
    ch += 1;
  } else {
    d = k;
    k = d * 1.5;
  }
  k += d;
  d *= k;
  f -= b;
  int m = -k;
  m = ~m;
  m = +m;
  bool nb = !b;
  return x + k + d + f + (b ? 1 : 2) + (nb ? 5 : 7) + (ch == 'b' ? 11 : 13) + m % 4;
});
const Add add_incs("numbers_incs", [](Tensor x) {
  int k = 0;
  if (x > 1.0) k = 5;
  int a = k++;
  int b = ++k;
  int c = k--;
  int d = --k;
  k <<= 2;
  k |= 3;
  k &= ~4;
  k ^= 9;
  k %= 6;
  k >>= 1;
  return x + a + 10 * b + 100 * c + 1000 * d + k;
});
const Add add_boolops("numbers_boolops", [](Tensor x) {
  bool found = false;
  int n = 0;
  for (int i = 0; i < 4 && !found; ++i) {
    if (x > i && x < i + 1) found = true;
    else ++n;
  }
  return found ? x + n : x - n;
});
const Add add_longrun("numbers_longrun", [](Tensor x) {
  int best = 0, run = 0;
  for (int i = 0; i < 6; ++i) {
    x = x * -0.9;
    if (x > 0.0) {
      run++;
    } else run = 0;
    best = best > run ? best : run;
  }
  return x + best;
});
const Add add_accumul("numbers_accumul", [](Tensor x) {
  double total = 0;
  for (Tensor i : rw::range(3)) {
    if (x > 1.0) total += 0.1;
    else total -= 0.3;
    x = x + 0.25;
  }
  return x * total;
});
const Add add_constpromo("numbers_constpromo", [](Tensor x) {
  const int k = x > 1.0 ? 2 : 3;
  const bool big = x > 4.0 && k == 2;
  int const m = k * 2;
  return big ? x * k : x + m;
});
// Conditions on converted numbers, and conversions in templates.
const Add add_converted("numbers_converted", [](Tensor x) {
  int k = 1;
  if (x > 1.0) k = 3;
  if (double(k) / 2 > 1.0) x = x * 2.0;
  if (int64_t(k) > 2 || (char)k == 1) x = x + 1.0;
  while (static_cast<unsigned>(k) < 6u) ++k;
  const auto level = [&](auto y) {
    const auto inside = [&](const Tensor& z) {
      if (z > 1.0) return 2;
      return int((y > z * 0.5 ? 5 : 2) % 4) + short(y > 0.0 ? k : 1);
    };
    return y * inside(y * 0.25) + double(inside(y)) / 2;
  };
  return level(x) + k;
});
// nested lambdas etc.
const Add add_nestlam("numbers_nestlam", [](Tensor x) {
  auto outer = [&x](Tensor k) {
    auto inner = [&] {
      if (k > 1.0) {
        x = x * k;
        return;
      }
      x = x - k;
    };
    inner();
    if (x > 3.0) inner();
    return x;
  };
  return outer(x * 0.5) + outer(constant(0.5));
});
const Add add_thislam("numbers_thislam", [](Tensor x) {
  struct S {
    Tensor a;
    Tensor run(Tensor x) {
      auto f = [this](Tensor t) {
        if (t > 1.0) a = a * 2.0;
        return a + t;
      };
      auto g = [=, this] { return x > 2.0 ? a : x; };
      if (x > 0.0) x = f(x);
      return x + g();
    }
  } s{x};
  return s.run(x) + s.a;
});
const Add add_mutlam("numbers_mutlam", [](Tensor x) {
  auto f = [s = x](Tensor t) mutable {
    if (t > 1.0) s = s + t;
    return s;
  };
  Tensor a = f(x);
  Tensor b = f(a);
  return a + b;
});
const Add add_genlam("numbers_genlam", [](Tensor x) {
  auto f = [](auto a, const auto& b) {
    if (a > b) return a;
    return a * 0.5;
  };
  return f(x, 2.0) + f(x * 2.0, x);
});
const Add add_assertion("numbers_assertion", [](Tensor x) {
  assert(x > -100.0);
  if (x > 1.0) {
    assert(x > 0.0 && x < 50.0);
    x = x * 2.0;
  }
  return x;
});

}  // namespace
}  // namespace user_code
