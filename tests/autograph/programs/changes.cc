// Changes that stand in calls, references, pointers and algorithms.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// std::tie assignment in a branch
std::pair<Tensor, Tensor> two(const Tensor& a) { return {a * 2.0, a + 1.0}; }
const Add add_tie("changes_tie", [](Tensor x) {
  Tensor y = x;
  if (x > 1.0) std::tie(x, y) = two(x);
  return x + y;
});
const Add add_tie_while("changes_tie_while", [](Tensor x) {
  Tensor y = x;
  while (y < 6.0) std::tie(x, y) = std::pair{x + 0.5, y + 1.5};
  return x + y;
});
// increment of a host loop that is left
const Add add_host_inc("changes_host_inc", [](Tensor x) {
  int i;
  for (i = 0; i < 4; ++i) {
    if (x < i) break;
  }
  return x + i;
});
const Add add_host_cond("changes_host_cond", [](Tensor x) {
  int k = 5;
  while (k-- > 0) {
    if (x < k) break;
    x = x * 0.5;
  }
  return x + k;
});
const Add add_host_do("changes_host_do", [](Tensor x) {
  int k = 5;
  do {
    if (x > 3.0) break;
    x = x + 1.0;
  } while (--k > 0);
  return x + k;
});
// mutable lambda by copy
const Add add_algos("changes_algos", [](Tensor x) {
  std::vector<Tensor> v{x, x * 2.0};
  if (x > 1.0) {
    std::for_each(v.begin(), v.end(), [](Tensor& t) { t = t * 2.0; });
  }
  return v[0] + v[1];
});
const Add add_ralgos("changes_ralgos", [](Tensor x) {
  std::vector<Tensor> v{x, x * 2.0};
  if (x > 1.0) {
    std::ranges::for_each(v, [](Tensor& t) { t = constant(2.0); });
  }
  return v[0] + v[1];
});
const Add add_applied("changes_applied", [](Tensor x) {
  std::tuple<Tensor, Tensor> v{x, x * 2.0};
  if (x > 1.0) {
    std::apply([](auto&... t) { ((t = constant(3.0)), ...); }, v);
  }
  return std::get<0>(v) + std::get<1>(v);
});
const Add add_bindings_in("changes_bindings_in", [](Tensor x) {
  std::map<int, Tensor> m{{1, x}, {2, x * 2.0}};
  if (x > 1.0) {
    for (auto& [k, v] : m) v = constant(1.0);
  }
  return m[1] + m[2];
});
// references returned
Tensor& first(std::vector<Tensor>& v) { return v[0]; }
const Add add_refret("changes_refret", [](Tensor x) {
  std::vector<Tensor> v{x, x * 2.0};
  if (x > 1.0) first(v) = x * 3.0;
  return v[0] + v[1];
});
struct Obj {
  Tensor a, b;
  bool w = true;
  Tensor& pick() { return w ? a : b; }
  Tensor call(Tensor x) {
    a = x;
    b = x * 2.0;
    if (x > 1.0) pick() = constant(7.0);
    return a + b;
  }
};
const Add add_memref("changes_memref", [](Tensor x) {
  Obj o;
  return o.call(x);
});
// lambda results
const Add add_lamlogic("changes_lamlogic", [](Tensor x) {
  auto f = [&](Tensor t) { return t > 0.0 && t < 5.0; };
  if (f(x)) x = x * 2.0;
  return x;
});
const Add add_lamint("changes_lamint", [](Tensor x) {
  int k = 0;
  auto f = [&] { return k + 1; };
  if (x > 1.0) k = 4;
  int m = f();
  return x * m;
});
const Add add_shared_decl("changes_shared_decl", [](Tensor x) {
  int a = 1, b = 0;
  std::vector<Tensor> v{x, x * 3.0};
  if (x > 1.0) ++b;
  return v[a] + b;
});
const Add add_scratch("changes_scratch", [](Tensor x) {
  Tensor t;
  if (x > 1.0) {
    t = x * 2.0;
    x = t + 1.0;
  }
  return x;
});
const Add add_scratch_loop("changes_scratch_loop", [](Tensor x) {
  Tensor t;
  while (x < 6.0) {
    t = x * 0.5;
    x = x + maximum(t, 1.0);
  }
  return x;
});
const Add add_swapped("changes_swapped", [](Tensor x) {
  Tensor y = x * 2.0;
  if (x > 1.0) std::swap(x, y);
  return x - y;
});
const Add add_exch("changes_exch", [](Tensor x) {
  Tensor y;
  if (x > 1.0) {
    y = std::exchange(x, x * 3.0);
  } else y = x;
  return x - y;
});
const Add add_comma("changes_comma", [](Tensor x) {
  Tensor y = 1.0;
  for (Tensor i = 0, j = 5; i < j; ++i, --j) y = y * x;
  return y;
});
const Add add_postdec("changes_postdec", [](Tensor x) {
  Tensor n = 3, y = x;
  while (n-- > 0) y = y + x;
  return y + cast(n, float32);
});
const Add add_condvar("changes_condvar", [](Tensor x) {
  if (Tensor t = x > 1.0) x = x * 2.0;
  else x = x + cast(t, float32);
  return x;
});
const Add add_initbind("changes_initbind", [](Tensor x) {
  if (auto [a, b] = two(x); a > b) x = a;
  else x = b;
  return x;
});
const Add add_asgcond("changes_asgcond", [](Tensor x) {
  Tensor y = x;
  if ((y = y + 1.0) > 2.0) x = y;
  return x + y;
});
const Add add_lvalsel("changes_lvalsel", [](Tensor x) {
  bool w = true;
  Tensor y = x;
  (w ? x : y) = x * 2.0;
  return x + y;
});
const Add add_nestfn("changes_nestfn", [](Tensor x) {
  struct L {
    static Tensor f(Tensor x) {
      if (x > 1.0) return x * 2.0;
      return x;
    }
  };
  return L::f(x) + 1.0;
});
const Add add_iife("changes_iife", [](Tensor x) {
  const Tensor y = [&] {
    if (x > 1.0) return x * 2.0;
    return x + 1.0;
  }();
  return y;
});
const Add add_initcap("changes_initcap", [](Tensor x) {
  auto f = [&r = x] { r = r * 2.0; };
  if (x > 1.0) f();
  return x;
});

}  // namespace
}  // namespace user_code
