// recompute_grad and checkpointable outside functions: gradients with and without them are the same bits,
// effects happen once, and memory is saved.
#include "rewind/autodiff/recompute.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "rewind/rewind.h"
#include "tests/support/floats.h"

namespace rw {
namespace {

using test::floats;
Tensor values(const Shape& shape, int64_t seed) {
  return random::stateless_normal(shape, constant(std::vector<int64_t>{seed, 7}));
}

// The gradients of three blocks in a row, whose uses of w and of `beside` add up with uses outside.
template <class Block>
std::vector<std::vector<float>> gradients_through(const Block& block, const Variable& w,
                                                  const Tensor& beside) {
  random::set_seed(5);
  const Tensor x = values({4, 8}, 1);
  GradientTape tape;
  tape.watch(std::vector<Tensor>{x, beside});
  Tensor h = x;
  for (int i = 0; i < 3; ++i) h = block(h) + h * beside;
  const Tensor loss = reduce_sum(h * w.value() * h);
  const auto grads = tape.gradient(loss, {x, beside, w.handle()});
  return {{loss.item<float>()}, floats(grads[0]), floats(grads[1]), floats(grads[2])};
}

template <class F>
void expect_same_bits(const F& f, const Variable& w, const Tensor& beside) {
  EXPECT_EQ(gradients_through(f, w, beside), gradients_through(recompute_grad(f), w, beside));
}

TEST(RecomputeGrad, SameBitsWhereUsesAddUp) {
  const Variable w(values({8}, 2));
  const Tensor beside = values({8}, 3);
  expect_same_bits([&](const Tensor& x) { return tanh(x * w) + sin(x * beside) * w.value() + x * x; }, w,
                   beside);
}

TEST(RecomputeGrad, SameBitsWithDropoutNoiseAndNormalisation) {
  const Variable w(values({8}, 2));
  const Variable mean(zeros({8}), {.trainable = false});
  const Tensor beside = values({8}, 3);
  auto block = [&](const Tensor& x) {
    const Tensor average = reduce_mean(x, 0);
    mean.assign(mean.value() * 0.9 + average * 0.1);
    const Tensor y = (x - average - mean) * w + random::normal({4, 8}) * beside;
    return nn::dropout(nn::relu(y), 0.5) * x;
  };
  mean.assign(zeros({8}));
  const auto plain = gradients_through(block, w, beside);
  const auto mean_after = floats(mean.value());
  mean.assign(zeros({8}));
  const auto recomputed = gradients_through(recompute_grad(block), w, beside);
  EXPECT_EQ(plain, recomputed);
  EXPECT_EQ(mean_after, floats(mean.value()));
}

TEST(RecomputeGrad, FusedBatchNormOfImages) {
  const Variable scale(values({3}, 1)), offset(values({3}, 2));
  const Variable moving(zeros({3}), {.trainable = false});
  auto block = [&](const Tensor& x) {
    const auto norm = nn::fused_batch_norm(x, scale, offset);
    moving.assign_add(norm.batch_mean);
    return tanh(norm.y);
  };
  auto run = [&](auto f) {
    moving.assign(zeros({3}));
    const Tensor x = values({2, 4, 4, 3}, 5);
    GradientTape tape;
    tape.watch(x);
    const auto g = tape.gradient(reduce_sum(f(f(x)) * x), {x, scale.handle(), offset.handle()});
    return std::vector{floats(g[0]), floats(g[1]), floats(g[2]), floats(moving.value())};
  };
  EXPECT_EQ(run(block), run(recompute_grad(block)));
}

TEST(RecomputeGrad, TheUsersCodeRunsOnce) {
  int calls = 0;
  std::mt19937 host(3);
  const Variable count(0.0f, {.trainable = false});
  auto block = recompute_grad([&](const Tensor& x) {
    ++calls;
    count.assign_add(1.0f);
    return x * x * float(host() % 100);
  });
  const Tensor x = constant(3.0f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = block(x);
  const Tensor g = tape.gradient(y, x);
  EXPECT_FLOAT_EQ(g.item<float>() * 3, y.item<float>() * 2);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(count.value().item<float>(), 1);
}

TEST(RecomputeGrad, PrintsOnce) {
  testing::internal::CaptureStderr();
  const Tensor x = constant(2.0f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = recompute_grad([](const Tensor& x) {
    const Tensor s = x * x;
    print("square", s);
    return s * x;
  })(x);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 12);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "square 4\n");
}

TEST(RecomputeGrad, VariablesAreReadAsTheyWere) {
  const Variable w(3.0f);
  GradientTape tape;
  const Tensor y = recompute_grad([&](const Tensor& x) { return x * w * w; })(constant(2.0f));
  w.assign(100.0f);
  EXPECT_EQ(Tensor(tape.gradient(y, w)).item<float>(), 12);
}

TEST(RecomputeGrad, ItsOwnAssignmentsBetweenReads) {
  const Variable w(3.0f);
  auto block = [&](const Tensor& x) {
    const Tensor a = x * w;
    w.assign(w.value() + 1.0f);
    return a * w;
  };
  auto run = [&](auto f) {
    w.assign(3.0f);
    const Tensor x = constant(2.0f);
    GradientTape tape;
    tape.watch(x);
    const auto g = tape.gradient(f(x), {x, w.handle()});
    return std::vector<float>{floats(g[0])[0], floats(g[1])[0], floats(w.value())[0]};
  };
  EXPECT_EQ(run(block), (std::vector{12.0f, 14.0f, 4.0f}));
  EXPECT_EQ(run(recompute_grad(block)), (std::vector{12.0f, 14.0f, 4.0f}));
}

struct Settings {
  Tensor scale;
  std::vector<Tensor> more;
  bool square = false;
  std::string name;
};
struct Parts {
  Tensor first;
  std::map<std::string, Tensor> rest;
  int count = 0;
};

TEST(RecomputeGrad, AnyArgumentsAndResults) {
  auto f = recompute_grad([](const Tensor& x, std::string text, bool flag, int n, const Settings& s,
                             const std::vector<std::vector<Tensor>>& lists, const Tensor& ids) {
    EXPECT_EQ(text, "a");
    EXPECT_TRUE(flag);
    Tensor y = x * s.scale + s.more.at(1);
    if (s.square) y = y * y;
    for (int i = 0; i < n; ++i) y = y + lists[0][0] * gather(lists[1][0], ids);
    return Parts{y, {{"exp", exp(x)}, {"ids", ids}}, n};
  });
  const Tensor x = constant({1.0f, 2.0f}), scale = constant(3.0f), a = constant(4.0f), b = constant(5.0f);
  const Tensor table = constant({6.0f, 7.0f, 8.0f});
  const Tensor ids = constant({2, 0});
  GradientTape tape({.persistent = true});
  tape.watch(std::vector<Tensor>{x, scale, a, b, table});
  const Parts out = f(x, "a", true, 2, Settings{.scale = scale, .more = {b, a}, .square = true, .name = "n"},
                      std::vector<std::vector<Tensor>>{{b}, {table}}, ids);
  EXPECT_EQ(out.count, 2);
  EXPECT_EQ(floats(out.first), (std::vector{49.0f + 80, 100.0f + 60}));
  const auto g = tape.gradient(out.first, std::vector<Tensor>{x, scale, a, b, table});
  EXPECT_EQ(floats(g[0]), (std::vector{42.0f, 60.0f}));
  EXPECT_EQ(floats(g[1]), (std::vector{54.0f}));
  EXPECT_EQ(floats(g[2]), (std::vector{34.0f}));
  EXPECT_EQ(floats(g[3]), (std::vector{28.0f}));
  EXPECT_EQ(floats(g[4]), (std::vector{10.0f, 0.0f, 10.0f}));
  EXPECT_EQ(floats(tape.gradient(out.rest.at("exp"), x)), floats(exp(x)));
}

TEST(RecomputeGrad, ResultsThatAreArgumentsOrEqual) {
  auto pass = [](const Tensor& x) {
    const Tensor y = x * x;
    return std::tuple{x, y, y};
  };
  auto run = [&](auto f) {
    const Tensor x = constant(3.0f);
    GradientTape tape;
    tape.watch(x);
    const auto [a, b, c] = f(x);
    return Tensor(tape.gradient(a * b * c + x, x)).item<float>();
  };
  EXPECT_EQ(run(pass), 5 * 81 + 1);
  EXPECT_EQ(run(recompute_grad(pass)), 5 * 81 + 1);
}

struct Dense : Module {
  Variable w{values({3, 3}, 9)}, b{zeros({3})};
  int calls = 0;
  Tensor operator()(const Tensor& x) { return ++calls, tanh(matmul(x, w) + b); }
  Tensor twice(const Tensor& x) { return (*this)((*this)(x)); }
  RW_TRACK(w, b)
};

TEST(RecomputeGrad, ModulesAndTheirMethods) {
  Dense layer;
  const Tensor x = values({2, 3}, 1);
  auto run = [&](auto f) {
    GradientTape tape;
    const auto g = tape.gradient(f(x), layer.trainable_variables());
    return std::vector{floats(g[0]), floats(g[1])};
  };
  const auto plain = run([&](const Tensor& t) { return layer.twice(t); });
  EXPECT_EQ(plain, run(recompute_grad([&](const Tensor& t) { return layer.twice(t); })));
  auto method = recompute_grad(&Dense::twice);
  EXPECT_EQ(plain, run([&](const Tensor& t) { return method(layer, t); }));
  auto object = recompute_grad(layer);
  EXPECT_EQ(plain, run([&](const Tensor& t) { return object(object(t)); }));
  EXPECT_EQ(layer.calls, 8);
}

TEST(RecomputeGrad, Nested) {
  const Variable w(values({8}, 2));
  const Tensor beside = values({8}, 3);
  auto inner = [&](const Tensor& x) { return tanh(x * w) * nn::dropout(x, 0.3); };
  auto plain = [&](const Tensor& x) { return inner(inner(x)) + sin(inner(x)) * beside; };
  auto nested = recompute_grad([&](const Tensor& x) {
    auto f = recompute_grad(inner);
    auto g = recompute_grad([&](const Tensor& t) { return f(f(t)); });
    return g(x) + sin(f(x)) * beside;
  });
  EXPECT_EQ(gradients_through(plain, w, beside), gradients_through(nested, w, beside));
}

TEST(RecomputeGrad, CustomGradientsInside) {
  const Tensor beside = values({8}, 3);
  const Variable w(values({8}, 2));
  int calls = 0;
  auto odd = custom_gradient([&](const Tensor& x) {
    ++calls;
    const Tensor noise = random::uniform({4, 8});
    w.assign(w.value() * 1.0);
    const Tensor kept = x * noise;
    return with_gradient(sin(x) * noise, [=](const Tensor& dy) { return dy * kept; });
  });
  expect_same_bits([&](const Tensor& x) { return tanh(Tensor(odd(x * w))); }, w, beside);
}

TEST(RecomputeGrad, SecondDerivativesThroughCustomGradients) {
  auto cube = custom_gradient([](const Tensor& x) {
    return with_gradient(x * x * x, [=](const Tensor& dy) { return dy * x * x * 3.0; });
  });
  auto f = recompute_grad([&](const Tensor& x) { return Tensor(cube(x * 2.0)) * x; });  // 8 x^4
  const Tensor x = constant(3.0f);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    first = inner.gradient(f(x), x);
  }
  EXPECT_EQ(first.item<float>(), 32 * 27);
  EXPECT_EQ(Tensor(outer.gradient(first, x)).item<float>(), 96 * 9);
}

TEST(RecomputeGrad, HigherDerivatives) {
  auto f = recompute_grad(
      [](const Tensor& x) { return recompute_grad([](const Tensor& t) { return t * t * t; })(x) * x; });
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

TEST(RecomputeGrad, PersistentTapesAskTwice) {
  const Variable w(2.0f);
  const Tensor x = constant(3.0f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = recompute_grad([&](const Tensor& t) { return t * t * w; })(x);
  const Tensor z = y * y;
  EXPECT_EQ(Tensor(tape.gradient(z, x)).item<float>(), 2 * 18 * 12);
  EXPECT_EQ(Tensor(tape.gradient(y, w)).item<float>(), 9);
  const Tensor dx = tape.gradient(y, x);
  EXPECT_EQ(Tensor(tape.gradient(dx, x)).item<float>(), 4);
}

TEST(RecomputeGrad, ATapeInside) {
  auto slope = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(x * x * x, x).tensor();
  };
  const Tensor x = constant(5.0f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = recompute_grad(slope)(x);
  EXPECT_EQ(y.item<float>(), 75);
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 30);
}

TEST(RecomputeGrad, MixedPrecision) {
  const Variable w(values({8, 8}, 2));
  auto block = [&](const Tensor& x) {
    return cast(tanh(matmul(cast(x, float16), cast(w.value(), float16))), float32);
  };
  auto run = [&](auto f) {
    const Tensor x = values({4, 8}, 1);
    GradientTape tape;
    tape.watch(x);
    const auto g = tape.gradient(reduce_sum(f(f(x))), {x, w.handle()});
    return std::vector{floats(g[0]), floats(g[1])};
  };
  EXPECT_EQ(run(block), run(recompute_grad(block)));
}

TEST(RecomputeGrad, EmbeddingsStaySlices) {
  const Variable table(values({10, 4}, 1));
  GradientTape tape;
  const Tensor y =
      recompute_grad([&](const Tensor& ids) { return tanh(table.sparse_read(ids)); })(constant({1, 1, 7}));
  const Gradient g = tape.gradient(y, table);
  ASSERT_NE(g.slices(), nullptr);
  EXPECT_EQ(g.slices()->indices.to_vector<int32_t>(), (std::vector{1, 1, 7}));
}

TEST(RecomputeGrad, JacobiansBatchesAndForwardMode) {
  auto f = [](const Tensor& x) { return tanh(x) * sin(x) + x * x; };
  const Tensor x = values({5}, 1);
  auto jacobian = [&](auto g) {
    GradientTape tape;
    tape.watch(x);
    return floats(tape.jacobian(g(x), x));
  };
  EXPECT_EQ(jacobian(f), jacobian(recompute_grad(f)));
  auto batched = [&](auto g) {
    return floats(vectorized_map(
        [&](const Tensor& row) {
          GradientTape tape;
          tape.watch(row);
          return tape.gradient(g(row), row).tensor();
        },
        values({3, 5}, 2)));
  };
  EXPECT_EQ(batched(f), batched(recompute_grad(f)));
  auto around = [&](auto g) {
    const Tensor rows = values({3, 5}, 2);
    GradientTape tape;
    tape.watch(rows);
    const Tensor y = vectorized_map([&](const Tensor& row) { return g(row); }, rows);
    return floats(tape.gradient(y, rows));
  };
  EXPECT_EQ(around(f), around(recompute_grad(f)));
  auto forward = [&](auto g) {
    ForwardAccumulator accumulator(x, ones_like(x));
    return floats(accumulator.jvp(g(x)));
  };
  EXPECT_EQ(forward(f), forward(recompute_grad(f)));
}

TEST(RecomputeGrad, ErrorsInsideLeaveTapesListening) {
  const Tensor x = constant(3.0f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_THROW(recompute_grad([](const Tensor& t) -> Tensor { return reshape(t, {7}); })(x),
               InvalidArgumentError);
  EXPECT_EQ(Tensor(tape.gradient(x * x, x)).item<float>(), 6);
}

TEST(Checkpointable, PlainOrRecomputed) {
  Dense layer;
  auto wrapped = checkpointable(layer);
  const Tensor x = values({2, 3}, 1);
  auto run = [&](auto call) {
    GradientTape tape({.watch_accessed_variables = false});
    tape.watch(layer.trainable_variables());
    const auto g = tape.gradient(call(), layer.trainable_variables());
    return std::vector{floats(g[0]), floats(g[1])};
  };
  const auto plain = run([&] { return wrapped(x); });
  EXPECT_EQ(plain, run([&] { return wrapped.checkpoint(x); }));
  EXPECT_EQ(plain, run([&] { return wrapped.checkpoint({.watch_vars = layer.trainable_variables()}, x); }));
}

TEST(Checkpointable, WatchedVariablesNeedNotBeTrainable) {
  const Variable frozen(2.0f, {.trainable = false});
  auto f = checkpointable([&](const Tensor& x) { return x * frozen * frozen; });
  GradientTape tape;
  const Tensor y = f.checkpoint({.watch_vars = {frozen}}, constant(3.0f));
  EXPECT_EQ(Tensor(tape.gradient(y, frozen)).item<float>(), 12);
}

TEST(Checkpointable, AForcedSeedDrawsTheSame) {
  auto f = checkpointable([](const Tensor& x) { return nn::dropout(x, 0.5); });
  const Tensor x = ones({100});
  GradientTape tape;
  tape.watch(x);
  const Tensor a = f.checkpoint({.force_seed = 12}, x);
  const Tensor b = f.checkpoint({.force_seed = 12}, x);
  EXPECT_EQ(floats(a), floats(b));
  EXPECT_EQ(floats(tape.gradient(a, x)), floats(b));
}

int64_t peak_of(int64_t layers_a_block, bool recompute, int64_t size) {
  auto f = checkpointable([&](Tensor x, const Tensor& y) {
    for (int64_t i = 0; i < layers_a_block; ++i) x = sin(x * y) + x;
    return x;
  });
  const Tensor y = fill({size}, 0.5f);
  Tensor x = ones({size});
  memory::reset_peak();
  const int64_t before = memory::stats().current;
  GradientTape tape;
  tape.watch(y);
  for (int i = 0; i < 20; ++i) x = recompute ? f.checkpoint(x, y) : f(x, y);
  (void)tape.gradient(reduce_sum(x), y).tensor();
  return memory::stats().peak - before;
}

TEST(RecomputeGrad, SavesMemory) {
  const int64_t size = 1 << 14;
  const int64_t plain = peak_of(20, false, size), recomputed = peak_of(20, true, size);
  const auto buffers = [&](int64_t bytes) { return bytes / (size * int64_t(sizeof(float))); };
  EXPECT_GE(buffers(plain), 2 * 400);                // two values a layer
  EXPECT_LE(buffers(recomputed), 20 + 2 * 20 + 10);  // an input a block, and one block's own
}

// 40,000 layers, as blocks of 200: a plain chain, and one whose layers keep three values each.
TEST(Checkpointable, AChainOfFortyThousandLayers) {
  const int64_t size = 1024;
  const Tensor initial = ones({size}), y = ones({size}) + 1e-7, z = ones({size}) + 1e-7;
  for (const bool with_sin : {false, true}) {
    auto f = checkpointable([&](Tensor x, const Tensor& y, std::string, bool, const Tensor& z) {
      for (int i = 0; i < 200; ++i) x = with_sin ? x + sin(x * y) * z : x + y * z;
      return x;
    });
    memory::reset_peak();
    const int64_t before = memory::stats().current;
    GradientTape g;
    g.watch(std::vector<Tensor>{initial, y, z});
    Tensor x = initial;
    for (int i = 0; i < 200; ++i) x = f.checkpoint(x, y, "a", true, z);
    const auto grads = g.gradient(reduce_sum(x), {initial, y, z});
    if (!with_sin) {
      EXPECT_EQ(floats(grads[0]), std::vector<float>(size_t(size), 1.0f));
      EXPECT_NEAR(floats(grads[1])[0], 40000, 1);
    }
    const int64_t buffers = (memory::stats().peak - before) / (size * int64_t(sizeof(float)));
    EXPECT_GE(buffers, 200);
    EXPECT_LE(buffers, (with_sin ? 200 + 3 * 200 : 200) + 60);
  }
}

TEST(RecomputeGrad, PersistentTapesSaveMemoryToo) {
  const int64_t size = 1 << 14;
  const Tensor y = fill({size}, 0.5f);
  auto f = recompute_grad([&](Tensor x) {
    for (int i = 0; i < 50; ++i) x = sin(x * y);
    return x;
  });
  GradientTape tape({.persistent = true});
  tape.watch(y);
  Tensor x = y;
  memory::reset_peak();
  const int64_t before = memory::stats().current;
  for (int i = 0; i < 10; ++i) x = f(x);
  (void)tape.gradient(reduce_sum(x), y).tensor();
  (void)tape.gradient(reduce_sum(x), y).tensor();
  EXPECT_LE((memory::stats().peak - before) / (size * int64_t(sizeof(float))), 10 + 2 * 50 + 60);
}

}  // namespace
}  // namespace rw
