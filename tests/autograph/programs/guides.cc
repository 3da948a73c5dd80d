// What guides of AutoGraph write in Python, as C++: loops in loops with jumps, lists, data, shapes,
// conditions.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// The two loops have each their own break and continue.
const Add add_nested_jumps("guides_nested_jumps", [](Tensor x) {
  Tensor total = 0.0;
  for (Tensor i : rw::range(5)) {
    if (i == 3) continue;
    Tensor j = 0;
    while (j < 4) {
      ++j;
      if (j == 2 && x > 1.0) continue;
      if (total > 12.0) break;
      total = total + cast(i * j, float32) * x;
    }
    if (total < -12.0) break;
    total += 1.0;
  }
  return total;
});
// A for with an else: the else runs unless the loop is left.
const Add add_for_else("guides_for_else", [](Tensor x) {
  bool found = false;
  Tensor at = -1;
  const Tensor items = rw::stack({x, x - 2.0, x * 0.5, x + 1.0});
  for (Tensor i : rw::range(4)) {
    if (items(i) > 2.0) {
      found = true;
      at = i;
      break;
    }
  }
  if (!found) return x * -1.0;
  return rw::gather(items, at) * 2.0;
});
const Add add_while_else("guides_while_else", [](Tensor x) {
  Tensor n = 10;
  bool left = false;
  while (n > 0) {
    n -= 3;
    if (x > cast(n, float32)) {
      left = true;
      break;
    }
    x = x + 0.75;
  }
  if (left) x = x * 2.0;
  else x = x * 3.0;
  return x + cast(n, float32);
});
// is_prime of the items; returns in three depths.
Tensor smallest_divisor(const Tensor& n) {
  if (n < 2) return constant(0);
  for (Tensor d = 2; d * d <= n; ++d)
    if (n % d == 0) return d;
  return n;
}
const Add add_divisors("guides_divisors", [](Tensor x) {
  Tensor sum = 0;
  for (Tensor n : rw::range(1, 30)) {
    const Tensor d = smallest_divisor(n);
    if (d == n) sum += d;
    else if (d > 3) break;
  }
  return x * cast(sum, float32);
});
// Lists that loops append to.
const Add add_append("guides_append", [](Tensor x) {
  rw::TensorArray squares(float32, {.size = 0, .dynamic_size = true, .element_shape = rw::Shape()});
  for (Tensor i : rw::range(6)) {
    if (i % 2 == 0) continue;
    squares = squares.write(squares.size(), x * cast(i, float32));
    if (i == 5) break;
  }
  return rw::reduce_sum(squares.stack()) + cast(squares.size(), float32);
});
const Add add_list_of_host("guides_list_of_host", [](Tensor x) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 4; ++i) {
    if (i == 2) continue;
    Tensor part = x + i;
    if (part > 3.0) part = part * 0.5;
    parts.push_back(part);
  }
  return rw::reduce_sum(rw::stack(parts)) * rw::reduce_max(rw::stack(parts));
});
const Add add_pop("guides_pop", [](Tensor x) {
  std::vector<Tensor> stack{x, x * 2.0, x * 3.0};
  Tensor sum = 0.0;
  while (!stack.empty()) {
    const Tensor top = stack.back();
    stack.pop_back();
    if (top > 4.0) sum = sum + top;
    else sum = sum - top * 0.5;
  }
  return sum;
});
// Data, with elements that are pairs, batches of an unknown size, and an end before the data's.
const Add add_data_break("guides_data_break", [](Tensor x) {
  const auto data = rw::data::Dataset::from_tensor_slices(constant({1.0, 2.0, 3.0, 4.0, 5.0})).batch(2);
  Tensor seen = 0, sum = 0.0;
  for (Tensor batch : data) {
    if (seen == 2) break;
    ++seen;
    sum = sum + rw::reduce_mean(batch) * x;
    if (sum > 9.0) return sum * cast(seen, float32);
  }
  return sum;
});
const Add add_data_last("guides_data_last", [](Tensor x) {
  const auto data = rw::data::Dataset::from_tensor_slices(constant({1.0, 2.0, 3.0, 4.0, 5.0})).batch(2);
  Tensor last = rw::zeros({2});
  for (Tensor batch : data) last = batch * x;
  return rw::reduce_sum(last);
});
const Add add_data_two("guides_data_two", [](Tensor x) {
  const auto data = rw::data::Dataset::from_tensor_slices(
      std::tuple{constant({0.5, 1.0, -1.0}), rw::constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}})});
  Tensor w = x;
  int steps = 0;
  for (auto [scale, row] : data) {
    if (scale < 0.0) continue;
    w = w + rw::reduce_sum(row) * scale * 0.125;
    ++steps;
    for (Tensor v : row) {
      if (v > w) break;
      w = w - v * 0.0625;
    }
  }
  return w * steps;
});
// Shapes that change.
const Add add_grows("guides_grows", [](Tensor x) {
  Tensor rows = rw::reshape(x, {1, 1}), n = 0;
  while (n < 3) {
    rw::autograph::set_loop_options({.shape_invariants = {{rows, rw::Shape({-1, 1})}}});
    rows = rw::concat({rows, rows(rw::newaxis, -1) * 0.5}, 0);
    if (x > 4.0) rows = rows + 1.0;
    ++n;
  }
  return rw::reduce_sum(rows) + cast(rw::shape(rows)[0], float32);
});
// Conditions.
const Add add_short("guides_short", [](Tensor x) {
  Tensor evaluated = 0;
  const auto expensive = [&](const Tensor& t) {
    ++evaluated;
    return t > 0.5;
  };
  if (x > 1.0 && expensive(x - 1.0)) x = x * 2.0;
  if (x > 20.0 || expensive(x)) x = x + 1.0;
  const bool host = true;
  if (host || expensive(x)) x = x + 0.5;
  if (!host && expensive(x)) x = x * 100.0;
  return x + cast(evaluated, float32) * 0.125;
});
const Add add_chain("guides_chain", [](Tensor x) {
  const Tensor low = 0.0, high = 4.0;
  if (low < x && x < high && (x != 1.0 || x == 3.0)) return x * x;
  if (!(x > low) && !(x > high)) return x * -1.0;
  return x / high;
});
const Add add_conditional_in_call("guides_conditional_in_call", [](Tensor x) {
  return maximum(x > 1.0 ? x : x * 2.0, x < 5.0 ? constant(0.25) : x * 0.125) * (x > 0.0 ? 2 : 3);
});
const Add add_recursion("guides_recursion", [](Tensor x) {
  const auto halve = [](auto&& self, Tensor t, int depth) -> Tensor {
    if (depth == 0) return t;
    if (t > 1.0) return self(self, t * 0.5, depth - 1) + 1.0;
    return self(self, t + 0.25, depth - 1);
  };
  return halve(halve, x, 5);
});
// Structures that branches choose.
struct State {
  Tensor position, velocity;
  std::vector<Tensor> trail;
  RW_STATE(position, velocity, trail)
};
State moved(State s, const Tensor& dt) {
  s.velocity -= dt * 9.0;
  s.position += s.velocity * dt;
  s.trail[0] = s.position;
  if (s.position < 0.0) {
    s.position = s.position * -0.5;
    s.velocity = s.velocity * -0.5;
    std::swap(s.trail[0], s.trail[1]);
  }
  return s;
}
const Add add_bounce("guides_bounce", [](Tensor x) {
  State s{x, x * 0.5, {x, x}};
  for (Tensor t : rw::range(8)) {
    s = moved(s, constant(0.125));
    if (abs(s.velocity) < 0.25) break;
    const State before = s;
    if (s.position > 6.0) s = State{s.position - 1.0, s.velocity, {before.trail[1], before.trail[0]}};
  }
  return s.position + s.velocity * 0.5 + s.trail[0] - s.trail[1] * 0.25;
});
const Add add_dictionary("guides_dictionary", [](Tensor x) {
  std::map<std::string, Tensor> parameters{{"w", x}, {"b", x * 0.5}};
  for (Tensor i : rw::range(3)) {
    for (auto& [name, value] : parameters) {
      if (value > 2.0) value = value * 0.75;
      else if (name == "b") value += 0.5;
    }
    if (parameters["w"] < parameters["b"]) parameters["w"] = parameters["b"];
  }
  return parameters.at("w") + parameters.at("b") * 10.0;
});
// Loops over several things at once.
const Add add_zip("guides_zip", [](Tensor x) {
  const Tensor a = rw::stack({x, x * 2.0, x - 1.0}), b = constant({1.0, -1.0, 0.5});
  Tensor dot = 0.0;
  for (auto [u, v] : rw::data::Dataset::zip(rw::data::Dataset::from_tensor_slices(a),
                                            rw::data::Dataset::from_tensor_slices(b))) {
    if (v < 0.0) dot = dot - u * 0.5;
    else dot = dot + u * v;
  }
  return dot;
});
const Add add_counted("guides_counted", [](Tensor x) {
  int evens = 0, odds = 0;
  double weight = 1;
  for (Tensor i : rw::range(7)) {
    if (i % 2 == 0) evens += 1;
    else ++odds;
    if (evens > odds && x > 1.0) weight /= 2;
    if (odds == 3) break;
  }
  return x * weight + evens * 10 + odds;
});
const Add add_fibonacci("guides_fibonacci", [](Tensor x) {
  const auto fibonacci = [](const Tensor& n) {
    Tensor a = 0, b = 1;
    for (Tensor i : rw::range(n)) std::tie(a, b) = std::tuple{b, a + b};
    return a;
  };
  return x * cast(fibonacci(cast(abs(x), int32) + 3), float32);
});
// A while whose condition calls, assigns and counts.
const Add add_condition_calls("guides_condition_calls", [](Tensor x) {
  int tries = 0;
  const auto far = [&](const Tensor& t) {
    ++tries;
    return abs(t * t - 2.0) > 0.01 && tries < 9;
  };
  Tensor t = abs(x) + 1.0;
  while (far(t)) t = (t + 2.0 / t) * 0.5;
  return t + tries;
});
// A loop that was left in the middle, and what it did until then.
const Add add_partial("guides_partial", [](Tensor x) {
  Tensor a = x, b = 0.0, n = 0;
  do {
    a = a + 1.0;
    if (a > 4.0) {
      b = a;
      if (b > 6.0) break;
      continue;
    }
    b = b - 0.5;
  } while (++n < 4 && b < 5.0);
  return a + 10.0 * b + 100.0 * cast(n, float32);
});
// The range changes in the body, and is not looked at again.
const Add add_range_changes("guides_range_changes", [](Tensor x) {
  Tensor v = rw::stack({x, x * 2.0}), s = 0.0;
  for (Tensor r : v) {
    v = v * 2.0;
    s = s + r;
    if (s > 3.0) v = v + 1.0;
  }
  Tensor n = 3;
  for (Tensor i : rw::range(n)) {
    n = n + 1;
    s = s + cast(i * n, float32);
  }
  return s + rw::reduce_sum(v);
});

}  // namespace
}  // namespace user_code
