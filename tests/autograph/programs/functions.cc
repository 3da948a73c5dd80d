// Methods, templates, operators, functions with deduced types, modules, tensor arrays.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

struct P {
  Tensor v;
  Tensor w;
  void step(const Tensor& by) {
    v = v + by;
    if (v > 4.0) w = w * 2.0;
  }
};
const Add add_st("functions_st", [](Tensor x) {
  P p{x, x * 0.5};
  while (p.v < 6.0) p.step(x * x + 1.0);
  return p.v + p.w;
});
struct Layer : rw::Module {
  Variable w{2.0};
  int calls = 0;
  Tensor call(Tensor x) {
    ++calls;
    if (x > 1.0) return x * w;
    return x + w;
  }
};
const Add add_layer("functions_layer", [](Tensor x) {
  static Layer l;
  if (x > 2.0) x = l.call(x);
  return l.call(x);
});
const Add add_layerp("functions_layerp", [](Tensor x) {
  static auto l = std::make_shared<Layer>();
  if (x > 2.0) x = l->call(x);
  return l->call(x);
});
const Add add_vcond("functions_vcond", [](Tensor x) {
  static Variable v(1.5);
  if (v > 1.0) x = x * 2.0;
  if (x > v) x = x - v;
  while (x > v) x = x - v;
  return x;
});
// templates
template <class T>
T relu(T x) {
  if (x > 0) return x;
  return x * 0.1;
}
template <class T, class F>
T times(T x, int n, F f) {
  for (int i = 0; i < n; ++i) {
    x = f(x);
    if (x > 5.0) break;
  }
  return x;
}
const Add add_tmpl("functions_tmpl", [](Tensor x) {
  double d = relu(-3.0);
  return relu(x) + relu(x - 2.0) * d;
});
const Add add_tmpl2("functions_tmpl2", [](Tensor x) {
  return times(x, 4, [](auto t) { return t * 1.5 + 0.5; }) + times(1.0, 3, [](double d) { return d * 2; });
});
template <class... T>
Tensor sum_positive(const T&... t) {
  Tensor s = 0.0;
  ((s = t > 0.0 ? s + t : s), ...);
  return s;
}
const Add add_pack("functions_pack", [](Tensor x) { return sum_positive(x, x - 1.0, x * -1.0); });
auto classify(const Tensor& x) {
  if (x > 3.0) return std::tuple{x, constant(1)};
  if (x > 1.0) { return std::tuple{x * 2.0, constant(2)}; }
  return std::tuple{x * 3.0, constant(3)};
}
const Add add_autoret("functions_autoret", [](Tensor x) {
  auto [a, b] = classify(x);
  return a + cast(b, rw::float32);
});
struct Op {
  Tensor k;
  Tensor operator()(Tensor x) const {
    if (x > k) return x - k;
    return x;
  }
  Tensor operator[](int i) const {
    Tensor s = k;
    for (int j = 0; j < i; ++j) {
      if (s > 2.0) break;
      s = s * 2.0;
    }
    return s;
  }
  operator Tensor() const {
    if (k > 1.0) return k;
    return constant(1.0);
  }
  friend Tensor operator*(const Op& a, const Tensor& b) {
    if (b > a.k) return b;
    return a.k * b;
  }
};
const Add add_ops("functions_ops", [](Tensor x) {
  Op o{x * 0.5};
  return o(x) + o[3] + Tensor(o) + o * x;
});
struct Result {
  Tensor value, steps;
};
Result newton(Tensor x) {
  Tensor n = 0.0;
  for (;;) {
    const Tensor next = x - (x * x - 2.0) / (2.0 * x);
    if (rw::abs(next - x) < 1e-3) return {next, n};
    x = next;
    n = n + 1.0;
    if (n > 30.0) return {.value = x, .steps = n};
  }
}
const Add add_newt("functions_newt", [](Tensor x) {
  const auto [v, s] = newton(x * x + 1.0);
  return v + s;
});
std::vector<Tensor> split(Tensor x) {
  if (x > 1.0) return {x, x * 2.0};
  std::vector<Tensor> r;
  r.push_back(x);
  r.push_back(x + 1.0);
  return r;
}
const Add add_vecret("functions_vecret", [](Tensor x) {
  const auto v = split(x);
  return v[0] * v[1];
});
const Add add_ternary_call("functions_ternary_call", [](Tensor x) {
  const auto f = [](const Tensor& t) -> Tensor { return t > 2.0 ? t * t : t < 0.0 ? t * -1.0 : t; };
  return f(x) + (f(x) > 3.0 ? f(f(x)) : constant(1.0));
});
// TensorArray
const Add add_ta("functions_ta", [](Tensor x) {
  rw::TensorArray a(rw::float32, {.size = 4});
  for (Tensor i : rw::range(4)) {
    if (x > 2.0) a = a.write(i, x * 2.0);
    else a = a.write(i, x);
    x = x + 0.5;
  }
  return rw::reduce_sum(a.stack());
});
const Add add_tagrow("functions_tagrow", [](Tensor x) {
  rw::TensorArray a(rw::float32, {.size = 0, .dynamic_size = true});
  Tensor i = 0;
  while (x > 0.5) {
    a = a.write(i, x);
    ++i;
    x = x * 0.5;
  }
  a = a.write(i, x);
  return rw::reduce_sum(a.stack());
});

}  // namespace
}  // namespace user_code
