// Tuples, arrays, maps, structs in structs; operands that change what is around them.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// exchange of values, tuples, optionals, variants
const Add add_opt("structures_opt", [](Tensor x) {
  std::optional<Tensor> best = x;
  if (x > 1.0) best = x * 2.0;
  else best = *best - 1.0;
  return *best;
});
const Add add_opt2("structures_opt2", [](Tensor x) {
  std::optional<Tensor> best = x;
  if (x > 1.0) *best = x * 2.0;
  return best.value();
});
const Add add_tup("structures_tup", [](Tensor x) {
  auto t = std::tuple{x, x * 2.0, 3};
  if (x > 1.0) { std::get<0>(t) = std::get<1>(t); }
  auto& [a, b, c] = t;
  if (a > 2.0) { b = a * c; }
  return a + b;
});
const Add add_arr("structures_arr", [](Tensor x) {
  std::array<Tensor, 3> a{x, x * 2.0, x * 3.0};
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] > 2.0) a[i] = a[i] * 0.5;
  Tensor c[2] = {a[0], a[1]};
  if (c[0] > c[1]) std::swap(c[0], c[1]);
  return a[2] + c[0] * 10.0;
});
const Add add_lst("structures_lst", [](Tensor x) {
  std::map<std::string, Tensor> m{{"a", x}, {"b", x * 2.0}};
  for (auto& [n, t] : m) {
    if (t > 3.0) t = t * 0.5;
  }
  if (x > 0.0) m["a"] = m.at("b");
  return m["a"] + m["b"];
});
struct P {
  Tensor v;
  Tensor w;
  Tensor len() const { return v * w; }
  void step(const Tensor& by) {
    v = v + by;
    if (v > 4.0) w = w * 2.0;
  }
  P operator+(const P& o) const { return {v + o.v, w + o.w}; }
  P& operator+=(const P& o) {
    v = v + o.v;
    w = w + o.w;
    return *this;
  }
};
const Add add_st("structures_st", [](Tensor x) {
  P p{x, x * 0.5};
  if (x > 1.0) p += P{x, x};
  while (p.v < 6.0) p.step(x * x + 1.0);
  if (p.len() > 3.0) p.w = p.v;
  return p.v + p.w;
});
struct Nested {
  P p;
  std::vector<P> ps;
  std::array<Tensor, 2> a;
  RW_STATE(p, ps, a)
};
const Add add_nst("structures_nst", [](Tensor x) {
  Nested n{{x, x}, {{x, x}, {x * 2.0, x}}, {x, x}};
  if (x > 1.0) {
    n.ps[1].v = x * 3.0;
    n.p.w = constant(2.0);
  }
  for (auto& p : n.ps) {
    if (p.v > 4.0) p.step(x);
  }
  if (n.ps[0].v > 0.0) n.a[1] = n.p.w;
  return n.ps[0].v + n.ps[1].v * 2.0 + n.p.w + n.a[1];
});
const Add add_constref("structures_constref", [](Tensor x) {
  const Tensor& y = x;
  if (x > 1.0) x = x * 2.0;
  return x + y;
});
const Add add_ptrconst("structures_ptrconst", [](Tensor x) {
  const Tensor* y = &x;
  if (*y > 1.0) x = *y * 2.0;
  return x;
});
const Add add_nestsel("structures_nestsel", [](Tensor x) {
  return x > 5.0 ? x * 2.0 : x > 1.0 ? x + 1.0 : x < -1.0 ? constant(0.0) : x;
});
const Add add_selmix("structures_selmix", [](Tensor x) {
  Tensor y = x > 1.0 ? 2.0 : x;
  int k = x > 2.0 ? 3 : 1;
  double d = x > 0.0 ? 0.5 : k;
  return y * k + d;
});
const Add add_logicside("structures_logicside", [](Tensor x) {
  Tensor n = 0.0;
  const auto bump = [&] {
    n = n + 1.0;
    return n > 0.5;
  };
  if (x > 1.0 && bump()) x = x * 2.0;
  if (x > 8.0 || bump()) x = x + n;
  bool b = x > 3.0 && bump();
  if (b) x = x + 1.0;
  return x * 10.0 + n;
});
const Add add_ints("structures_ints", [](Tensor x) {
  int a = 7;
  unsigned u = 3;
  int64_t l = 1;
  uint8_t c = 250;
  short s = 32000;
  bool b = false;
  float f = 0.1f;
  if (x > 1.0) {
    a = -a;
    u -= 5;
    l <<= 40;
    c += 10;
    s += 1000;
    b = !b;
    f *= 3;
  }
  return x + a / 2 + a % 3 + (u > 100u ? 1 : 2) + double(l >> 38) + c + s / 1000 + (b ? 1 : 0) + f;
});

}  // namespace
}  // namespace user_code
