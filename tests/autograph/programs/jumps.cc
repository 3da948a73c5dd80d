// Lambdas in other hands, guards whose destructors run at staged jumps, loops of the host that are left,
// switches.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

// std::function, lambdas in containers
const Add add_stdf("jumps_stdf", [](Tensor x) {
  std::function<void()> f;
  f = [&] { x = constant(7.0); };
  if (x > 1.0) f();
  return x;
});
const Add add_stdf_bool("jumps_stdf_bool", [](Tensor x) {
  std::function<bool(double)> pos = [](double v) { return v > 0; };
  if (x > 1.0) x = pos(3) ? x * 2.0 : x;
  return x;
});
const Add add_fvec("jumps_fvec", [](Tensor x) {
  Tensor y = x;
  std::vector<std::function<void()>> fs;
  fs.push_back([&] { y = constant(2.0); });
  fs.push_back([&] { x = x + y; });
  for (auto& f : fs)
    if (x > 1.0) f();
  return x + y;
});
const Add add_passed("jumps_passed", [](Tensor x) {
  const auto twice = [](auto&& f) {
    f();
    f();
  };
  if (x > 1.0) twice([&] { x = x * 0.5; });
  return x;
});
const Add add_rec("jumps_rec", [](Tensor x) {
  std::function<Tensor(Tensor, int)> f = [&](Tensor t, int n) -> Tensor {
    if (n == 0) return t;
    return f(t * 0.5, n - 1);
  };
  return f(x, 3);
});
// RAII guards
struct Adds {
  Tensor& t;
  ~Adds() { t = t + 1.0; }
};
struct Adds2 {
  Tensor& t;
  explicit Adds2(Tensor& to) : t(to) {}
  ~Adds2() { t = t + 1.0; }
};
const Add add_guard_if("jumps_guard_if", [](Tensor x) {
  if (x > 1.0) {
    Adds g{x};
    x = x * 2.0;
  }
  return x;
});
const Add add_guard_loop("jumps_guard_loop", [](Tensor x) {
  Tensor n = 0.0;
  for (Tensor i : rw::range(4)) {
    Adds2 g(n);
    if (x > 3.0) continue;
    x = x + 1.0;
  }
  return x * 10.0 + n;
});
const Add add_guard_break("jumps_guard_break", [](Tensor x) {
  Tensor n = 0.0;
  for (Tensor i : rw::range(4)) {
    Adds2 g(n);
    if (x > 3.0) break;
    Adds2 h(n);
    x = x + 1.0;
  }
  return x * 10.0 + n;
});
const Add add_guard_host("jumps_guard_host", [](Tensor x) {
  Tensor n = 0.0;
  for (int i = 0; i < 4; ++i) {
    Adds2 g(n);
    if (x > 3.0) continue;
    Adds2 h(n);
    x = x + 1.0;
  }
  return x * 10.0 + n;
});
const Add add_guard_ret("jumps_guard_ret", [](Tensor x) {
  Tensor n = 0.0;
  const auto f = [&](Tensor t) {
    Adds2 g(n);
    if (t > 3.0) return t;
    Adds2 h(n);
    return t + 1.0;
  };
  x = f(x);
  return x * 10.0 + n;
});
const Add add_guard_while("jumps_guard_while", [](Tensor x) {
  Tensor n = 0.0, k = 3;
  while (k > 0) {
    Adds2 g(n);
    --k;
    if (x > 3.0) continue;
    Adds2 h(n);
    x = x + 1.0;
    if (x > 2.5) break;
    n = n + 0.5;
  }
  return x * 10.0 + n;
});
// host loops and staged jumps
const Add add_push_cont("jumps_push_cont", [](Tensor x) {
  int k = 0;
  for (int i = 0; i < 4; ++i) {
    if (x > i) continue;
    ++k;
    x = x + 0.5;
  }
  return x + k;
});
const Add add_while_host("jumps_while_host", [](Tensor x) {
  int i = 0;
  while (i < 4) {
    if (x > 2.0) break;
    ++i;
    x = x + 0.5;
  }
  return x * 10.0 + i;
});
const Add add_do_cont("jumps_do_cont", [](Tensor x) {
  int i = 0;
  do {
    ++i;
    if (x > 2.0) continue;
    x = x + 0.5;
  } while (i < 4);
  return x * 10.0 + i;
});
const Add add_do_cont_t("jumps_do_cont_t", [](Tensor x) {
  Tensor i = 0;
  do {
    ++i;
    if (x > 2.0) continue;
    x = x + 0.5;
  } while (i < 4 && x < 20.0);
  return x * 10.0 + cast(i, float32);
});
const Add add_forever_ret("jumps_forever_ret", [](Tensor x) {
  for (;;) {
    x = x * 2.0 + 1.0;
    if (x > 20.0) return x;
    if (x < -50.0) break;
  }
  return x * 0.5;
});
const Add add_nested_ret("jumps_nested_ret", [](Tensor x) {
  for (Tensor i : rw::range(3)) {
    for (int k = 0; k < 3; ++k) {
      for (Tensor j = 0; j < 2; ++j) {
        x = x + 0.5;
        if (x > 4.0) return x * 10.0;
      }
      if (x > 3.5) break;
    }
  }
  return x;
});
const Add add_early_void("jumps_early_void", [](Tensor x) {
  const auto f = [&](Tensor& t) {
    if (t > 2.0) return;
    t = t + 1.0;
    if (t > 2.0) return;
    t = t * 3.0;
  };
  f(x);
  return x;
});
const Add add_cond_break_asg("jumps_cond_break_asg", [](Tensor x) {
  Tensor y = x;
  Tensor n = 5.0;
  while ((n = n - 1.0) > 0.0) {
    if (y > 4.0) break;
    y = y + n;
  }
  return y * 10.0 + n;
});
const Add add_cond_asg_local("jumps_cond_asg_local", [](Tensor x) {
  int k = 4;
  while (--k > 0) {
    x = x + 1.0;
    if (x > 3.0) --k;
  }
  return x * 10.0 + k;
});
const Add add_for_outer("jumps_for_outer", [](Tensor x) {
  int i = 0;
  for (; i < 5; i += 2) {
    x = x + 1.0;
    if (x > 4.0) break;
  }
  return x * 10.0 + i;
});
const Add add_for_two("jumps_for_two", [](Tensor x) {
  int i, j;
  for (i = 0, j = 10; i < j; ++i, --j) {
    if (x + i > 4.0) break;
  }
  return x + 10.0 * i + 100.0 * j;
});
const Add add_for_ret_member("jumps_for_ret_member", [](Tensor x) {
  struct S {
    Tensor n = 0.0;
    Tensor run(Tensor x) {
      for (n = 0.0; n < 3.0; n = n + 1.0)
        if (x > n) {
          x = x - 0.25;
        } else return x * 2.0;
      return x;
    }
  } s;
  Tensor y = s.run(x);
  return y * 10.0 + s.n;
});
// switch
const Add add_sw1("jumps_sw1", [](Tensor x) {
  Tensor n = cast(x, int32);
  switch (int64_t(n)) {
    case 1: x = x + 1.0; [[fallthrough]];
    case 5: x = x * 2.0; break;
    default: x = x * 0.5;
    case 9: x = x - 1.0;
  }
  return x;
});
const Add add_sw2("jumps_sw2", [](Tensor x) {
  for (Tensor i : rw::range(5)) {
    switch (int64_t(i)) {
      case 0: continue;
      case 1: {
        x = x + 1.0;
        break;
      }
      case 3:
        if (x > 4.0) break;
        x = x + 10.0;
      default: x = x + 0.125;
    }
    x = x * 1.5;
  }
  return x;
});
const Add add_sw3("jumps_sw3", [](Tensor x) {
  switch (int64_t(cast(x, int32))) {
    case 0: return x;
    case 1:
    case 5: return x * 2.0;
  }
  return x * 3.0;
});
const Add add_sw4("jumps_sw4", [](Tensor x) {
  int k = 0;
  if (x > 1.0) k = 2;
  switch (k) {
    case 0: x = x + 1.0; break;
    case 2: x = x * 2.0;
  }
  return x;
});

}  // namespace
}  // namespace user_code
