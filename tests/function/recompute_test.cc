// recompute_grad inside functions, around them, in loops and branches: the same bits, effects once, and
// programs with smaller arenas.
#include <gtest/gtest.h>

#include "rewind/compiler/compiled_graph.h"
#include "rewind/graph/graph_def.h"
#include "rewind/rewind.h"
#include "rewind/tensor/tensor_impl.h"
#include "tests/support/floats.h"

namespace rw {
namespace {

using test::floats;
Tensor values(const Shape& shape, int64_t seed) {
  return random::stateless_normal(shape, constant(std::vector<int64_t>{seed, 7}));
}
using Results = std::vector<std::vector<float>>;

struct Block {
  Variable w{values({8}, 2)};
  Variable count{zeros({}), {.trainable = false}};
  Tensor beside = values({8}, 3);
  bool random = true;

  Tensor operator()(const Tensor& x) const {
    count.assign_add(1.0f);
    Tensor y = tanh(x * w) + sin(x * beside) * w.value() * count;
    if (random) y = nn::dropout(y, 0.5) + random::normal({4, 8}) * x;
    return y;
  }
  template <class F>
  Tensor loss(const F& block, const Tensor& x) const {
    Tensor h = x;
    for (int i = 0; i < 3; ++i) h = block(h) + h * beside;
    return reduce_sum(h * w.value() * h);
  }
};

// A tape in the function.
template <class F>
Results tape_inside(const Block& b, const F& block) {
  random::set_seed(5);
  b.count.assign(0.0f);
  auto step = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(std::vector<Tensor>{x, b.beside});
    const Tensor loss = b.loss(block, x);
    const auto g = tape.gradient(loss, {x, b.beside, b.w.handle()});
    return std::vector<Tensor>{loss, g[0], g[1], g[2]};
  });
  Results all;
  for (int i = 0; i < 2; ++i)
    for (const Tensor& t : step(values({4, 8}, 1))) all.push_back(floats(t));
  all.push_back(floats(b.count.value()));
  return all;
}

// A tape around it.
template <class F>
Results tape_outside(const Block& b, const F& block) {
  random::set_seed(5);
  b.count.assign(0.0f);
  auto f = function([&](const Tensor& x) { return b.loss(block, x); });
  Results all;
  for (int i = 0; i < 2; ++i) {
    const Tensor x = values({4, 8}, 1);
    GradientTape tape;
    tape.watch(std::vector<Tensor>{x, b.beside});
    const Tensor loss = f(x);
    const auto g = tape.gradient(loss, {x, b.beside, b.w.handle()});
    all.push_back(floats(loss));
    for (const Gradient& one : g) all.push_back(floats(one));
  }
  all.push_back(floats(b.count.value()));
  return all;
}

TEST(RecomputeInFunctions, TapeInside) {
  const Block b;
  EXPECT_EQ(tape_inside(b, b), tape_inside(b, recompute_grad(b)));
}

TEST(RecomputeInFunctions, TapeOutside) {
  const Block b;
  EXPECT_EQ(tape_outside(b, b), tape_outside(b, recompute_grad(b)));
}

TEST(RecomputeInFunctions, Nested) {
  const Block b;
  auto twice = [&](const Tensor& x) { return b(b(x)); };
  auto inner = recompute_grad(b);
  auto nested = recompute_grad([&](const Tensor& x) { return inner(inner(x)); });
  EXPECT_EQ(tape_inside(b, twice), tape_inside(b, nested));
  EXPECT_EQ(tape_outside(b, twice), tape_outside(b, nested));
}

TEST(RecomputeInFunctions, AroundAFunction) {
  Block b;
  auto f = function([&](const Tensor& x) { return b(x); });
  auto wrapped = recompute_grad(f);
  auto run = [&](auto block) {
    random::set_seed(5);
    b.count.assign(0.0f);
    const Tensor x = values({4, 8}, 1);
    GradientTape tape;
    tape.watch(std::vector<Tensor>{x, b.beside});
    const Tensor loss = b.loss(block, x);
    const auto g = tape.gradient(loss, {x, b.beside, b.w.handle()});
    return Results{floats(loss), floats(g[0]), floats(g[1]), floats(g[2]), floats(b.count.value())};
  };
  b.random = false;
  EXPECT_EQ(run(f), run(wrapped));
  auto pure = function([&](const Tensor& x) { return tanh(x) * sin(x) + x * b.beside; });
  EXPECT_EQ(run(pure), run(recompute_grad(pure)));
  EXPECT_EQ(run(pure), run(recompute_grad([&](const Tensor& x) { return pure(x) * 1.0f; })));
}

struct RecomputedModel : Module {
  Variable w{values({8, 8}, 1)};
  Tensor call(const Tensor& x) { return tanh(matmul(tanh(matmul(x, w)), w)); }
  RW_TRACK(w)
};

TEST(RecomputeInFunctions, AMethodInBoth) {
  RecomputedModel model;
  auto run = [&](auto call) {
    const Tensor x = values({4, 8}, 3);
    GradientTape tape;
    return floats(tape.gradient(call(x), model.w));
  };
  auto plain = [&](const Tensor& x) { return model.call(x); };
  EXPECT_EQ(run(plain), run(function(recompute_grad(plain))));
  EXPECT_EQ(run(plain), run(recompute_grad(function(plain))));
  auto method = function(recompute_grad(&RecomputedModel::call));
  EXPECT_EQ(run(plain), run([&](const Tensor& x) { return method(model, x); }));
}

TEST(RecomputeInFunctions, EffectsHappenOnce) {
  const Variable calls(zeros({}), {.trainable = false});
  auto step = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = recompute_grad([&](const Tensor& t) {
      calls.assign_add(1.0f);
      print("square", t * t);
      return t * t * t;
    })(x);
    return tape.gradient(y, x).tensor();
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(step(constant(2.0f)).item<float>(), 12);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "square 4\n");
  EXPECT_EQ(calls.value().item<float>(), 1);
}

// Blocks inside loops and branches; loops and branches inside blocks.
TEST(RecomputeInFunctions, InLoopsAndBranches) {
  const Block b;
  auto looped = [&](const auto& block) {
    return [&](const Tensor& x) {
      const auto [i, y] = while_loop([](Tensor i, Tensor) { return i < 3; },
                                     [&](Tensor i, Tensor y) { return std::tuple{i + 1, block(y)}; },
                                     std::tuple{constant(0), x});
      return cond(reduce_sum(y) > 1000.0, [&] { return y; }, [&] { return block(y); });
    };
  };
  auto inner = recompute_grad(b);
  EXPECT_EQ(tape_inside(b, looped(b)), tape_inside(b, looped(inner)));
  EXPECT_EQ(tape_outside(b, looped(b)), tape_outside(b, looped(inner)));
  auto mapped = [&](const auto& block) {
    return [&](const Tensor& x) {
      return reshape(map_fn([&](Tensor row) { return block(row * ones({4, 1})); }, x), {16, 8}) + 0.0f;
    };
  };
  Block plain;
  plain.random = false;
  auto sum_rows = [&](const auto& f) {
    return [&](const Tensor& x) { return reduce_sum(reshape(f(x), {4, 4, 8}), 0); };
  };
  EXPECT_EQ(tape_inside(plain, sum_rows(mapped(plain))),
            tape_inside(plain, sum_rows(mapped(recompute_grad(plain)))));
}

TEST(RecomputeInFunctions, LoopsAndBranchesInside) {
  Block b;
  auto looped = [&](const Tensor& x) {
    const auto [i, y] =
        while_loop([](Tensor i, Tensor) { return i < 3; },
                   [&](Tensor i, Tensor y) { return std::tuple{i + 1, b(y)}; }, std::tuple{constant(0), x});
    return cond(reduce_sum(y) > 1000.0, [&] { return y * b.w; }, [&] { return b(y) * y; });
  };
  EXPECT_EQ(tape_inside(b, looped), tape_inside(b, recompute_grad(looped)));
  EXPECT_EQ(tape_outside(b, looped), tape_outside(b, recompute_grad(looped)));
  auto pure = [&](const Tensor& x) {
    const auto [i, y] =
        while_loop([](Tensor i, Tensor) { return i < 3; },
                   [&](Tensor i, Tensor y) { return std::tuple{i + 1, tanh(y * b.beside) + x}; },
                   std::tuple{constant(0), x});
    return cond(reduce_sum(y) > 0.0, [&] { return y * y; }, [&] { return sin(y); });
  };
  EXPECT_EQ(tape_inside(b, pure), tape_inside(b, recompute_grad(pure)));
  EXPECT_EQ(tape_outside(b, pure), tape_outside(b, recompute_grad(pure)));
}

TEST(RecomputeInFunctions, HigherDerivatives) {
  auto cube = recompute_grad([](const Tensor& t) { return t * t * t * t; });
  auto inside = function([&](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner({.persistent = true});
    inner.watch(x);
    const Tensor first = inner.gradient(cube(x), x);
    return std::vector<Tensor>{first, outer.gradient(first, x)};
  });
  const auto got = inside(constant(2.0f));
  EXPECT_EQ(got[0].item<float>(), 32);
  EXPECT_EQ(got[1].item<float>(), 48);

  auto f = function([&](const Tensor& x) { return cube(x); });
  const Tensor x = constant(2.0f);
  GradientTape third, second, first;
  for (GradientTape* t : {&third, &second, &first}) t->watch(x);
  const Tensor y = f(x);
  const Tensor a = first.gradient(y, x);
  const Tensor b = second.gradient(a, x);
  const Tensor c = third.gradient(b, x);
  EXPECT_EQ(a.item<float>(), 32);
  EXPECT_EQ(b.item<float>(), 48);
  EXPECT_EQ(c.item<float>(), 48);
}

TEST(RecomputeInFunctions, ATapeInside) {
  auto slope = recompute_grad([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(recompute_grad([](const Tensor& t) { return t * t * t; })(x), x).tensor();
  });
  auto f = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = slope(x);
    return std::vector<Tensor>{y, tape.gradient(y, x)};
  });
  const auto got = f(constant(5.0f));
  EXPECT_EQ(got[0].item<float>(), 75);
  EXPECT_EQ(got[1].item<float>(), 30);
}

TEST(RecomputeInFunctions, FunctionsCalledInside) {
  const Block b;
  auto f = function([&](const Tensor& x) { return b(x); });
  auto block = [&](const Tensor& x) { return f(f(x)) * x; };
  EXPECT_EQ(tape_inside(b, block), tape_inside(b, recompute_grad(block)));
  EXPECT_EQ(tape_outside(b, block), tape_outside(b, recompute_grad(block)));
}

TEST(RecomputeInFunctions, CustomGradientsInside) {
  const Block b;
  auto odd = custom_gradient([](const Tensor& x) {
    const Tensor kept = x * random::uniform({4, 8});
    return with_gradient(sin(x), [=](const Tensor& dy) { return dy * kept; });
  });
  auto block = [&](const Tensor& x) { return tanh(Tensor(odd(x * b.w))); };
  EXPECT_EQ(tape_inside(b, block), tape_inside(b, recompute_grad(block)));
  EXPECT_EQ(tape_outside(b, block), tape_outside(b, recompute_grad(block)));
}

TEST(RecomputeInFunctions, WithoutATapeItIsThePlainFunction) {
  const Block b;
  auto plain = function([&](const Tensor& x) { return tanh(x * b.w) * x; });
  auto wrapped = function(recompute_grad([&](const Tensor& x) { return tanh(x * b.w) * x; }));
  EXPECT_EQ(floats(plain(b.beside)), floats(wrapped(b.beside)));
}

TEST(RecomputeInFunctions, SmallWatchedTensors) {
  // Small constants are copied into graphs, but not those that a tape follows.
  const Tensor small = constant(3.0f);
  auto step = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(small);
    const Tensor y = recompute_grad([&](const Tensor& t) {
      return cond(reduce_sum(t) > 0.0, [&] { return t * small * small; }, [&] { return t; });
    })(x);
    return tape.gradient(y, small).tensor();
  });
  EXPECT_EQ(step(constant(2.0f)).item<float>(), 12);
}

TEST(RecomputeInFunctions, UnknownSizes) {
  const Variable w(values({8}, 2));
  auto f = function(
      [&](const Tensor& x) { return recompute_grad([&](const Tensor& t) { return tanh(t * w) * t; })(x); },
      {.input_signature = std::vector<TensorSpec>{{{-1, 8}, float32}}});
  for (const int64_t rows : {3, 5}) {
    const Tensor x = values({rows, 8}, 1);
    auto run = [&](auto g) {
      GradientTape tape;
      tape.watch(x);
      const auto grads = tape.gradient(g(x), {x, w.handle()});
      return Results{floats(grads[0]), floats(grads[1])};
    };
    EXPECT_EQ(run([&](const Tensor& t) { return tanh(t * w) * t; }), run(f));
  }
}

TEST(RecomputeInFunctions, ExportsTensorFlowsOpsOnly) {
  auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = recompute_grad([](const Tensor& t) { return tanh(tanh(t)); })(x);
    return tape.gradient(y, x).tensor();
  });
  const std::string text = f.get_concrete_function(constant(1.0f))->graph().as_graph_def();
  EXPECT_EQ(text.find("_Recompute"), std::string::npos);
  EXPECT_NE(text.find("Tanh"), std::string::npos);
}

size_t arena_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  const CompiledGraph compiled(std::make_shared<Graph>(graph));
  std::vector<const Value*> list;
  for (const Tensor& t : inputs) list.push_back(t.impl());
  return compiled.program_for(list)->arena_bytes;
}

// Blocks of a matrix product and a few elementwise ops.
template <class Wrap>
size_t arena_of_chain(int blocks, Wrap wrap, bool dropout) {
  const Variable w(values({64, 64}, 1));
  auto block = wrap([&](Tensor x) {
    for (int i = 0; i < 4; ++i) {
      x = tanh(matmul(x, w));
      if (dropout) x = nn::dropout(x, 0.5);
    }
    return x;
  });
  auto step = function([&](const Tensor& x) {
    GradientTape tape;
    Tensor h = x;
    for (int i = 0; i < blocks; ++i) h = block(h);
    return tape.gradient(reduce_sum(h * h), w).tensor();
  });
  const Tensor x = values({256, 64}, 2);
  const auto concrete = step.get_concrete_function(x);
  std::vector<Tensor> inputs{x};
  for (const Tensor& t : concrete->captured_inputs()) inputs.push_back(t);
  return arena_of(concrete->graph().ir(), inputs);
}

TEST(RecomputeInFunctions, ArenasAreSmaller) {
  const size_t buffer = 256 * 64 * sizeof(float);
  auto as_is = [](auto f) { return f; };
  auto recomputed = [](auto f) { return recompute_grad(f); };
  for (const bool dropout : {false, true}) {
    const size_t plain = arena_of_chain(10, as_is, dropout);
    const size_t less = arena_of_chain(10, recomputed, dropout);
    EXPECT_GE(plain / buffer, size_t(dropout ? 80 : 40));  // every activation, every mask
    EXPECT_LE(less / buffer, size_t(10 + (dropout ? 16 : 8))) << "with dropout " << dropout;
  }
}

}  // namespace
}  // namespace rw
