// Where constructs of C++ meet: initialisers, lambdas called in place, defaults, inheritance, exceptions of
// the host's, sets of jumps.
#include <span>
#include <stdexcept>
#include <string>

#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// Initialisers of every kind of statement.
const Add add_initialisers("corners_initialisers", [](Tensor x) {
  if (auto [a, b] = std::pair{x * 0.5, x + 1.0}; a > 1.0 && b < 8.0) x = a + b;
  else if (const Tensor c = a - b; c > -3.0) x = c;
  for (Tensor base = x * 0.25; Tensor r : rw::stack({x, base})) {
    if (r > base) x = x + r * 0.5;
    base = base + 0.125;
  }
  switch (const Tensor n = cast(x, int32) % 3; int64_t(n)) {
    case 0: x = x + cast(n, float32); break;
    case 1:
    case 2: x = x - cast(n, float32); break;
    default: x = x * 0.5;
  }
  return x;
});
// Lambdas called where they stand, one in another.
const Add add_in_place("corners_in_place", [](Tensor x) {
  const Tensor scale = [&] {
    if (x > 4.0) return constant(0.25);
    return [&]() -> Tensor {
      for (Tensor i : rw::range(3))
        if (x < cast(i, float32)) return cast(i, float32) + 0.5;
      return constant(2.0);
    }();
  }();
  const int sign = [&x] {
    if (x < 0.0) return -1;
    return 1;
  }();
  return x * scale * sign;
});
// Default arguments, and overloads that call each other.
Tensor clamped(const Tensor& t, const Tensor& low = constant(-1.0), double high = 2.0) {
  if (t < low) return low;
  return t > high ? constant(high) : t;
}
double clamped(double t) { return t > 2.0 ? 2.0 : t; }
const Add add_defaults("corners_defaults", [](Tensor x) {
  return clamped(x) + clamped(x, x * 0.5) * 10.0 + clamped(x, constant(0.0), clamped(3.5)) * 100.0;
});
// A base whose members a derived class changes.
struct Base {
  Tensor total = 0.0, count = 0.0;
  void add(const Tensor& t) {
    total = total + t;
    count += 1.0;
  }
  Tensor mean() const {
    if (count == 0.0) return constant(0.0);
    return total / count;
  }
};
struct Positive : Base {
  void add(const Tensor& t) {
    if (t <= 0.0) return;
    Base::add(t);
    if (total > limit) this->total = limit;
  }
  Tensor limit = 9.0;
  RW_STATE(total, count, limit)
};
const Add add_inherited("corners_inherited", [](Tensor x) {
  Positive p;
  for (Tensor r : rw::stack({x, -x, x * 2.0, x - 1.0})) p.add(r);
  Base& base = p;
  if (p.mean() > 3.0) base.count = base.count + 1.0;
  return p.mean() + p.count * 10.0;
});
// What C++ decides may throw, also under a tensor's condition in a function that is called.
Tensor checked(const Tensor& t, int power) {
  if (power < 0) throw std::invalid_argument("a negative power");
  Tensor result = 1.0;
  for (int i = 0; i < power; ++i) result = result * t;
  return result;
}
const Add add_throws("corners_throws", [](Tensor x) {
  Tensor y = x;
  try {
    if (x > 1.0) y = checked(x, 2);
    else y = checked(x, 3);
  } catch (const std::invalid_argument&) { y = constant(0.0); }
  return y;
});
// References that are chosen once, and spans.
const Add add_chosen_references("corners_chosen_references", [](Tensor x) {
  Tensor a = x, b = x * 2.0;
  const bool first = true;
  Tensor& chosen = first ? a : b;
  if (x > 1.0) chosen = chosen * 2.0;
  for (int i = 0; i < 2; ++i) {
    Tensor& t = i == 0 ? a : b;
    if (t > 5.0) t = t - 4.0;
    else t += 0.5;
  }
  return a + b * 10.0;
});
Tensor largest_of(std::span<const Tensor> all) {
  Tensor largest = all[0];
  for (const Tensor& t : all.subspan(1))
    if (t > largest) largest = t;
  return largest;
}
const Add add_spans("corners_spans", [](Tensor x) {
  const std::array<Tensor, 3> all{x, x * x, x + 2.0};
  return largest_of(all) + largest_of(std::vector<Tensor>{-x, x * 0.5});
});
// Every jump out of every loop, two deep.
const Add add_all_jumps("corners_all_jumps", [](Tensor x) {
  Tensor log = 0.0;
  for (int i = 0; i < 3; ++i) {
    Tensor k = 0;
    for (;;) {
      ++k;
      if (k > 4) break;
      if (x > 6.0) {
        x = x - 2.0;
        continue;
      }
      do {
        x = x + 0.25;
        if (x > 5.0) break;
        if (x < -1.5) continue;
        log = log + 0.5;
        if (log > 7.0) return x * 1000.0 + log;
      } while (x < 1.0);
      if (k == 3) break;
      log = log + 0.125;
    }
    if (log > 4.0) continue;
    log += 0.0625;
  }
  return x * 100.0 + log;
});
const Add add_rows_columns("corners_rows_columns", [](Tensor x) {
  const Tensor table = rw::reshape(rw::stack({x, x + 1.0, x * 0.5, x - 2.0, x * x, x * 3.0}), {3, 2});
  Tensor best = -100.0, row_of_best = -1;
  Tensor i = 0;
  for (Tensor row : table) {
    Tensor sum = 0.0;
    for (Tensor cell : row) {
      if (cell < 0.0) {
        sum = -50.0;
        break;
      }
      sum = sum + cell;
    }
    if (sum > best) std::tie(best, row_of_best) = std::tuple{sum, i};
    ++i;
  }
  return best + cast(row_of_best, float32) * 1000.0;
});
// Numbers and tensors that decide for each other.
const Add add_counts("corners_counts", [](Tensor x) {
  int small = 0;
  long long large = 1;
  float mean = 0;
  bool seen = false;
  for (int i = 0; i < 4; ++i) {
    bool below = false;
    if (x < i * 2) below = true;
    if (below && !seen) {
      small += i;
      seen = below;
    } else if (!below) {
      large *= 1000000;
      mean = (mean * i + small) / (i + 1);
    }
    x = seen ? x * 0.5 : x + 1.0;
  }
  const int quotient = small / 2, remainder = small % 2;
  if (large > 1000000000 || quotient > 1) x = x - mean;
  return x * (remainder == 1 ? 2.0 : 1.0) + quotient + (seen ? 100 : 200);
});
const Add add_do_numbers("corners_do_numbers", [](Tensor x) {
  int steps = 0, left = 6;
  do {
    if (x > 4.0) left -= 2;
    else --left;
    x = x * 0.75 + 1.0;
    ++steps;
    if (steps == 2) continue;
    x = x - 0.125;
  } while (left > 0);
  return x + steps * 10 + left;
});
// One template's loop, over a tensor, a list and numbers of C++'s.
template <class R>
Tensor until_large(const R& range, Tensor x) {
  Tensor sum = 0.0;
  for (const auto& v : range) {
    if (sum > 4.0) break;
    if (v < 0.5) continue;
    if (x > 8.0 && v > 1.0) return sum - x;
    sum = sum + v * x;
    x = x + 0.25;
  }
  return sum + x;
}
const Add add_any_range("corners_any_range", [](Tensor x) {
  const Tensor tensor = rw::stack({x, constant(1.0), x * 0.5, x + 1.0});
  const std::vector<Tensor> list{x, constant(1.0), x * 0.5, x + 1.0};
  const std::array<double, 4> numbers{2.0, 0.25, 1.0, 0.75};
  return until_large(tensor, x) + until_large(list, x) * 10.0 + until_large(numbers, x) * 100.0;
});
template <class N>
Tensor countdown(N n, Tensor x) {
  while (n > 0) {
    n = n - 1;
    if (x > 5.0) x = x - 2.0;
    else x = x + 0.5;
  }
  do {
    x = x * 0.75;
    n = n + 1;
  } while (n < 3);
  for (N i = 0; i < 2; ++i) x = x > 2.0 ? x - 0.5 : x;
  return x;
}
const Add add_any_count("corners_any_count", [](Tensor x) {
  return countdown(constant(3), x) + countdown(3, x) * 10.0 + countdown(int64_t(2), x) * 100.0;
});
// A state machine.
const Add add_machine("corners_machine", [](Tensor x) {
  enum State { kIdle, kUp, kDown };
  int state = kIdle;
  Tensor path = 0.0;
  for (int i = 0; i < 5; ++i) {
    switch (state) {
      case kIdle:
        if (x > 1.0) state = kUp;
        else state = kDown;
        break;
      case kUp:
        x = x - 1.5;
        if (x < 2.0) state = kIdle;
        break;
      case kDown: {
        x = x + 0.75;
        if (x > 0.5) state = kUp;
        else if (x > 0.0) state = kIdle;
      }
    }
    path = path * 3.0 + state;
  }
  return x + path * 10.0;
});
// Strings and other things of the host's beside tensors.
const Add add_host_things("corners_host_things", [](Tensor x) {
  const std::map<std::string, double> settings{{"rate", 0.5}, {"limit", 3.0}};
  const std::string mode = settings.size() > 1 ? "fast" : "slow";
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) {
    if (x > value) x = x - value * 0.5;
    names.push_back(name);
  }
  if (mode == "fast" && x > 1.0) x = x * 2.0;
  return x + double(names.size());
});
// Words and attributes of C++'s.
const Add add_words("corners_words", [](Tensor x) {
  if ((x > 1.0 and not(x > 5.0)) or x < -1.0) [[likely]] {
    x = x + 1.0;
  } else [[unlikely]] {
    x = x - 1.0;
  }
  [[maybe_unused]] const Tensor before = x;
  while (not(x < 3.0)) [[likely]]
    x = x - 1.0;
  return x;
});
// A block that is left by break, iterators, a list in braces, chosen pairs.
const Add add_block("corners_block", [](Tensor x) {
  do {
    if (x > 5.0) break;
    x = x * 2.0;
    if (x > 3.0) break;
    x = x - 0.5;
  } while (false);
  return x;
});
const Add add_iterators("corners_iterators", [](Tensor x) {
  const std::vector<Tensor> v{x, x * 0.5, x + 3.0, x * 2.0};
  Tensor s = 0.0;
  for (auto it = v.begin(); it != v.end(); ++it) {
    if (*it > 6.0) break;
    if (it->rank() > 0 || *it < 0.0) continue;
    s = s + *it;
  }
  for (auto it = v.rbegin(); it != v.rend(); ++it)
    if (s < 4.0) s = s + *it * 0.25;
  for (Tensor t : {x, s, x * s}) {
    if (t > 20.0) return s;
    s = s + t * 0.125;
  }
  const auto [low, high] = x < s ? std::pair{x, s} : std::pair{s, x};
  return high - low * 0.5;
});
// Functions with all that their heads may say.
struct Heads {
  Tensor t;
  [[nodiscard]] auto twice() const& noexcept -> Tensor {
    if (t > 1.0) return t * 2.0;
    return t;
  }
  [[nodiscard]] Tensor taken() && {
    if (t > 1.0) return t * 4.0;
    return t * 0.5;
  }
  template <class... A>
  auto sum(const A&... a) const -> decltype((t + ... + a)) {
    if (sizeof...(a) > 1 && t > 0.0) return (t + ... + a);
    return (t - ... - a);
  }
  static inline const auto kept = [](const Tensor& t, auto... more) noexcept {
    Tensor largest = t;
    ((largest = more > largest ? largest * 0.5 + more : largest), ...);
    if (largest > t) return largest;
    return t * 3.0;
  };
};
const Add add_function_heads("corners_function_heads", [](Tensor x) {
  const Heads h{x};
  return h.twice() + Heads{x * 2.0}.taken() + h.sum(x) * 0.5 + h.sum(x, 2.0) +
         Heads::kept(x, 1.0, 3.0, x * 2.0);
});
// A coarse to fine search with the host's loop around a tensor's.
const Add add_bisection("corners_bisection", [](Tensor x) {
  const auto f = [&](const Tensor& t) { return t * t * t - abs(x); };
  Tensor low = 0.0, high = 4.0;
  int evaluations = 0;
  for (int i = 0; i < 12; ++i) {
    const Tensor middle = (low + high) * 0.5;
    ++evaluations;
    if (f(middle) > 0.0) high = middle;
    else low = middle;
    if (high - low < 0.01) break;
  }
  while (f(high) > 0.01) high = high - f(high) / (3.0 * high * high);
  return high + evaluations * 10;
});

}  // namespace
}  // namespace user_code
