// Tapes, datasets, vectorized_map, ranges, loop options, aliases.
#include "tests/autograph/programs/program.h"

namespace user_code {
namespace {

struct Two {
  Tensor a, b;
  RW_STATE(a, b)
};
// vectorized_map and tapes
const Add add_vmap("loops_vmap", [](Tensor x) {
  const Tensor xs = rw::stack({x, x - 1.0, x * 2.0});
  const auto settle = [](Tensor t) {
    Tensor n = 0.0;
    while (t > 1.0) {
      t = t * 0.5;
      n = n + 1.0;
    }
    if (n > 1.0) t = t + n;
    for (int i = 0; i < 3; ++i) {
      if (t > 2.0) break;
      t = t + 0.5;
    }
    return t;
  };
#ifdef AUTOGRAPH_CONVERTED
  const Tensor r = rw::vectorized_map(settle, xs);
#else
  const Tensor r = rw::stack({settle(xs(0)), settle(xs(1)), settle(xs(2))});
#endif
  return rw::reduce_sum(r);
});
const Add add_tape1("loops_tape1", [](Tensor x) {
  rw::GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  if (x > 1.0) y = y * x;
  Tensor g = tape.gradient(y, x).tensor();
  return g + y;
});
const Add add_tape2("loops_tape2", [](Tensor x) {
  for (Tensor i : rw::range(3)) {
    rw::GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    if (x > 0.5) y = x * x;
    else y = x * 3.0;
    x = x - 0.1 * tape.gradient(y, x).tensor();
  }
  return x;
});
const Add add_tape3("loops_tape3", [](Tensor x) {
  Tensor g = 0.0;
  {
    rw::GradientTape outer;
    outer.watch(x);
    Tensor y;
    {
      rw::GradientTape inner;
      inner.watch(x);
      Tensor z = x;
      while (z < 4.0) z = z * z + 1.0;
      y = inner.gradient(z, x).tensor();
    }
    g = outer.gradient(y, x, {.unconnected_gradients = rw::UnconnectedGradients::ZERO}).tensor();
  }
  return g + x;
});
const Add add_tape_persist("loops_tape_persist", [](Tensor x) {
  rw::GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  Tensor g;
  if (x > 1.0) g = tape.gradient(y, x).tensor();
  else g = tape.gradient(y, x).tensor() * 2.0;
  return g;
});
const Add add_tape_one("loops_tape_one", [](Tensor x) {
  rw::GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  Tensor g = 0.0;
  if (x > 1.0) g = tape.gradient(y, x).tensor();
  return g;
});
// datasets
const Add add_ds("loops_ds", [](Tensor x) {
  static auto data = rw::data::Dataset::range(5);
  Tensor s = 0.0;
  for (Tensor i : data) {
    if (i == 1) continue;
    s = s + x * cast(i, rw::float32);
    if (s > 20.0) break;
  }
  return s;
});
const Add add_ds2("loops_ds2", [](Tensor x) {
  static auto data = rw::data::Dataset::from_tensor_slices(constant({1.0, 2.0, 3.0, 4.0})).batch(2);
  Tensor s = 0.0;
  for (Tensor b : data) {
    for (Tensor v : b) {
      if (v > 3.0) return s;
      s = s + x * v;
    }
  }
  return s * 2.0;
});
const Add add_ranges("loops_ranges", [](Tensor x) {
  Tensor s = 0.0;
  for (const Tensor& r : rw::stack({x, x * 2.0})) s = s + r;
  for (auto&& r : rw::stack({x, x * 2.0})) { s = s + r * r; }
  for (const auto r : rw::reshape(rw::stack({x, x * 2.0}), {2, 1})) s = s + r(0);
  return s;
});
const Add add_range_mod("loops_range_mod", [](Tensor x) {
  Tensor s = 0.0;
  for (Tensor r : rw::stack({x, x * 2.0})) {
    r = r * 3.0;
    if (r > 2.0) r = r - 1.0;
    s = s + r;
  }
  return s;
});
const Add add_rowsret("loops_rowsret", [](Tensor x) {
  Tensor v = rw::stack({x, x * 2.0, x * 3.0});
  for (Tensor r : v)
    if (r > 3.0) return r;
  return x * 0.0 - 1.0;
});
const Add add_range_self("loops_range_self", [](Tensor x) {
  Tensor v = rw::stack({x, x * 2.0}), s = 0.0;
  for (Tensor r : v) {
    v = v * 2.0;
    s = s + r;
  }
  return s + rw::reduce_sum(v);
});
// Loops of the host that go on for long, or never end where they are not reached.
const Add add_unreached("loops_unreached", [](Tensor x) {
  double k = 1;
  int n = 0;
  if (x > 100.0) {
    while (k != 0.3) {
      x = x * 2.0;
      k += 1;
    }
    do ++n;
    while (n != -1);
  }
  return x + k + n;
});
const Add add_long("loops_long", [](Tensor x) {
  int n = 0, k = 0;
  while (n < 12000) {
    ++n;
    if (n % 4000 == 0) x = x * 0.5;
  }
  do k += 2;
  while (k < 24000);
  if (x > 1.0) n = k - n;
  return x + n + k;
});
// set_loop_options
const Add add_grow("loops_grow", [](Tensor x) {
  Tensor v = rw::reshape(x, {1});
  for (Tensor i : rw::range(4)) {
    rw::autograph::set_loop_options({.shape_invariants = {{v, rw::Shape({-1})}}});
    if (x > 0.0) { v = rw::concat({v, rw::expand_dims(v(-1), 0) * 0.5}, 0); }
  }
  return rw::reduce_sum(v);
});
const Add add_maxit("loops_maxit", [](Tensor x) {
  Tensor k = 0.0;
  while (k < 3.0) {
    rw::autograph::set_loop_options({.parallel_iterations = 1});
    k = k + 1.0;
    x = x + k;
  }
  return x;
});
// aliasing by reference
void both(Tensor& a, Tensor& b) {
  if (a > 1.0) {
    a = a * 2.0;
    b = b + 1.0;
  } else b = a;
}
const Add add_alias("loops_alias", [](Tensor x) {
  both(x, x);
  Tensor y = x;
  both(x, y);
  Tensor& r = y;
  if (x > 2.0) {
    r = x;
    y = y + r;
  }
  while (r < 5.0) {
    y = y + 1.5;
    r = r + 0.5;
  }
  return x + y + r;
});
const Add add_refmember("loops_refmember", [](Tensor x) {
  struct R {
    Tensor& t;
    void bump() { t = t + 1.0; }
  };
  R r{x};
  if (x > 1.0) r.t = r.t * 2.0;
  return x;
});
const Add add_swapidiom("loops_swapidiom", [](Tensor x) {
  Tensor a = 0.0, b = 1.0;
  while (b < 20.0) {
    Tensor t = a + b;
    a = b;
    b = t + rw::abs(x);
  }
  return a * 10.0 + b;
});
const Add add_mv("loops_mv", [](Tensor x) {
  Tensor y = x * 2.0;
  std::vector<Tensor> v{x, y};
  if (x > 1.0) {
    v[0] = std::move(y);
    y = x;
  }
  v = std::vector<Tensor>{v[1], v[0]};
  if (v[0] > 3.0) {
    auto w = std::move(v);
    v = {w[1], w[0]};
  }
  return v[0] + v[1] * 10.0 + y;
});
const Add add_two("loops_two", [](Tensor x) {
  Two t{x, x * 2.0};
  auto f = [](Two& t) {
    if (t.a > 1.0) std::swap(t.a, t.b);
  };
  f(t);
  const Two u = t.a > 3.0 ? t : Two{x, x};
  return t.a + t.b * 10.0 + u.a;
});
const Add add_ifinit("loops_ifinit", [](Tensor x) {
  if (int k = 3; x > 1.0) x = x * k;
  else if (Tensor t = x * x; t > 1.0) x = t;
  else { x = t + k; }
  return x;
});
const Add add_elifret("loops_elifret", [](Tensor x) {
  if (x > 6.0) {
    return x;
  } else if (x > 4.0) return x * 2.0;
  else if (x > 1.0) {
    x = x * 3.0;
  } else {
    if (x < 0.0) return x * 5.0;
    x = x + 1.0;
  }
  x = x + 0.5;
  return x;
});
const Add add_dangling("loops_dangling", [](Tensor x) {
  if (x > 1.0)
    if (x > 4.0) x = x * 2.0;
    else x = x * 3.0;
  return x;
});
const Add add_emptyb("loops_emptyb", [](Tensor x) {
  if (x > 1.0) {
  } else x = x * 2.0;
  if (x > 2.0)
    ;
  while (x > 20.0) x = x * 0.5;
  for (Tensor i = 0; i < 3; ++i);
  return x;
});
const Add add_hosttrue("loops_hosttrue", [](Tensor x) {
  const bool training = true;
  if (training && x > 1.0) x = x * 2.0;
  if (!training || x > 3.0) x = x + 1.0;
  if (training) {
    if (x > 0.0) return x;
  }
  return x * 2.0;
});
const Add add_label_out("loops_label_out", [](Tensor x) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (i == 1) goto done;
      if (x > 2.0) x = x - 0.25;
      else x = x + 0.5;
    }
  }
done:
  return x;
});
const Add add_trylate("loops_trylate", [](Tensor x) {
  try {
    if (x > 1.0) x = x * 2.0;
    else x = x - 1.0;
    while (x > 5.0) x = x * 0.5;
  } catch (const std::runtime_error&) { x = x * 0.0; }
  return x;
});
const Add add_printing("loops_printing", [](Tensor x) {
  std::ostringstream s;
  s << "start";
  if (x > 1.0) {
    s << "x";
    x = x * 2.0;
  }
  return x;
});
const Add add_nullt("loops_nullt", [](Tensor x) {
  Tensor best;
  bool any = false;
  for (Tensor r : rw::stack({x, x * 2.0, x - 3.0})) {
    if (r > 0.0) { any = true; }
  }
  return any ? x : x * 2.0;
});
const Add add_strs("loops_strs", [](Tensor x) {
  Tensor s = constant("a");
  if (x > 1.0) s = constant("b");
  return cast(rw::equal(s, "b"), rw::float32) * x;
});
const Add add_bits("loops_bits", [](Tensor x) {
  const auto a = x > 1.0, b = x < 4.0;
  Tensor c = a && b;
  Tensor d = rw::logical_or(a, b);
  if (c && d) x = x * 2.0;
  bool e = a && !b;
  return e ? x : x + cast(c, rw::float32);
});
const Add add_comma2("loops_comma2", [](Tensor x) {
  Tensor y = x;
  if (y = y * 2.0, y > 3.0) x = y;
  while (y = y * 0.5, y > 1.0) x = x + y;
  return x + y;
});
const Add add_recurse("loops_recurse", [](Tensor x) {
  struct F {
    static Tensor f(Tensor x, int depth) {
      if (depth == 0) return x;
      if (x > 1.0) return f(x * 0.5, depth - 1);
      return f(x + 1.0, depth - 1) * 2.0;
    }
  };
  return F::f(x, 4);
});

}  // namespace
}  // namespace user_code
