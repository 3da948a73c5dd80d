// Recomputed blocks that are alike: their derivative is one function, called for each. The same bits as
// without it, and fewer nodes.
#include <gtest/gtest.h>

#include "rewind/rewind.h"

namespace rw::repeated_blocks {
namespace {

constexpr int kBlocks = 6, kLayers = 10;

Tensor values(const Shape& shape, int64_t seed) {
  return random::stateless_normal(shape, constant(std::vector<int64_t>{seed, 7}));
}
Tensor layers(Tensor x, const Tensor& y, const Tensor& z) {
  for (int i = 0; i < kLayers; ++i) x = x + sin(x * y) * z;
  return x;
}

using Results = std::vector<std::vector<float>>;
Results floats(const std::vector<Tensor>& list) {
  Results all;
  for (const Tensor& t : list) all.push_back(t.to_vector<float>());
  return all;
}

const Tensor& x_value() {
  static const Tensor* x = new Tensor(values({64}, 1));
  return *x;
}
const Tensor& y_value() {
  static const Tensor* y = new Tensor(values({64}, 2));
  return *y;
}

// The loss of blocks in a row, with its gradients.
template <class B>
auto step_of(B block, int64_t budget = 0) {
  return function(
      [block](Tensor x, Tensor y) {
        GradientTape tape;
        tape.watch(std::vector<Tensor>{x, y});
        const Tensor z = y * 0.1f;
        Tensor h = x;
        for (int i = 0; i < kBlocks; ++i) h = block(h, y, z);
        const Tensor loss = reduce_sum(h * h);
        const auto g = tape.gradient(loss, std::vector<Tensor>{x, y});
        return std::vector<Tensor>{loss, g[0], g[1]};
      },
      {.memory_budget = budget});
}

template <class F>
int count_ops(const F& step, const std::string& type) {
  int count = 0;
  for (const auto& op : step.get_concrete_function(x_value(), y_value())->graph().operations())
    count += type.empty() || op.type == type;
  return count;
}

TEST(RepeatedBlocks, OneDerivativeForAll) {
  const auto plain = step_of(layers);
  const auto again = step_of(recompute_grad(layers));
  EXPECT_EQ(floats(plain(x_value(), y_value())), floats(again(x_value(), y_value())));
  EXPECT_EQ(count_ops(plain, "PartitionedCall"), 0);
  // The sums that blocks add to: the last has none to begin with.
  EXPECT_EQ(count_ops(again, "PartitionedCall"), kBlocks);
  EXPECT_LT(count_ops(again, ""), count_ops(plain, ""));
}

TEST(RepeatedBlocks, BlocksInside) {
  const auto inner = recompute_grad(layers);
  const auto twice = [inner](const Tensor& x, const Tensor& y, const Tensor& z) {
    return tanh(inner(inner(x, y, z), z, y));
  };
  const auto plain = step_of(
      [](const Tensor& x, const Tensor& y, const Tensor& z) { return tanh(layers(layers(x, y, z), z, y)); });
  const auto again = step_of(recompute_grad(twice));
  EXPECT_EQ(floats(plain(x_value(), y_value())), floats(again(x_value(), y_value())));
  EXPECT_EQ(count_ops(again, "PartitionedCall"), kBlocks);
}

TEST(RepeatedBlocks, InABudget) {
  const auto plain = step_of(layers);
  const Results wanted = floats(plain(x_value(), y_value()));
  const auto again = step_of(recompute_grad(layers));
  const int64_t least = again.memory_plan(x_value(), y_value()).curve.back().budget;
  const auto small = step_of(recompute_grad(layers), least + (64 << 10));
  EXPECT_EQ(wanted, floats(small(x_value(), y_value())));
}

// A function with blocks in it that is called by another, and under a tape.
TEST(RepeatedBlocks, CalledAndDifferentiated) {
  const auto results = [](auto block) {
    const auto step = step_of(block);
    const auto outer = function([&](Tensor x, Tensor y) {
      const auto once = step(x, y);
      const auto twice = step(once[1] * 1e-3f, y);
      return std::vector<Tensor>{once[0], twice[0], twice[1], twice[2]};
    });
    std::vector<Tensor> all = outer(x_value(), y_value());
    GradientTape tape;
    tape.watch(x_value());
    const auto first = step(x_value(), y_value());
    const Tensor second = tape.gradient(reduce_sum(first[1] * first[1]), x_value());
    return std::pair{floats(all), second.to_vector<float>()};
  };
  const auto plain = results(layers);
  const auto again = results(recompute_grad(layers));
  EXPECT_EQ(plain.first, again.first);
  // Sums of second derivatives are taken in another order.
  for (size_t i = 0; i < plain.second.size(); ++i)
    EXPECT_NEAR(plain.second[i], again.second[i], 1e-4 * (1 + std::abs(plain.second[i])));
}

// Results that nobody differentiates, and inputs that want no gradient.
TEST(RepeatedBlocks, PartsOfThem) {
  const auto two = [](const Tensor& x, const Tensor& y) {
    const Tensor h = layers(x, y, y * 0.1f);
    return std::pair{h, h * y};
  };
  const auto results = [](auto block) {
    const auto step = function([block](Tensor x, Tensor y) {
      GradientTape tape;
      tape.watch(x);
      Tensor h = x;
      for (int i = 0; i < kBlocks; ++i) {
        const auto [a, b] = block(h, y);
        h = i % 2 == 0 ? a : b;
      }
      return std::vector<Tensor>{tape.gradient(reduce_sum(h), x)};
    });
    return floats(step(x_value(), y_value()));
  };
  EXPECT_EQ(results(two), results(recompute_grad(two)));
}

// Blocks do not take each other's values, which would keep them alive.
TEST(RepeatedBlocks, KeepLittle) {
  const Tensor x = values({256, 64}, 3), y = values({64, 64}, 4);
  const auto products = [](Tensor h, const Tensor& y, const Tensor&) {
    for (int i = 0; i < kLayers; ++i) h = tanh(matmul(h, y));
    return h;
  };
  const auto peak = [&](auto block) {
    memory::trim();
    const int64_t before = memory::stats().current;
    memory::reset_peak();
    step_of(block)(x, y);
    return memory::stats().peak - before;
  };
  EXPECT_LT(peak(recompute_grad(products)), peak(products) / 2);
}

TEST(RepeatedBlocks, Exported) {
  const auto again = step_of(recompute_grad(layers));
  const std::string text = again.get_concrete_function(x_value(), y_value())->graph().as_graph_def();
  EXPECT_EQ(text.find("_Recompute"), std::string::npos);
  EXPECT_NE(text.find("PartitionedCall"), std::string::npos);
}

}  // namespace
}  // namespace rw::repeated_blocks
