// C++ as people write it: classes, templates, lambdas, standard types, references, loops of every kind.
#include <deque>
#include <numbers>
#include <set>
#include <variant>

#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// A class with settings of the host and tensors that it changes.
class Clipper {
 public:
  explicit Clipper(double limit) : limit_(limit) {}
  Tensor operator()(const Tensor& g) {
    const Tensor norm = abs(g);
    if (!enabled_) return g;
    if (norm > limit_) {
      clipped_ += 1;
      return g * (limit_ / norm);
    }
    if (clipped_ > 2) largest_ = maximum(largest_, norm);
    return g;
  }
  Clipper& enable(bool on) {
    enabled_ = on;
    return *this;
  }
  const Tensor& clipped() const { return clipped_; }
  const Tensor& largest() const { return largest_; }

 private:
  double limit_;
  bool enabled_ = false;
  Tensor clipped_ = 0, largest_ = 0.0;
};
const Add add_clipper("styles_clipper", [](Tensor x) {
  Clipper clip(2.0);
  x = clip(x * 3.0);
  clip.enable(true);
  for (int i = 0; i < 4; ++i) x = clip(x * 1.5);
  return x + cast(clip.clipped(), float32) + clip.largest();
});
// A base class with hooks.
struct Step {
  virtual ~Step() = default;
  virtual Tensor apply(Tensor x) const = 0;
  virtual bool last(const Tensor&) const { return false; }
};
struct Shrink : Step {
  Tensor apply(Tensor x) const override {
    while (abs(x) > 3.0) x = x * 0.5;
    return x;
  }
};
struct Flip : Step {
  Tensor apply(Tensor x) const override { return x < 0.0 ? -x : x; }
};
struct Stop : Step {
  Tensor apply(Tensor x) const override {
    if (x > 2.0) return x - 2.0;
    return x;
  }
  bool last(const Tensor&) const override { return true; }
};
const Add add_steps("styles_steps", [](Tensor x) {
  std::vector<std::unique_ptr<Step>> steps;
  steps.push_back(std::make_unique<Shrink>());
  steps.push_back(std::make_unique<Flip>());
  steps.push_back(std::make_unique<Stop>());
  steps.push_back(std::make_unique<Shrink>());
  for (const auto& step : steps) {
    x = step->apply(x * 1.25);
    if (step->last(x)) break;
  }
  return x;
});
// std::optional, and a result that is there or not by the host's rule.
std::optional<Tensor> root(const Tensor& x, bool allowed) {
  if (!allowed) return std::nullopt;
  Tensor r = abs(x) + 1.0;
  for (Tensor i = 0; i < 4; ++i) {
    if (abs(r * r - abs(x)) < 1e-3) break;
    r = (r + abs(x) / r) * 0.5;
  }
  return r;
}
const Add add_optional("styles_optional", [](Tensor x) {
  const auto none = root(x, false), some = root(x, true);
  Tensor y = none.value_or(x);
  if (some && *some > 1.0) y = y * *some;
  if (none && *none > 1.0) y = y * 0.0;
  const auto owned = std::make_unique<Tensor>(x * 0.5);
  const std::shared_ptr<Tensor> shared;
  if (y > 2.0 && owned) y = y + *owned;
  if (shared || y > 9.0 || !owned) y = y - 1.0;
  return y;
});
// std::pair, std::array, structured bindings by value, by reference and const.
const Add add_bindings("styles_bindings", [](Tensor x) {
  std::pair<Tensor, Tensor> p{x, x * 0.5};
  auto& [first, second] = p;
  const auto& [old_first, old_second] = p;
  auto [copied, also_copied] = p;
  if (first > 1.0) {
    first = first + 1.0;
    also_copied = also_copied * 2.0;
  } else {
    second -= first;
  }
  while (second < 2.0) second = second + abs(copied) + 0.5;
  return old_first + 10.0 * old_second + 100.0 * also_copied + p.first;
});
const Add add_array("styles_array", [](Tensor x) {
  std::array<std::array<Tensor, 2>, 2> m{{{x, x * 2.0}, {x + 1.0, x - 1.0}}};
  for (size_t i = 0; i < m.size(); ++i)
    for (auto& cell : m[i]) {
      if (cell > 2.0) cell = cell - 2.0;
      else if (cell < 0.0) cell = -cell;
      if (i == 1) continue;
      cell = cell * 1.5;
    }
  if (m[0][0] > m[1][1]) std::swap(m[0], m[1]);
  return m[0][0] * m[1][1] - m[0][1] * m[1][0];
});
// References to elements, to members, to what a function returns.
struct Cell {
  Tensor value;
  Tensor& get() { return value; }
  const Tensor& get() const { return value; }
  RW_STATE(value)
};
const Add add_references("styles_references", [](Tensor x) {
  Cell a{x}, b{x * 2.0};
  Tensor& of_a = a.get();
  const Tensor& of_b = std::as_const(b).get();
  if (of_a > 1.0) {
    of_a = of_a * 3.0;
    b.get() = of_a + of_b;
  } else {
    b.value += 1.0;
  }
  return a.value + of_b * 10.0;
});
// A lambda that returns early, in three ways of capturing.
const Add add_captures("styles_captures", [](Tensor x) {
  Tensor by_reference = x, by_value = x * 2.0;
  const auto f = [by_value, &by_reference, scale = 0.5](const Tensor& t) {
    for (int i = 0; i < 3; ++i) {
      if (by_reference > 6.0) return by_value;
      by_reference += t * scale;
    }
    return by_reference * t;
  };
  const Tensor first = f(constant(1.0));
  by_value = by_value * 100.0;
  return first + f(x);
});
const Add add_callbacks("styles_callbacks", [](Tensor x) {
  const auto repeat = [](int times, const auto& body) {
    for (int i = 0; i < times; ++i)
      if (!body(i)) return i;
    return times;
  };
  Tensor sum = x;
  const int ran = repeat(5, [&](int i) {
    if (sum > 3.0) sum = sum - 1.0;
    else sum = sum + i;
    return i < 3;
  });
  return sum * ran;
});
// Templates over numbers, tensors and policies.
struct Ceil {
  static constexpr bool kUp = true;
};
struct Floor {
  static constexpr bool kUp = false;
};
template <class Policy, class T>
T rounded(T v, T step) {
  T at = v * 0;
  if constexpr (Policy::kUp) {
    while (at < v) at = at + step;
  } else {
    while (at + step <= v) at = at + step;
  }
  return at;
}
const Add add_policies("styles_policies", [](Tensor x) {
  return rounded<Ceil>(x, constant(0.75)) * 10.0 + rounded<Floor>(x, constant(0.5)) + rounded<Ceil>(2.2, 0.5);
});
template <class T, size_t N>
struct Ring {
  std::array<T, N> items;
  size_t at = 0;
  void push(T value) {
    items[at] = std::move(value);
    at = (at + 1) % N;
  }
  template <class F>
  T fold(T start, F f) const {
    for (const T& item : items) start = f(start, item);
    return start;
  }
};
const Add add_ring("styles_ring", [](Tensor x) {
  Ring<Tensor, 3> ring{{x, x, x}};
  for (int i = 0; i < 5; ++i) {
    Tensor next = ring.items[ring.at] + i;
    if (next > 4.0) next = next * 0.5;
    ring.push(next);
  }
  return ring.fold(constant(0.0), [](const Tensor& a, const Tensor& b) { return a > b ? a : a + b; });
});
// Loops: comma heads, counting down, two conditions, strides, nested ranges.
const Add add_heads("styles_heads", [](Tensor x) {
  Tensor s = 0.0;
  for (Tensor i = 0, j = 6; i < j; i += 1, j -= 2) s = s + x * cast(j - i, float32);
  for (Tensor i = 5; i-- > 0;) {
    if (i == 2) continue;
    s = s + cast(i, float32);
  }
  for (Tensor i : rw::range(10, 0, -3))
    for (const Tensor& j : rw::range(i % 3)) s = s - cast(i + j, float32) * 0.5;
  return s;
});
const Add add_down("styles_down", [](Tensor x) {
  for (int i = 3; i >= 0; --i) {
    if (x > i) {
      x = x - i;
      if (i % 2) continue;
      break;
    }
    x = x * 1.25;
  }
  return x;
});
const Add add_do_nested("styles_do_nested", [](Tensor x) {
  int outer = 0;
  do {
    Tensor inner = 0;
    do {
      if (x > 8.0) return x - 8.0;
      x = x + 0.5;
    } while (++inner < 2);
    ++outer;
  } while (outer < 3);
  return x * outer;
});
// switch in loops, in templates, with initialisers, on enums of the host and on tensors.
enum class Mode { kAdd, kScale, kSkip };
const Add add_modes("styles_modes", [](Tensor x) {
  for (const Mode mode : {Mode::kAdd, Mode::kSkip, Mode::kScale}) {
    switch (mode) {
      case Mode::kAdd:
        if (x > 1.0) break;
        x = x + 1.0;
        break;
      case Mode::kSkip: continue;
      default: x = x > 2.0 ? x * 0.5 : x * 3.0;
    }
    x = x + 0.125;
  }
  return x;
});
template <class T>
Tensor switched(const T& value, Tensor x) {
  switch (const T doubled = value * 2; int64_t(doubled)) {
    case 0: return x;
    case 2:
      if (x > 1.0) break;
      x = x + 0.5;
      [[fallthrough]];
    case 10: x = x * 2.0; break;
    default: x = x - 1.0;
  }
  return x * 3.0;
}
const Add add_switched("styles_switched", [](Tensor x) {
  return switched(cast(x, int32), x) + switched(1, x) + switched(int64_t(5), x) + switched(constant(1), x);
});
// Numbers of the host that lambdas with deduced types return.
const Add add_deduced("styles_deduced", [](Tensor x) {
  const auto level = [](const Tensor& t) {
    if (t > 5.0) return 3;
    if (t > 1.0) return 2;
    return 0;
  };
  const auto ratio = [&](const Tensor& t) {
    double r = level(t * 2.0);
    for (int i = 0; i < 2; ++i) {
      if (t > i) r /= 2;
    }
    return r;
  };
  const auto either = [](const Tensor& t, auto a, auto b) { return t > 0.0 ? a : b; };
  return x * level(x) + ratio(x) + either(x, 1, 2.5) + either(x, 'a', short(3)) % 5;
});
const Add add_deduced_loop("styles_deduced_loop", [](Tensor x) {
  const auto first_above = [](const std::vector<Tensor>& all, double limit) {
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] > limit) return int(i);
    return -1;
  };
  const int at = first_above({x, x * 2.0, x + 3.0}, 3.5);
  if (at < 0) return x * -1.0;
  return x + at;
});
// One instantiation is the host's throughout, others take tensors.
template <class T>
auto limited(T x, int limit) {
  for (int i = 0; i < limit; ++i) {
    if (x > 4) return x;
    x = x + 1.5;
  }
  return x * 2;
}
template <class T, class N>
auto chosen(const T& t, N a, N b) {
  if (t > 2) return a;
  if (t > 0) return N(a + b);
  return b;
}
const Add add_templates_of_numbers("styles_templates_of_numbers", [](Tensor x) {
  const double table[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  const double host = table[size_t(limited(2.0, 3)) % 6];
  const int one = chosen(x, 3, 4);
  double two = chosen(x, 0.5, 0.25);
  if (one > 3) two += one;
  return limited(x, 3) * host + two + chosen(x, x, x * 2.0) + chosen(1.0, x, x * 0.5);
});
// The common type of ?: on numbers is C++'s, not that of the first arm.
const Add add_common("styles_common", [](Tensor x) {
  unsigned k = 9;
  short s = 3;
  uint8_t u = 250;
  if (x > 1.0) {
    k -= 11;
    s = -4;
    u += 7;
  }
  const bool host = true;
  const auto pick = [&](auto t) {
    const int64_t a = host ? k % 7 : s;
    const int64_t b = host ? s : k;
    const double c = !host ? 0.5 : s;
    const int d = host ? u : 300;
    const double e = host ? 2.75 : u;
    return t * (a > 3 ? 2 : 1) + (b > 100 ? 10 : 20) + c + d + e;
  };
  return pick(x);
});
// Members that a method and a lambda in it change.
class Integrator {
 public:
  explicit Integrator(Tensor y) : y_(std::move(y)) {}
  Tensor run(const Tensor& until) {
    const auto derivative = [this](const Tensor& y) { return y > 1.0 ? y * -0.5 : constant(0.25); };
    while (t_ < until) {
      const Tensor k = derivative(y_), next = y_ + k * h_;
      if (abs(derivative(next) - k) > 0.25 && h_ > 0.1) {
        h_ = h_ * 0.5;
        ++rejected_;
        continue;
      }
      y_ = next;
      t_ += h_;
      if (rejected_ == 0) h_ = rw::minimum(h_ * 1.5, 1.0);
    }
    return y_;
  }
  Tensor rejected() const { return cast(rejected_, float32); }

 private:
  Tensor y_, t_ = 0.0, h_ = 0.5, rejected_ = 0;
};
const Add add_integrator("styles_integrator", [](Tensor x) {
  Integrator solver(x);
  return solver.run(constant(2.0)) + solver.rejected() * 10.0;
});
// Algorithms with lambdas that branch.
const Add add_algorithms("styles_algorithms", [](Tensor x) {
  std::vector<Tensor> v{x, x - 2.0, x * 0.5, -x};
  std::transform(v.begin(), v.end(), v.begin(), [](const Tensor& t) { return t < 0.0 ? t * 0.25 : t; });
  Tensor largest = v[0];
  std::for_each(v.begin() + 1, v.end(), [&](const Tensor& t) {
    if (t > largest) largest = t;
  });
  const Tensor sum = std::accumulate(v.begin(), v.end(), constant(0.0), [](Tensor a, const Tensor& t) {
    if (a > 5.0) return a;
    return a + t;
  });
  return sum + largest * 10.0;
});
const Add add_variants("styles_variants", [](Tensor x) {
  using Layer = std::variant<double, Tensor>;
  const std::vector<Layer> layers{2.0, x, 0.5};
  Tensor y = x;
  for (const Layer& layer : layers) {
    if (const double* scale = std::get_if<double>(&layer)) y = y > 3.0 ? y : y * *scale;
    else if (y > 0.0) y = y + std::get<Tensor>(layer);
  }
  return y;
});
// An early return from the middle of nested loops of both kinds, with work on the way out.
const Add add_search("styles_search", [](Tensor x) {
  const Tensor grid = rw::reshape(rw::range(12), {3, 4});
  const auto find = [&](const Tensor& wanted) -> std::pair<Tensor, Tensor> {
    Tensor i = 0;
    for (Tensor row : grid) {
      Tensor j = 0;
      for (Tensor cell : row) {
        if (cell == wanted) return {i, j};
        if (cell > wanted + 1) return {constant(-1), j};
        ++j;
      }
      ++i;
    }
    return {i, constant(-1)};
  };
  const auto [i, j] = find(cast(x, int32));
  return x + cast(i, float32) * 10.0 + cast(j, float32) * 100.0;
});

}  // namespace
}  // namespace user_code
