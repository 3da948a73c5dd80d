// Programs with staged control flow, whose results check_control_flow.py compares with TensorFlow's. One line
// a program: its name, then "value v...", "gradient v...", "second v..." separated by "|", or "error
// <class>".
#include <cmath>
#include <cstdio>
#include <functional>

#include "rewind/function/control_flow.h"
#include "rewind/function/function.h"
#include "rewind/function/functional.h"
#include "rewind/function/while_loop.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;  // NOLINT: a program of its own

using Program = std::function<Tensor(const Tensor&)>;

Tensor to_float(const Tensor& t) { return cast(t, DType::kFloat32); }

void print_numbers(const char* what, const Tensor& t) {
  printf("|%s", what);
  const Tensor numbers = cast(t, DType::kFloat64);
  for (const double v : numbers.to_vector<double>()) printf(" %.9g", v);
}

// The value, the gradient of its sum, and the gradient of that gradient's weighted sum, all in one function.
void run(const char* name, std::vector<float> at, const Program& program) {
  printf("%s", name);
  try {
    auto f = function([&](Tensor x) {
      const Tensor weights = constant(std::vector<float>{1, 2, 3, 4});
      GradientTape outer;
      outer.watch(x);
      Tensor y, first;
      {
        GradientTape inner;
        inner.watch(x);
        y = to_float(program(x));
        first = inner.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::ZERO});
      }
      const Tensor second = outer.gradient(reduce_sum(first * weights), x,
                                           {.unconnected_gradients = UnconnectedGradients::ZERO});
      return std::vector<Tensor>{y, first, second};
    });
    const std::vector<Tensor> r = f(constant(at));
    print_numbers("value", r[0]);
    print_numbers("gradient", r[1]);
    print_numbers("second", r[2]);
  } catch (const Error& e) {
    printf("|error %d", int(e.code()));
    if (getenv("VERBOSE")) fprintf(stderr, "%s: %s\n", name, e.what());
  }
  printf("\n");
}

const std::vector<float> kX{0.5, -1.25, 2, 0.75};

void branches() {
  for (const float sign : {1.0f, -1.0f}) {
    const std::string which = sign > 0 ? "_true" : "_false";
    std::vector<float> at = kX;
    at[0] *= sign;
    run(("cond" + which).c_str(), at,
        [](const Tensor& x) { return cond(x[0] > 0.0, [&] { return x * x * x; }, [&] { return sin(x); }); });
    run(("cond_unused_input" + which).c_str(), at, [](const Tensor& x) {
      const Tensor a = exp(x), b = x * x;
      return cond(x[0] > 0.0, [&] { return a * a; }, [&] { return b * x; });
    });
    run(("cond_nested" + which).c_str(), at, [](const Tensor& x) {
      return cond(
          x[0] > 0.0,
          [&] { return cond(x[1] > 0.0, [&] { return x; }, [&] { return x * reduce_sum(x * x); }); },
          [&] { return cond(x[1] < 0.0, [&] { return exp(x * 0.5) * x; }, [&] { return x; }); });
    });
    run(("case" + which).c_str(), at, [](const Tensor& x) {
      return case_({{x[0] > 1.0, [&] { return x; }}, {x[0] > 0.0, [&] { return x * x; }}},
                   [&] { return cos(x); });
    });
  }
  for (int k = -1; k < 4; ++k) {
    std::vector<float> at = kX;
    at[0] = float(k);
    run(("switch_case_" + std::to_string(k)).c_str(), at, [](const Tensor& x) {
      return switch_case(cast(x[0], DType::kInt32), {[&] { return x * x; }, [&] { return x * x * x; }},
                         [&] { return tanh(x); });
    });
  }
}

void loops() {
  run("while_count", kX, [](const Tensor& x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 5; },
                                  [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * sin(x) + x); },
                                  std::tuple(0, x)));
  });
  run("while_data", kX, [](const Tensor& x) {
    return while_loop([](Tensor y) { return reduce_sum(y * y) < 1000.0; },
                      [](Tensor y) { return y * y + 1.0; }, x);
  });
  run("while_no_iteration", kX, [](const Tensor& x) {
    return while_loop([](Tensor y) { return reduce_sum(y * y) < 0.0; }, [](Tensor y) { return y * y; }, x);
  });
  run("while_maximum_iterations", kX, [](const Tensor& x) {
    return while_loop([](Tensor) { return constant(true); }, [](Tensor y) { return y * y * 0.5 + y; }, x,
                      {.maximum_iterations = 3});
  });
  run("while_swap", kX, [](const Tensor& x) {
    auto [i, a, b] =
        while_loop([](Tensor i, Tensor, Tensor) { return i < 3; },
                   [](Tensor i, Tensor a, Tensor b) { return std::tuple(i + 1, b * a, a + 1.0); },
                   std::tuple(0, x, x * x));
    return a * b;
  });
  run("while_invariant_argument", kX, [](const Tensor& x) {
    auto [i, a, b] = while_loop([](Tensor i, Tensor, Tensor) { return i < 3; },
                                [](Tensor i, Tensor a, Tensor b) { return std::tuple(i + 1, a * b, b); },
                                std::tuple(0, x, x * x));
    return a + b;
  });
  run("while_nested", kX, [](const Tensor& x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor y) {
                                    auto [j, z] = while_loop([&](Tensor j, Tensor) { return j <= i; },
                                                             [&](Tensor j, Tensor z) {
                                                               return std::tuple(j + 1, z * 0.5 + sin(z) * x);
                                                             },
                                                             std::tuple(0, y));
                                    return std::tuple(i + 1, z);
                                  },
                                  std::tuple(0, x)));
  });
  run("while_if_while", kX, [](const Tensor& x) {
    return std::get<1>(
        while_loop([](Tensor i, Tensor) { return i < 4; },
                   [&](Tensor i, Tensor y) {
                     const Tensor z = cond(
                         reduce_sum(y) > 2.0,
                         [&] {
                           return std::get<1>(while_loop(
                               [&](Tensor j, Tensor) { return j < i; },
                               [&](Tensor j, Tensor t) { return std::tuple(j + 1, t * 0.25 + cos(t) * x); },
                               std::tuple(0, y)));
                         },
                         [&] { return y * y + x; });
                     return std::tuple(i + 1, z);
                   },
                   std::tuple(0, x)));
  });
  run("while_tensor_array", kX, [](const Tensor& x) {
    auto [i, rows] =
        while_loop([](Tensor i, const TensorArray&) { return i < 3; },
                   [&](Tensor i, const TensorArray& rows) {
                     return std::tuple(i + 1, rows.write(i, x * x * to_float(i + 1)));
                   },
                   std::tuple(0, TensorArray(DType::kFloat32, {.size = 3, .element_shape = {4}})));
    return rows.stack();
  });
  run("while_matmul", kX, [](const Tensor& x) {
    const Tensor w = reshape(x, {2, 2}) * 0.5;
    auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 4; },
                             [&](Tensor i, Tensor y) { return std::tuple(i + 1, tanh(matmul(y, w)) + y); },
                             std::tuple(0, reshape(x, {2, 2})));
    return y;
  });
}

void functional() {
  auto mix = [](const Tensor& a, const Tensor& e) { return a * e + sin(e); };
  run("map_fn", kX, [](const Tensor& x) { return map_fn([](Tensor e) { return e * e * e; }, x); });
  run("map_fn_pair", kX, [](const Tensor& x) {
    auto [a, b] =
        map_fn([](Tensor p, Tensor q) { return std::tuple(p * q, p + sin(q)); }, std::tuple(x, x * x));
    return a + b;
  });
  run("map_fn_signature", kX, [](const Tensor& x) {
    return map_fn([](Tensor e) { return cast(e, DType::kInt32); }, x,
                  {.fn_output_signature = {{.dtype = DType::kInt32}}});
  });
  run("scan", kX, [&](const Tensor& x) { return scan(mix, x); });
  run("scan_initializer", kX, [&](const Tensor& x) { return scan(mix, x, 2.0); });
  run("scan_reverse", kX, [&](const Tensor& x) { return scan(mix, x, {.reverse = true}); });
  run("scan_initializer_reverse", kX, [&](const Tensor& x) { return scan(mix, x, 2.0, {.reverse = true}); });
  run("foldl", kX, [&](const Tensor& x) { return foldl(mix, x); });
  run("foldr", kX, [&](const Tensor& x) { return foldr(mix, x); });
  run("foldl_initializer", kX, [&](const Tensor& x) { return foldl(mix, x, 2.0); });
}

void state() {
  Variable v(constant({0.5, -0.25, 1.0, 2.0}));
  run("variable_read_in_loop", kX, [&](const Tensor& x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * v + sin(y)); },
                                  std::tuple(0, x)));
  });
  run("variable_updated_in_loop", kX, [&](const Tensor& x) {
    v.assign({0.5, -0.25, 1.0, 2.0});
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor y) {
                                    const Tensor z = y * v + sin(y);
                                    v.assign(v + 1.0);
                                    return std::tuple(i + 1, z);
                                  },
                                  std::tuple(0, x))) +
           v;
  });
  run("variable_updated_in_branch", kX, [&](const Tensor& x) {
    v.assign({0.5, -0.25, 1.0, 2.0});
    const Tensor y = cond(
        x[0] > 0.0,
        [&] {
          const Tensor before = v * x * x;
          v.assign_add(x);
          return before * v;
        },
        [&] { return x; });
    return y + v;
  });
}

void errors() {
  run("error_branch_dtypes", kX, [](const Tensor& x) {
    return cond(x[0] > 0.0, [&] { return x; }, [] { return constant({1, 2, 3, 4}); });
  });
  run("error_branch_counts", kX, [](const Tensor& x) {
    return cond(
        x[0] > 0.0, [&] { return std::vector<Tensor>{x}; }, [&] { return std::vector<Tensor>{x, x}; })[0];
  });
  run("error_loop_shape", kX, [](const Tensor& x) {
    return while_loop([](Tensor y) { return reduce_sum(y) < 9.0; },
                      [](Tensor y) { return concat({y, y}, 0); }, x);
  });
  run("error_loop_dtype", kX, [](const Tensor& x) {
    return while_loop([](Tensor y) { return reduce_sum(to_float(y)) < 9.0; },
                      [](Tensor y) { return cast(y, DType::kInt32); }, x);
  });
  run("error_invariant", kX, [](const Tensor& x) {
    return while_loop([](Tensor y) { return reduce_sum(y) < 9.0; }, [](Tensor y) { return y * 2.0; }, x,
                      {.shape_invariants = {{3}}});
  });
  run("error_case_without_default", kX, [](const Tensor& x) {
    return case_({{x[0] > 5.0, [&] { return x; }}, {x[0] > 6.0, [&] { return x; }}});
  });
  run("error_map_fn_scalar", kX, [](const Tensor& x) { return map_fn([](Tensor e) { return e; }, x[0]); });
  run("error_map_fn_sizes", kX, [](const Tensor& x) {
    return map_fn([](Tensor a, Tensor) { return a; }, std::tuple(x, constant({1.0, 2.0})))[0];
  });
}

}  // namespace

int main() {
  branches();
  loops();
  functional();
  state();
  errors();
}
