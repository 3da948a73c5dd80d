// Attention as one node: what is recognised and what is not, and that compiled graphs give what the reference
// evaluator gives for the ops they were traced from.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "rewind/compiler/pipeline.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/rewind.h"
#include "tests/support/graph_examples.h"

namespace rw::test {
namespace {

using Args = std::vector<Tensor>;
using Body = std::function<Args(const Args&)>;

Tensor drawn(std::vector<int64_t> shape, uint64_t seed, float size = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> x(size_t(Shape(shape).num_elements()));
  for (float& v : x) v = normal(random);
  return reshape(constant(x), shape);
}
Tensor coins(std::vector<int64_t> shape, uint64_t seed, double share) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution coin(share);
  std::vector<float> x(size_t(Shape(shape).num_elements()));
  for (float& v : x) v = coin(random);
  return reshape(constant(x), shape) > 0.5f;
}
Tensor causal(int64_t queries, int64_t keys) {
  return linalg::band_part(ones({queries, keys}), -1, std::max<int64_t>(0, keys - queries)) > 0.f;
}

int occurrences(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

struct Compiled {
  std::shared_ptr<const ConcreteFunction> function;
  std::shared_ptr<const Program> program;
  std::vector<HostTensor> feeds;
  int forward = 0, backward = 0;  // fused nodes

  std::vector<HostTensor> reference() const { return run_graph(function->graph().ir(), feeds); }
  std::vector<HostTensor> run() const {
    return run_graph(function->graph().ir(), feeds, [&](std::span<const Value* const> inputs) {
      ValueList results;
      program->run(inputs, &results);
      return results;
    });
  }
};

HostTensor host_copy(const Tensor& t) {
  const size_t bytes = size_t(t.size()) * size_of(t.dtype());
  auto data = std::make_shared<std::vector<char>>(std::max<size_t>(bytes, 1));
  if (t.dtype() == DType::kBool) {
    const std::vector<bool> values = t.to_vector<bool>();
    for (size_t i = 0; i < values.size(); ++i) (*data)[i] = values[i];
  } else if (t.dtype() == DType::kFloat64) {
    const std::vector<double> values = t.to_vector<double>();
    std::memcpy(data->data(), values.data(), bytes);
  } else {
    const std::vector<float> values = t.to_vector<float>();
    std::memcpy(data->data(), values.data(), bytes);
  }
  return {t.dtype(), t.shape(), std::shared_ptr<const void>(data, data->data())};
}

Compiled compiled(const Body& body, const Args& args) {
  Compiled c;
  const auto f = function([&](Args a) { return body(a); });
  c.function = f.get_concrete_function(args);
  std::vector<Shape> shapes;
  for (const auto* list : {&args, &c.function->captured_inputs()})
    for (const Tensor& t : *list) {
      shapes.push_back(t.shape());
      c.feeds.push_back(host_copy(t));
    }
  c.program = compile(c.function->graph().ir(), shapes);
  const std::string text = c.program->to_string();
  c.backward = occurrences(text, "_AttentionGrad ");
  c.forward = occurrences(text, "_Attention ");
  return c;
}

// Whether this machine's library sums the products one by one too.
bool same_order(int64_t longest) { return std::string(isa_name()) == "v4" && longest <= 512; }

void expect_close(const std::vector<HostTensor>& want, const std::vector<HostTensor>& got, bool bits) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t k = 0; k < want.size(); ++k) {
    ASSERT_EQ(want[k].shape, got[k].shape);
    const float* a = static_cast<const float*>(want[k].data.get());
    const float* b = static_cast<const float*>(got[k].data.get());
    float largest = 0;
    for (int64_t i = 0; i < want[k].shape.num_elements(); ++i) largest = std::max(largest, std::fabs(a[i]));
    for (int64_t i = 0; i < want[k].shape.num_elements(); ++i) {
      if (bits) ASSERT_EQ(a[i], b[i]) << "result " << k << ", element " << i;
      else ASSERT_NEAR(a[i], b[i], 4e-6f * largest) << "result " << k << ", element " << i;
    }
  }
}

void expect_fused(const Body& body, const Args& args, bool grads, int64_t longest, const char* what) {
  SCOPED_TRACE(what);
  const Compiled c = compiled(body, args);
  EXPECT_EQ(c.forward, 1);
  EXPECT_EQ(c.backward, grads ? 1 : 0);
  EXPECT_EQ(occurrences(c.program->to_string(), "Softmax"), 0);
  const std::vector<HostTensor> want = c.reference();
  expect_close(want, c.run(), same_order(longest));
  // Memory of an earlier run is met again.
  expect_close(want, c.run(), same_order(longest));
}

// The results and the gradients of the first `wanted` arguments.
Body with_grads(const Body& body, size_t wanted) {
  return [=](const Args& args) {
    GradientTape tape;
    const Args sources(args.begin(), args.begin() + int64_t(wanted));
    tape.watch(sources);
    Args results = body(args);
    const Tensor weighed = results[0] * args.back();
    for (const Tensor& g : tape.gradient(reduce_sum(weighed), sources)) results.push_back(g);
    return results;
  };
}

struct Sizes {
  int64_t batch, heads, queries, keys, depth, value_depth;
  int64_t longest() const { return std::max({queries, keys, depth, value_depth}); }
  Args arguments(uint64_t seed, const Tensor& mask) const {
    return {drawn({batch, heads, queries, depth}, seed), drawn({batch, heads, keys, depth}, seed + 1),
            drawn({batch, heads, keys, value_depth}, seed + 2), mask,
            drawn({batch, heads, queries, value_depth}, seed + 3)};
  }
};

const Sizes kSizes[] = {{2, 3, 64, 64, 32, 32},  {1, 2, 33, 65, 5, 9},    {3, 1, 100, 40, 17, 4},
                        {1, 1, 70, 129, 64, 33}, {2, 2, 8, 200, 48, 64},  {1, 2, 256, 256, 64, 64},
                        {1, 1, 50, 41, 4, 100},  {1, 2, 300, 530, 24, 16}};

Body masked(float number) {
  return [=](const Args& a) {
    const Tensor scores = matmul(a[0], a[1], {.transpose_b = true}) * 0.25f;
    return Args{matmul(nn::softmax(where(a[3], scores, number)), a[2])};
  };
}

TEST(FuseAttention, AllSizesAndMasks) {
  for (const Sizes& s : kSizes) {
    SCOPED_TRACE((Shape{s.batch, s.heads, s.queries, s.keys, s.depth, s.value_depth}.to_string()));
    const Tensor holes = coins({s.queries, s.keys}, 5, 0.6);
    const Tensor some_rows = coins({s.queries, 1}, 6, 0.8);  // the others see nothing
    const std::pair<const char*, Tensor> masks[] = {
        {"causal", causal(s.queries, s.keys)},
        {"random", holes},
        {"a mask for each head", coins({s.batch, s.heads, s.queries, s.keys}, 7, 0.3)},
        {"a mask for each entry", coins({s.batch, 1, 1, s.keys}, 8, 0.5)},
        {"a mask for each head alone", coins({s.heads, 1, s.keys}, 8, 0.5)},
        {"rows without keys", math::logical_and(causal(s.queries, s.keys), some_rows)},
        {"a row or nothing", some_rows},
    };
    expect_fused(masked(-1e9f), s.arguments(1, masks[0].second), false, s.longest(), "no gradients");
    for (const auto& [name, mask] : masks)
      expect_fused(with_grads(masked(-1e9f), 3), s.arguments(1, mask), true, s.longest(), name);
  }
}

// A number that does not make the weights 0: nothing may be left out.
TEST(FuseAttention, WeakMasks) {
  const Sizes s{2, 2, 96, 96, 16, 16};
  for (const float number : {0.f, -3.f, -80.f, 50.f, -INFINITY})
    expect_fused(with_grads(masked(number), 3), s.arguments(3, causal(s.queries, s.keys)), true, s.longest(),
                 std::to_string(number).c_str());
}

TEST(FuseAttention, StepsOfAllKinds) {
  const Sizes s{2, 2, 40, 48, 16, 24};
  const Tensor mask = causal(s.queries, s.keys);
  const Tensor bias = drawn({s.heads, s.queries, s.keys}, 9);
  const auto attend = [](const Tensor& scores, const Args& a) {
    return Args{matmul(nn::softmax(scores), a[2])};
  };
  const auto product = [](const Args& a) { return matmul(a[0], a[1], {.transpose_b = true}); };
  const std::tuple<const char*, Body, Tensor> bodies[] = {
      {"nothing", [&](const Args& a) { return attend(product(a), a); }, mask},
      {"scaled", [&](const Args& a) { return attend(0.5f * product(a), a); }, mask},
      {"divided", [&](const Args& a) { return attend(product(a) / 4.f, a); }, mask},
      {"scaled before",
       [&](const Args& a) { return attend(matmul(a[0] * 0.25f, a[1], {.transpose_b = true}), a); }, mask},
      {"biased", [&](const Args& a) { return attend(product(a) / 4.f + a[3], a); }, bias},
      {"biased from the left", [&](const Args& a) { return attend(a[3] + product(a), a); }, bias},
      {"dropped", [&](const Args& a) { return attend(where(a[3], -1e9f, product(a) * 2.f), a); },
       math::logical_not(mask)},
      {"scaled behind the mask",
       [&](const Args& a) { return attend(where(a[3], product(a), -1e9f) * 0.25f, a); }, mask},
      {"masked twice",
       [&](const Args& a) {
         return attend(where(a[3], where(causal(40, 48), product(a), -1e9f), -1e30f), a);
       },
       coins({40, 48}, 4, 0.7)},
  };
  for (const auto& [name, body, extra] : bodies) {
    expect_fused(body, s.arguments(11, extra), false, s.longest(), name);
    expect_fused(with_grads(body, 3), s.arguments(11, extra), true, s.longest(), name);
  }
}

TEST(FuseAttention, PublicFunction) {
  const Sizes s{2, 2, 64, 64, 32, 32};
  for (const bool is_causal : {false, true}) {
    const Body body = [=](const Args& a) {
      return Args{nn::scaled_dot_product_attention(a[0], a[1], a[2], {.mask = a[3], .causal = is_causal})};
    };
    const Tensor seen = coins({s.batch, 1, 1, s.keys}, 8, 0.9);
    expect_fused(with_grads(body, 3), s.arguments(2, seen), true, s.longest(), "boolean");
    expect_fused(with_grads(body, 3), s.arguments(2, drawn({s.queries, s.keys}, 3)), true, s.longest(),
                 "additive");
  }
}

// As Keras exports it: heads stand behind the positions, and Einsum multiplies.
TEST(FuseAttention, ProductsByEinsum) {
  for (const Sizes& s : {Sizes{2, 3, 64, 48, 32, 16}, Sizes{1, 12, 33, 65, 8, 8}}) {
    SCOPED_TRACE((Shape{s.batch, s.heads, s.queries, s.keys, s.depth, s.value_depth}.to_string()));
    const Body body = [](const Args& a) {
      const Tensor scores = einsum("BTNH,BSNH->BNTS", {a[0], a[1]}) * 0.25f;
      return Args{einsum("BNTS,BSNH->BTNH", {nn::softmax(where(a[3], scores, -1e9f)), a[2]})};
    };
    const Args args{
        drawn({s.batch, s.queries, s.heads, s.depth}, 1), drawn({s.batch, s.keys, s.heads, s.depth}, 2),
        drawn({s.batch, s.keys, s.heads, s.value_depth}, 3), coins({s.batch, 1, 1, s.keys}, 4, 0.7),
        drawn({s.batch, s.queries, s.heads, s.value_depth}, 5)};
    expect_fused(body, args, false, s.longest(), "no gradients");
    const Compiled c = compiled(with_grads(body, 3), args);
    EXPECT_EQ(occurrences(c.program->to_string(), "Einsum"), 0);
    expect_close(c.reference(), c.run(), same_order(s.longest()));
  }
}

TEST(FuseAttention, FewerAxes) {
  const Body body = [](const Args& a) {
    return Args{matmul(nn::softmax(matmul(a[0], a[1], {.transpose_b = true}) * 0.3f), a[2])};
  };
  for (const std::vector<int64_t>& lead : {std::vector<int64_t>{}, {3}}) {
    const auto with = [&](std::initializer_list<int64_t> rest) {
      std::vector<int64_t> shape = lead;
      shape.insert(shape.end(), rest);
      return shape;
    };
    const Args args{drawn(with({50, 16}), 1), drawn(with({60, 16}), 2), drawn(with({60, 8}), 3),
                    drawn(with({50, 8}), 4)};
    expect_fused(with_grads(body, 3), args, true, 60, "fewer axes");
  }
}

// Query, key and value are parts of one projection, in every order of axes that is usual.
TEST(FuseAttention, PartsOfAProjection) {
  const int64_t batch = 2, tokens = 48, heads = 3, depth = 16;
  const Tensor mask = causal(tokens, tokens);
  const auto join = [=](const Tensor& y) {
    return reshape(transpose(y, {0, 2, 1, 3}), {batch, tokens, heads * depth});
  };
  const auto attend = [=](const Args& p) {
    const Tensor scores = matmul(p[0], p[1], {.transpose_b = true}) * 0.25f;
    return Args{join(matmul(nn::softmax(where(mask, scores, -1e9f)), p[2]))};
  };
  const std::pair<const char*, Body> bodies[] = {
      {"split of heads",
       [&](const Args& a) {
         return attend(
             split(transpose(reshape(a[0], {batch, tokens, 3 * heads, depth}), {0, 2, 1, 3}), 3, 1));
       }},
      {"split before the heads",
       [&](const Args& a) {
         Args parts;
         for (const Tensor& t : split(a[0], 3, 2))
           parts.push_back(transpose(reshape(t, {batch, tokens, heads, depth}), {0, 2, 1, 3}));
         return attend(parts);
       }},
      {"unstack",
       [&](const Args& a) {
         return attend(
             unstack(transpose(reshape(a[0], {batch, tokens, 3, heads, depth}), {2, 0, 3, 1, 4}), 0));
       }},
      {"heads innermost but one",
       [&](const Args& a) {
         return attend(
             split(transpose(reshape(a[0], {batch, tokens, heads, 3 * depth}), {0, 2, 1, 3}), 3, 3));
       }},
      {"depth before heads",
       [&](const Args& a) {
         return attend(
             split(transpose(reshape(a[0], {batch, tokens, depth, 3 * heads}), {0, 3, 1, 2}), 3, 1));
       }},
      {"slices",
       [&](const Args& a) {
         const Tensor all = transpose(reshape(a[0], {batch, tokens, 3 * heads, depth}), {0, 2, 1, 3});
         Args parts;
         for (int64_t i = 0; i < 3; ++i)
           parts.push_back(slice(all, {0, i * heads, 0, 0}, {batch, heads, tokens, depth}));
         return attend(parts);
       }},
  };
  const Args args{drawn({batch, tokens, 3 * heads * depth}, 1), drawn({batch, tokens, heads * depth}, 2)};
  for (const auto& [name, body] : bodies) {
    expect_fused(body, args, false, tokens, name);
    expect_fused(with_grads(body, 1), args, true, tokens, name);
  }
  // Nothing is copied on the way in or out.
  const Compiled c = compiled(with_grads(bodies[0].second, 1), args);
  for (const char* op : {"Transpose", "Split", "ConcatV2"})
    EXPECT_EQ(occurrences(c.program->to_string(), op), 0) << op;
}

TEST(FuseAttention, KeysAndValuesTheOtherWayRound) {
  const Args args{drawn({2, 2, 40, 16}, 1), drawn({2, 2, 16, 56}, 2), drawn({2, 2, 24, 56}, 3)};
  expect_fused(
      [](const Args& a) {
        return Args{matmul(nn::softmax(matmul(a[0], a[1])), a[2], {.transpose_b = true})};
      },
      args, false, 56, "turned");
}

// One key head serves all.
TEST(FuseAttention, SpreadHeads) {
  const Args args{drawn({2, 4, 40, 16}, 1), drawn({2, 1, 56, 16}, 2), drawn({2, 1, 56, 24}, 3),
                  drawn({2, 4, 40, 24}, 4)};
  const Body body = [](const Args& a) {
    return Args{matmul(nn::softmax(matmul(a[0], a[1], {.transpose_b = true})), a[2])};
  };
  expect_fused(body, args, false, 56, "forward");
  expect_fused(with_grads(body, 3), args, true, 56, "gradients");
}

TEST(FuseAttention, GradientsOfSomeOnly) {
  const Sizes s{2, 2, 40, 48, 16, 24};
  const Body body = masked(-1e9f);
  for (const size_t wanted : {size_t(1), size_t(2)})
    expect_fused(with_grads(body, wanted), s.arguments(1, causal(40, 48)), true, s.longest(), "some");
}

TEST(FuseAttention, SeveralLayers) {
  const Tensor mask = causal(40, 40);
  const Body body = with_grads(
      [=](const Args& a) {
        Tensor x = a[0];
        for (int i = 0; i < 3; ++i) {
          const Tensor scores = matmul(x, x, {.transpose_b = true}) * 0.25f;
          x = matmul(nn::softmax(where(mask, scores, -1e9f)), x);
        }
        return Args{x};
      },
      1);
  const Compiled c = compiled(body, {drawn({2, 2, 40, 16}, 1), drawn({2, 2, 40, 16}, 2)});
  EXPECT_EQ(c.forward, 3);
  EXPECT_EQ(c.backward, 3);
  expect_close(c.reference(), c.run(), same_order(40));
}

TEST(FuseAttention, WhatIsReadElsewhereStays) {
  const Sizes s{2, 2, 40, 48, 16, 24};
  const Tensor mask = causal(40, 48);
  const auto scores = [](const Args& a) { return matmul(a[0], a[1], {.transpose_b = true}) * 0.25f; };
  const std::tuple<const char*, Body, Tensor> bodies[] = {
      {"weights are a result",
       [&](const Args& a) {
         const Tensor weights = nn::softmax(where(a[3], scores(a), -1e9f));
         return Args{matmul(weights, a[2]), weights};
       },
       mask},
      {"scores are a result",
       [&](const Args& a) {
         const Tensor x = scores(a);
         return Args{matmul(nn::softmax(where(a[3], x, -1e9f)), a[2]), x};
       },
       mask},
      {"weights are used again",
       [&](const Args& a) {
         const Tensor weights = nn::softmax(where(a[3], scores(a), -1e9f));
         return Args{matmul(weights, a[2]) * reduce_mean(weights)};
       },
       mask},
      {"scaled by a tensor", [&](const Args& a) { return Args{matmul(nn::softmax(scores(a) * a[3]), a[2])}; },
       drawn({40, 48}, 1)},
  };
  for (const auto& [name, body, extra] : bodies) {
    SCOPED_TRACE(name);
    for (const bool grads : {false, true}) {
      const Compiled c = compiled(grads ? with_grads(body, 3) : body, s.arguments(1, extra));
      EXPECT_EQ(c.forward + c.backward, 0);
      expect_close(c.reference(), c.run(), true);
    }
  }
}

TEST(FuseAttention, AGradientOfTheSummandStays) {
  const Sizes s{2, 2, 40, 48, 16, 24};
  const Body body = [](const Args& a) {
    return Args{matmul(nn::softmax(matmul(a[0], a[1], {.transpose_b = true}) + a[3]), a[2])};
  };
  const Compiled c = compiled(with_grads(body, 4), s.arguments(1, drawn({40, 48}, 1)));
  EXPECT_EQ(c.forward + c.backward, 0);
  expect_close(c.reference(), c.run(), true);
}

TEST(FuseAttention, SmallOnesAndOtherTypesStay) {
  const Body body = masked(-1e9f);
  const Sizes tiny{1, 1, 4, 4, 8, 8};
  EXPECT_EQ(compiled(body, tiny.arguments(1, causal(4, 4))).forward, 0);
  const Sizes s{2, 2, 40, 48, 16, 24};
  Args wide;
  for (const Tensor& t : s.arguments(1, causal(40, 48)))
    wide.push_back(t.dtype() == DType::kBool ? t : cast(t, float64));
  const Body doubles = [](const Args& a) {
    return Args{matmul(nn::softmax(matmul(a[0], a[1], {.transpose_b = true})), a[2])};
  };
  EXPECT_EQ(compiled(doubles, wide).forward, 0);
}

// With fewer heads than threads, too.
TEST(FuseAttention, AnyNumberOfThreads) {
  for (const Sizes& s :
       {Sizes{2, 3, 90, 130, 24, 40}, Sizes{1, 1, 300, 250, 40, 24}, Sizes{1, 2, 40, 70, 24, 24}}) {
    const Compiled c = compiled(with_grads(masked(-1e9f), 3), s.arguments(1, causal(s.queries, s.keys)));
    set_num_threads(1);
    const std::vector<HostTensor> want = c.run();
    for (const int threads : {2, 3, 4}) {
      set_num_threads(threads);
      expect_close(want, c.run(), true);
    }
    set_num_threads(0);
  }
}

// Shapes, masks and steps at random.
TEST(FuseAttention, RandomGraphs) {
  std::mt19937_64 random(17);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const Sizes s{pick(1, 3), pick(1, 3), pick(24, 90), pick(90, 150), pick(4, 40), pick(4, 40)};
    std::vector<int64_t> shape{pick(0, 1) ? s.batch : 1, pick(0, 1) ? s.heads : 1, pick(0, 2) ? s.queries : 1,
                               pick(0, 3) ? s.keys : 1};
    shape.erase(shape.begin(), shape.begin() + pick(0, 2));
    const Tensor mask = coins(shape, uint64_t(i), std::uniform_real_distribution<>(0.02, 1)(random));
    const Tensor summand = drawn(shape, uint64_t(i) + 1000);
    std::vector<int64_t> kinds(size_t(pick(0, 3)));
    for (int64_t& k : kinds) k = pick(0, 4);
    const float number = pick(0, 1) ? -1e9f : float(pick(-200, 10));
    const Body body = [=](const Args& a) {
      Tensor x = matmul(a[0], a[1], {.transpose_b = true});
      for (const int64_t k : kinds)
        x = k == 0   ? x * 0.3f
            : k == 1 ? x / 3.f
            : k == 2 ? x + summand
            : k == 3 ? where(a[3], x, number)
                     : where(a[3], number, x);
      return Args{matmul(nn::softmax(x), a[2])};
    };
    const bool grads = pick(0, 1);
    expect_fused(grads ? with_grads(body, 3) : body, s.arguments(uint64_t(i), mask), grads, s.longest(),
                 "random");
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace rw::test
