// Loops over datasets in functions: one While, with variables, metrics and gradients inside.
#include "rewind/data/for_each.h"

#include <gtest/gtest.h>

#include "rewind/graph/graph.h"
#include "rewind/tensor/trace.h"
#include "tests/data/elements.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

int count_nodes(const Graph& g, std::string_view name) {
  int n = 0;
  for (const rw::Node& node : g.nodes()) n += node.op->name == name;
  return n;
}

TEST(ForEach, IsOneWhileWhateverTheNumberOfElements) {
  const auto ds = Dataset::range(1000);
  const auto f = rw::function(
      [&] { return rw::for_each(ds, constant(int64_t{0}), [](Tensor s, Tensor x) { return s + x; }); });
  EXPECT_EQ(f().item<int64_t>(), 499500);
  const auto concrete = f.get_concrete_function();
  EXPECT_EQ(count_nodes(concrete->graph().ir(), "While"), 1);
  EXPECT_LT(concrete->graph().ir().nodes().size(), 10u);
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(ForEach, ReduceInAFunctionAndEagerly) {
  const auto ds = Dataset::range(5).map([](Tensor x) { return std::tuple{x, x * x}; });
  const auto sums = [&] {
    return ds.reduce(std::tuple{constant(int64_t{0}), constant(int64_t{0})},
                     [](Tensor a, Tensor b, Tensor x, Tensor y) { return std::tuple{a + x, b + y}; });
  };
  const auto [a, b] = sums();
  const auto [c, d] = rw::function(sums)();
  EXPECT_EQ(a.item<int64_t>(), 10);
  EXPECT_EQ(b.item<int64_t>(), 30);
  EXPECT_EQ(c.item<int64_t>(), 10);
  EXPECT_EQ(d.item<int64_t>(), 30);
  // Whole or in parts, each for itself.
  using Pair = std::tuple<Tensor, Tensor>;
  const Pair zero{constant(int64_t{0}), constant(int64_t{0})};
  const auto parts = [](Tensor s, Tensor t, Pair e) { return Pair{s + std::get<0>(e), t + std::get<1>(e)}; };
  EXPECT_EQ(std::get<1>(ds.reduce(zero, parts)).item<int64_t>(), 30);
  const auto one = [](Tensor s, Tensor t, Tensor x) { return Pair{s + x, t + 1}; };
  EXPECT_EQ(std::get<0>(Dataset::range(4).reduce(zero, one)).item<int64_t>(), 6);
  const auto whole = [](Pair s, Tensor x, Tensor y) { return Pair{std::get<0>(s) + x, std::get<1>(s) + y}; };
  EXPECT_EQ(std::get<1>(ds.reduce(zero, whole)).item<int64_t>(), 30);
}

// Made inside: each call makes it anew, from arguments too; a seeded shuffle has the same order each time.
TEST(ForEach, DatasetsMadeInTheFunction) {
  const auto f = rw::function([](Tensor x) {
    const auto ds = Dataset::from_tensor_slices(x * 2.0f).shuffle(10, {.seed = 3}).batch(2);
    return rw::for_each(ds, constant(0.0f), [](Tensor s, Tensor b) { return s * 10.0f + b(0); });
  });
  const float first = f(constant(std::vector<float>{1, 2, 3, 4})).item<float>();
  EXPECT_EQ(f(constant(std::vector<float>{1, 2, 3, 4})).item<float>(), first);
  EXPECT_EQ(f(constant(std::vector<float>{2, 4, 6, 8})).item<float>(), 2 * first);
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(ForEach, DatasetsAsArguments) {
  const auto f = rw::function([](const DatasetOf<Tensor>& ds) {
    return rw::for_each(ds.batch(2), constant(int64_t{0}),
                        [](Tensor s, Tensor b) { return s + reduce_sum(b); });
  });
  EXPECT_EQ(f(Dataset::range(4)).item<int64_t>(), 6);
  EXPECT_EQ(f(Dataset::range(5)).item<int64_t>(), 10);
  EXPECT_EQ(f.tracing_count(), 1);
  EXPECT_EQ(f(Dataset::range(4).map([](Tensor x) { return std::tuple{x}; }).map([](Tensor x) {
              return stack(std::vector<Tensor>{x, x});
            })).item<int64_t>(),
            12);
  EXPECT_EQ(f.tracing_count(), 2);  // elements of another shape
}

// The last batch is smaller: sizes come while running.
TEST(ForEach, TrainsWithVariablesAndMetrics) {
  const Tensor x = reshape(cast(rw::range(14), float32), {7, 2}) / 10.0f;
  const Tensor y = reduce_sum(x, 1) * 3.0f + 1.0f;
  const auto ds = Dataset::from_tensor_slices(std::tuple{x, y}).batch(3).repeat(2);
  const auto train = [&](bool staged) {
    const Variable w(zeros({2, 1})), b(0.0f), seen(constant(int64_t{0}), {.trainable = false});
    const auto loop = [&] {
      return rw::for_each(ds, constant(0.0f), [&](Tensor, Tensor xs, Tensor ys) {
        GradientTape tape;
        const Tensor error = squeeze(matmul(xs, w), {1}) + b - ys;
        const Tensor loss = reduce_mean(error * error);
        const auto grads = tape.gradient(loss, std::vector<Variable>{w, b});
        w.assign_sub(Tensor(grads[0]) * 0.1f);
        b.assign_sub(Tensor(grads[1]) * 0.1f);
        seen.assign_add(rw::shape(xs, int64)(0));
        return loss;
      });
    };
    const Tensor loss = staged ? rw::function(loop)() : loop();
    EXPECT_EQ(seen.item<int64_t>(), 14);
    std::vector<float> all = w.to_vector<float>();
    all.push_back(b.item<float>());
    all.push_back(loss.item<float>());
    return all;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(ForEach, GradientsThroughTheLoop) {
  const auto ds = Dataset::from_tensor_slices(constant(std::vector<float>{1, 2, 3}));
  const Variable w(2.0f);
  const auto f = rw::function([&] {
    GradientTape tape;
    const Tensor s = rw::for_each(ds, constant(0.0f), [&](Tensor sum, Tensor x) { return sum + x * w * w; });
    return Tensor(tape.gradient(s, w));
  });
  EXPECT_EQ(f().item<float>(), 24);  // 2 w (1 + 2 + 3)
}

TEST(ForEach, StopsByCondition) {
  const auto f = rw::function([] {
    return rw::for_each_while(
        Dataset::range(0, INT64_MAX), constant(int64_t{0}), [](Tensor s) { return s < 10; },
        [](Tensor s, Tensor x) { return s + x; });
  });
  EXPECT_EQ(f().item<int64_t>(), 10);
  const Tensor limited = rw::function([] {
    return rw::for_each(Dataset::range(100), constant(int64_t{0}), [](Tensor s, Tensor x) { return s + x; },
                        {.maximum_iterations = constant(4)});
  })();
  EXPECT_EQ(limited.item<int64_t>(), 6);
}

TEST(ForEach, WithoutAState) {
  const Variable sum(constant(int64_t{0}));
  const auto f = rw::function([&] { rw::for_each(Dataset::range(5), [&](Tensor x) { sum.assign_add(x); }); });
  f();
  f();
  EXPECT_EQ(sum.item<int64_t>(), 20);
}

TEST(ForEach, GetNextInAFunction) {
  auto it = Dataset::range(3).iterator();
  const auto f = rw::function([&] { return it.get_next() * 10; });
  EXPECT_EQ(f().item<int64_t>(), 0);
  EXPECT_EQ(f().item<int64_t>(), 10);
  EXPECT_EQ(it.next()->item<int64_t>(), 2);
  expect_error<OutOfRangeError>([&] { f(); }, "no further element");
}

TEST(ForEach, ErrorsOfThePipelineLeaveTheFunction) {
  const auto ds = Dataset::range(5).map([](Tensor x) {
    if (!is_symbol(x) && x.item<int64_t>() == 2) throw DataLossError("bad element");
    return x;
  });
  const auto f = rw::function(
      [&] { return rw::for_each(ds, constant(int64_t{0}), [](Tensor s, Tensor x) { return s + x; }); });
  expect_error<DataLossError>([&] { f(); }, "bad element");
}

TEST(ForEach, PlainLoopsInFunctionsAreRefused) {
  const auto ds = Dataset::range(3);
  const auto f = rw::function([&] {
    Tensor s = constant(int64_t{0});
    for (const Tensor& x : ds) s = s + x;
    return s;
  });
  expect_error<FailedPreconditionError>([&] { f(); }, "rw::for_each");
}

}  // namespace
}  // namespace rw::data
