// Public functions that are composed of several ops, traced with arguments of unknown sizes (and of unknown
// rank where that can be), run on real ones and differentiated: the graph gives what the eager calls give.
#include <gtest/gtest.h>

#include <cmath>

#include "rewind/rewind.h"
#include "rewind/runtime/evaluate.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// f's value, then the gradients of sum(f * weights) with respect to the floating arguments.
std::vector<Tensor> with_gradients(const Function& f, const std::vector<Tensor>& arguments) {
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const Tensor& t : arguments) {
    if (!is_floating(t.dtype())) continue;
    tape.watch(t);
    sources.push_back(t);
  }
  const Tensor y = f(arguments);
  std::vector<Tensor> results{y};
  if (!is_floating(y.dtype())) return results;
  const Tensor flat = reshape(y, {-1});
  const Tensor weights = cast(range(1, size(flat) + 1), y.dtype());
  for (const Gradient& g : tape.gradient(reduce_sum(flat * weights), sources))
    if (!g.none()) results.push_back(g.tensor());
  return results;
}

std::vector<Tensor> traced(const Function& f, const std::vector<Tensor>& arguments, bool ranks) {
  auto trace = Ref<Trace>::adopt(new Trace("f"));
  {
    const TraceScope scope(*trace);
    std::vector<Tensor> symbols;
    for (const Tensor& t : arguments) {
      const Shape shape = ranks ? Shape::unknown_of_rank(t.rank()) : Shape::unknown_rank();
      symbols.push_back(trace->add_argument(t.dtype(), shape));
    }
    trace->finish(with_gradients(f, symbols));
  }
  std::vector<const Value*> values;
  for (const Tensor& t : arguments) values.push_back(t.impl());
  for (const Tensor& t : trace->captures()) values.push_back(t.impl());
  std::vector<Tensor> results;
  for (Value& v : evaluate(trace->graph(), values)) results.push_back(make_tensor(std::move(v)));
  return results;
}

void expect_near(const Tensor& want, const Tensor& got, const char* name) {
  ASSERT_EQ(want.shape(), got.shape()) << name;
  const Tensor a = cast(want, float64), b = cast(got, float64);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<double>()[size_t(i)], y = b.data<double>()[size_t(i)];
    EXPECT_NEAR(x, y, 1e-5 * (1 + std::fabs(x))) << name << " element " << i;
  }
}

// `ranks`: the function needs to know ranks.
void check(const char* name, const std::vector<Tensor>& arguments, const Function& f, bool ranks = false) {
  const std::vector<Tensor> want = with_gradients(f, arguments);
  for (const bool with_ranks : {true, false}) {
    if (ranks && !with_ranks) continue;
    try {
      const std::vector<Tensor> got = traced(f, arguments, with_ranks);
      ASSERT_EQ(want.size(), got.size()) << name;
      for (size_t i = 0; i < want.size(); ++i) expect_near(want[i], got[i], name);
    } catch (const Error& e) {
      ADD_FAILURE() << name << (with_ranks ? "" : " without ranks") << ": " << e.what();
    }
  }
}

Tensor numbers(const Shape& shape, double from = 0.3) {
  const Tensor flat = cast(range(int64_t(0), shape.num_elements()), float32);
  return reshape(sin(flat * 0.7 + from), Ints(shape));
}

using Args = const std::vector<Tensor>&;

TEST(UnknownSizes, Reductions) {
  const Tensor x = numbers({2, 3, 4});
  check("reduce_sum", {x}, [](Args t) { return reduce_sum(t[0]); });
  check("reduce_sum axis", {x}, [](Args t) { return reduce_sum(t[0], {0, -1}); });
  check("reduce_mean", {x}, [](Args t) { return reduce_mean(t[0], 1); });
  check("reduce_mean all", {x}, [](Args t) { return reduce_mean(t[0]); });
  check("reduce_max", {x}, [](Args t) { return reduce_max(t[0], {1, 2}, true); });
  check("reduce_prod", {x}, [](Args t) { return reduce_prod(t[0], {0, 2}); });
  check("reduce_logsumexp", {x}, [](Args t) { return reduce_logsumexp(t[0], {-1}); });
  check("reduce_std", {x}, [](Args t) { return reduce_std(t[0], {0}); });
  check("cumsum", {x}, [](Args t) { return math::cumsum(t[0], 1); });
  check("norm", {numbers({3, 3})}, [](Args t) { return norm(t[0], {.ord = 1, .frobenius = false}); });
  check("argmax", {x}, [](Args t) { return argmax(t[0], 1); });
}

TEST(UnknownSizes, Shapes) {
  const Tensor x = numbers({2, 3, 4});
  check("transpose", {x}, [](Args t) { return transpose(t[0]); });
  check("reshape", {x}, [](Args t) { return reshape(t[0], {-1, 4}); });
  check("reshape like", {x, numbers({4, 6})}, [](Args t) { return reshape(t[0], shape(t[1])); });
  check("concat", {x, numbers({2, 5, 4})}, [](Args t) { return concat({t[0], t[1]}, 1); });
  check("stack", {x, numbers({2, 3, 4}, 1)}, [](Args t) { return stack({t[0], t[1]}, 1); });
  check("split", {x}, [](Args t) { return split(t[0], {1, 2}, 1)[1]; });
  check("slice", {x}, [](Args t) { return slice(t[0], {0, 1, 0}, {-1, 2, 3}); });
  check("index", {x}, [](Args t) { return t[0](rw::ellipsis, Slice(1, 3)); });
  check("index by tensor", {x}, [](Args t) { return t[0](shape(t[0])[0] - 1); });
  check("tile", {numbers({2, 3})}, [](Args t) { return tile(t[0], {2, 3}); });
  check("pad", {numbers({2, 3})}, [](Args t) { return pad(t[0], {{1, 0}, {0, 2}}); });
  check("reflect", {numbers({3, 4})}, [](Args t) { return pad(t[0], {{1, 0}, {0, 2}}, "REFLECT"); });
  check("repeat", {numbers({3, 2})}, [](Args t) { return repeat(t[0], {1, 2, 0}, 0); }, true);
  check("repeat one", {numbers({3, 2})}, [](Args t) { return repeat(t[0], 2, 1); }, true);
  check("repeat flat", {numbers({3, 2})}, [](Args t) { return repeat(t[0], 2); });
  check("meshgrid", {numbers({3}), numbers({2})}, [](Args t) { return meshgrid({t[0], t[1]})[1]; });
  check("roll", {x}, [](Args t) { return roll(t[0], {1}, {1}); });
  check("reverse", {x}, [](Args t) { return reverse(t[0], {1}); });
  check("broadcast", {numbers({2, 1}), numbers({1, 3})}, [](Args t) { return t[0] * t[1]; });
  check("broadcast ranks", {numbers({4}), numbers({2, 3, 1})}, [](Args t) { return t[0] / (t[1] + 2.0); });
  check("linspace", {numbers({2}), numbers({2})}, [](Args t) { return linspace(t[0], t[1], 5); }, true);
  check("zeros_like", {x}, [](Args t) { return zeros_like(t[0], float64); });
}

TEST(UnknownSizes, Gathers) {
  const Tensor x = numbers({4, 3});
  check("gather", {x, constant({2, 0, 2})}, [](Args t) { return gather(t[0], t[1]); });
  check("gather axis", {x, constant({2, 0, 2})}, [](Args t) { return gather(t[0], t[1], 1); });
  check("gather batch", {numbers({2, 4, 3}), constant({{1, 3}, {0, 0}})},
        [](Args t) { return gather(t[0], t[1], 1, 1); });
  check("gather_nd", {x, constant({{2, 1}, {0, 0}})}, [](Args t) { return gather_nd(t[0], t[1]); });
  check(
      "gather_nd batch", {numbers({2, 4, 3}), constant({{{1}, {3}}, {{0}, {2}}})},
      [](Args t) { return gather_nd(t[0], t[1], 1); }, true);
  check(
      "boolean_mask", {numbers({2, 3, 2}), constant({{true, false, true}, {false, true, true}})},
      [](Args t) { return boolean_mask(t[0], t[1]); }, true);
  check(
      "embedding", {x, constant({{1, 1}, {3, 0}})},
      [](Args t) { return nn::embedding_lookup(t[0], t[1], 0.5); }, true);
  check("sort", {x}, [](Args t) { return sort(t[0], 0); }, true);
  check("top_k", {x}, [](Args t) { return math::top_k(t[0], 2).values; });
  check("segment_mean", {x, constant({0, 0, 1, 1})}, [](Args t) { return math::segment_mean(t[0], t[1]); });
  check(
      "unsorted_segment_mean", {x, constant({1, 0, 1, 1})},
      [](Args t) { return math::unsorted_segment_mean(t[0], t[1], 2); }, true);
  check("dynamic_partition", {x, constant({1, 0, 1, 1})},
        [](Args t) { return dynamic_partition(t[0], t[1], 2)[1]; });
  check("scatter_nd", {constant({{1}, {3}}), numbers({2, 3})},
        [](Args t) { return scatter_nd(t[0], t[1], constant({5, 3})); });
  check(
      "searchsorted", {constant({{1., 2., 3.}}), constant({{0.5, 2.5}})},
      [](Args t) { return searchsorted(t[0], t[1]); }, true);
}

TEST(UnknownSizes, Linear) {
  check("matmul", {numbers({3, 4}), numbers({4, 2})}, [](Args t) { return matmul(t[0], t[1]); });
  check("matmul batch", {numbers({2, 3, 4}), numbers({4, 2})}, [](Args t) { return matmul(t[0], t[1]); });
  check("einsum", {numbers({2, 3, 4}), numbers({2, 4, 5})},
        [](Args t) { return linalg::einsum("bij,bjk->bik", t[0], t[1]); });
  check("einsum sums", {numbers({2, 3}), numbers({3, 4})},
        [](Args t) { return linalg::einsum("ij,jk->k", t[0], t[1]); });
  check(
      "einsum stretches", {numbers({1, 3, 4}), numbers({2, 4, 5})},
      [](Args t) { return linalg::einsum("...ij,...jk->...ik", t[0], t[1]); }, true);
  check(
      "tensordot", {numbers({2, 3, 4}), numbers({4, 3})},
      [](Args t) { return tensordot(t[0], t[1], {1, 2}, {1, 0}); }, true);
  const Tensor spd = matmul(numbers({3, 3}), numbers({3, 3}), {.transpose_b = true}) + 3.0 * eye(3);
  check("cholesky", {spd}, [](Args t) { return linalg::cholesky(t[0]); });
  check("inv", {spd}, [](Args t) { return linalg::inv(t[0]); });
  check("solve", {spd, numbers({3, 2})}, [](Args t) { return linalg::solve(t[0], t[1]); });
  for (const Shape& shape : {Shape{4, 2}, Shape{2, 4}, Shape{3, 3}})
    check(
        "lstsq", {numbers(shape), numbers({shape[0], 3}, 1)},
        [](Args t) { return linalg::lstsq(t[0], t[1], {.l2_regularizer = 0.01}); }, true);
  check("logdet", {spd}, [](Args t) { return linalg::logdet(t[0]); });
  check("trace", {spd}, [](Args t) { return linalg::trace(t[0]); });
  check("expm", {0.1 * spd}, [](Args t) { return linalg::expm(t[0]); });
  check("matvec", {spd, numbers({3})}, [](Args t) { return linalg::matvec(t[0], t[1]); });
}

TEST(UnknownSizes, Networks) {
  const Tensor image = numbers({2, 5, 4, 3});
  check("conv2d", {image, numbers({2, 2, 3, 4})}, [](Args t) { return nn::conv2d(t[0], t[1], 1, "SAME"); });
  check(
      "conv2d batches", {numbers({2, 2, 5, 4, 3}), numbers({2, 2, 3, 4})},
      [](Args t) { return nn::conv2d(t[0], t[1], 1, "VALID"); }, true);
  check("conv1d", {numbers({2, 5, 3}), numbers({2, 3, 4})},
        [](Args t) { return nn::conv1d(t[0], t[1], 1, "SAME"); });
  check("avg_pool", {image}, [](Args t) { return nn::avg_pool2d(t[0], 2, 2, "SAME"); });
  check("max_pool", {image}, [](Args t) { return nn::max_pool2d(t[0], 2, 1, "VALID"); });
  check("resize", {image}, [](Args t) { return image::resize(t[0], {7, 3}); }, true);
  check("softmax", {numbers({2, 3, 4})}, [](Args t) { return nn::softmax(t[0], 1); }, true);
  check("log_softmax", {numbers({2, 3})}, [](Args t) { return nn::log_softmax(t[0]); });
  check("cross entropy", {nn::softmax(numbers({2, 3, 4})), numbers({2, 3, 4}, 1)},
        [](Args t) { return nn::softmax_cross_entropy_with_logits(t[0], t[1]); });
  check(
      "cross entropy axis", {nn::softmax(numbers({2, 3, 4}), 1), numbers({2, 3, 4}, 1)},
      [](Args t) { return nn::softmax_cross_entropy_with_logits(t[0], t[1], 1); }, true);
  check("sparse cross entropy", {constant({{0, 2}, {1, 1}}), numbers({2, 2, 3})},
        [](Args t) { return nn::sparse_softmax_cross_entropy_with_logits(t[0], t[1]); });
  check("sigmoid cross entropy", {numbers({2, 3}), numbers({2, 3}, 1)},
        [](Args t) { return nn::sigmoid_cross_entropy_with_logits(t[0], t[1]); });
  check("bias", {numbers({2, 3}), numbers({3})}, [](Args t) { return nn::bias_add(t[0], t[1]); });
  check("layer norm", {numbers({2, 3})}, [](Args t) { return nn::layer_normalization(t[0], {}, {}); });
  check(
      "attention", {numbers({2, 3, 4}), numbers({2, 5, 4}), numbers({2, 5, 2})},
      [](Args t) { return nn::scaled_dot_product_attention(t[0], t[1], t[2], {.causal = true}); }, true);
  check("l2_normalize", {numbers({2, 3})}, [](Args t) { return math::l2_normalize(t[0], {1}); });
}

TEST(UnknownSizes, Arrays) {
  check("array", {numbers({3, 2})}, [](Args t) {
    const TensorArray a(float32, {.size = 3, .clear_after_read = false});
    const TensorArray b = a.unstack(t[0]);
    return b.write(1, b.read(2) * 2.0).stack() + b.gather({0, 1, 1});
  });
  check("growing array", {numbers({3, 2})}, [](Args t) {
    auto a = TensorArray(float32, {.dynamic_size = true});
    for (int i = 0; i < 3; ++i) a = a.write(2 - i, t[0][i] * t[0][i]);
    return a.stack();
  });
  check("runs", {numbers({5, 2})},
        [](Args t) { return TensorArray(float32, {.size = 2}).split(t[0], {2, 3}).concat() * 3.0; });
}

TEST(UnknownSizes, DropoutDrawsWhenTheGraphRuns) {
  auto trace = Ref<Trace>::adopt(new Trace("f"));
  {
    const TraceScope scope(*trace);
    const Tensor x = trace->add_argument(float32, {Shape::kUnknown});
    const Tensor y = nn::dropout(x, 0.5);
    trace->finish(std::vector<Tensor>{y});
  }
  const Tensor x = ones({256});
  const Value* in = x.impl();
  const auto run = [&] { return make_tensor(std::move(evaluate(trace->graph(), {&in, 1})[0])); };
  const Tensor a = run(), b = run();
  EXPECT_EQ(a.shape(), x.shape());
  EXPECT_NE(a.to_vector<float>(), b.to_vector<float>());
}

}  // namespace
}  // namespace rw
