// Calls that an op must refuse, in every way that a program makes them: alone, under a tape, in a function,
// on each choice of inputs of a batch, where the error reads as it does alone.
#include <gtest/gtest.h>

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching_scope.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/function/function.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/creation.h"
#include "tests/support/test_body.h"

namespace rw::test {
namespace {

using TensorVector = std::vector<Tensor>;

struct RefusedCall {
  std::string op;
  TensorVector inputs;
  Attrs attrs;
  std::string message;  // a part of it
};

Tensor ints(const std::vector<int32_t>& list) { return constant(list); }
Tensor images(std::initializer_list<int64_t> dims) { return zeros(Shape(dims)); }

const std::vector<int64_t> kOnes{1, 1, 1, 1};

std::vector<RefusedCall> neural_net_calls() {
  const Attrs pool{{"ksize", std::vector<int64_t>{1, 2, 2, 1}}, {"strides", kOnes}, {"padding", "VALID"}};
  const Attrs conv{{"strides", kOnes}, {"padding", "VALID"}};
  return {
      {"BiasAdd", {zeros({3}), zeros({3})}, {}, "two axes"},
      {"BiasAdd", {zeros({2, 3}), zeros({4})}, {}, "bias"},
      {"BiasAdd", {zeros({2, 3}), zeros({})}, {}, "bias"},
      {"BiasAddGrad", {zeros({})}, {}, "two axes"},
      {"MaxPool", {images({4, 4})}, pool, "rank"},
      {"AvgPool", {images({4, 4, 1})}, pool, "rank"},
      {"AvgPool", {images({1, 4, 4, 1})}, pool.with("ksize", std::vector<int64_t>{1, 2}), "ksize"},
      {"Conv2D", {images({4, 4}), images({2, 2, 1, 1})}, conv, "rank"},
      {"Conv2D", {images({1, 4, 4, 3}), images({2, 2, 2, 1})}, conv, "channels"},
      {"Conv2D", {images({1, 4, 4, 1}), zeros({})}, conv, "rank"},
      {"Conv2DBackpropInput", {ints({1, 4, 4}), images({2, 2, 1, 1}), images({1, 3, 3, 1})}, conv, "sizes"},
      {"SoftmaxCrossEntropyWithLogits", {zeros({}), zeros({})}, {}, "rank"},
      {"SoftmaxCrossEntropyWithLogits", {zeros({2, 3}), zeros({2, 4})}, {}, ""},
      {"SparseSoftmaxCrossEntropyWithLogits", {zeros({2, 3}), ints({0, 0, 0})}, {}, "label"},
      {"SparseSoftmaxCrossEntropyWithLogits", {zeros({3}), constant(0)}, {}, "rank"},
      {"LRN", {zeros({2, 3})}, {}, "rank"},
      {"LRNGrad", {zeros({}), zeros({}), zeros({})}, {}, "rank"},
      {"SpaceToDepth", {zeros({2, 2})}, {{"block_size", 2}}, "rank"},
      {"DepthToSpace", {images({1, 2, 2, 3})}, {{"block_size", 2}}, "depth"},
      {"ResizeBilinearGrad", {zeros({2}), images({1, 2, 2, 1})}, {}, "rank"},
      {"ResizeBilinear", {zeros({2, 2}), ints({4, 4})}, {}, "rank"},
      {"FusedBatchNormV3",
       {zeros({2}), zeros({2}), zeros({2}), zeros({2}), zeros({2})},
       {{"is_training", true}},
       "rank"},
      {"FusedBatchNormV3",
       {images({1, 2, 2, 2}), zeros({}), zeros({2}), zeros({2}), zeros({2})},
       {{"is_training", true}},
       "scale"},
  };
}

std::vector<RefusedCall> index_calls() {
  return {
      {"InvertPermutation", {constant(0)}, {}, "rank"},
      {"InvertPermutation", {constant(std::vector<int32_t>{1, 2})}, {}, "2"},
      {"InvertPermutation", {constant(std::vector<int32_t>{0, 0})}, {}, "0"},
      {"LowerBound", {zeros({3}), zeros({3})}, {}, "rank"},
      {"UpperBound", {zeros({2, 3}), zeros({3, 1})}, {}, ""},
      {"GatherV2", {zeros({3}), ints({3}), constant(0)}, {}, "indices"},
      {"GatherV2", {zeros({3}), ints({0}), constant(1)}, {}, "axis"},
      {"GatherNd", {zeros({3}), constant(std::vector<int32_t>{-1})}, {}, "indices"},
      {"UnsortedSegmentSum", {zeros({3}), ints({0, 1, 2}), constant(2)}, {}, "2"},
      {"Slice", {zeros({2, 3}), ints({1, 0}), ints({2, 3})}, {}, "begin"},
      {"InTopKV2", {zeros({3}), ints({0}), constant(1)}, {}, "rank"},
      {"Cross", {zeros({2}), zeros({2})}, {}, "3"},
      {"Diag", {zeros({})}, {}, "rank"},
      {"Unpack", {zeros({2, 3})}, {{"num", 3}, {"axis", 0}}, "num"},
  };
}

std::vector<RefusedCall> control_calls() {
  const Attrs branches{{"Tout", std::vector<DType>{DType::kFloat32}},
                       {"then_branch", test_body("add:float32")},
                       {"else_branch", test_body("same:float32")}};
  const Attrs cases{{"Tout", std::vector<DType>{DType::kFloat32}},
                    {"branches", std::vector<BodyRef>{test_body("add:float32"), test_body("same:float32")}}};
  const Attrs loop{{"cond", test_body("below:float32")}, {"body", test_body("add:float32")}};
  return {
      {"StatelessIf", {zeros({2}), zeros({})}, branches, "condition"},
      {"StatelessIf", {constant(true), constant(1)}, branches, "does not take these inputs"},
      {"StatelessIf", {constant(std::string("yes")), zeros({})}, branches, "condition"},
      {"StatelessCase", {ints({0}), zeros({})}, cases, "rank 0"},
      {"StatelessCase", {ints({}), zeros({})}, cases, "rank 0"},
      {"StatelessWhile", {zeros({}), zeros({})}, loop, "does not take these inputs"},
      {"StatelessWhile", {zeros({})}, loop.with("cond", test_body("none:float32")), "one result"},
      {"StatelessWhile", {zeros({})}, loop.with("body", test_body("none:float32")), "loop variable"},
      {"StatelessWhile", {zeros({2})}, loop.with("cond", test_body("first:float32")), "one value"},
      {"_Fused", {zeros({2})}, {{"Tout", std::vector<DType>{}}, {"f", test_body("none:")}}, "compiler's own"},
      {"_Recompute",
       {constant(1)},
       {{"Tout", std::vector<DType>{DType::kFloat32}}, {"body", test_body("none:")}},
       "type of its input"},
  };
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "";
}

TensorVector call(const RefusedCall& c, const TensorVector& inputs) { return raw_op(c.op, inputs, c.attrs); }

std::string error_on_batch(const RefusedCall& c, size_t bits) {
  return error_of([&] {
    TensorVector elements;
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (bits >> i & 1) elements.push_back(repeat_in_front(c.inputs[i], 2));
    vectorized_map(
        [&](const TensorVector& element) {
          TensorVector all = c.inputs;
          for (size_t i = 0, next = 0; i < all.size(); ++i)
            if (bits >> i & 1) all[i] = element[next++];
          return call(c, all);
        },
        elements);
  });
}

void expect_refused(const std::vector<RefusedCall>& calls) {
  for (size_t n = 0; n < calls.size(); ++n) {
    const RefusedCall& c = calls[n];
    const std::string where = "call " + std::to_string(n) + ", " + c.op;
    const std::string alone = error_of([&] { call(c, c.inputs); });
    EXPECT_NE(alone, "") << where;
    EXPECT_NE(alone.find(c.message), std::string::npos) << where << ": " << alone;
    const std::string taped = error_of([&] {
      GradientTape tape;
      for (const Tensor& t : c.inputs) tape.watch(t);
      call(c, c.inputs);
    });
    EXPECT_EQ(taped, alone) << where;
    const auto f = function([&](const TensorVector& inputs) { return call(c, inputs); });
    EXPECT_NE(error_of([&] { f(c.inputs); }).find(c.message), std::string::npos) << where;
    for (size_t bits = 1; bits < size_t{1} << c.inputs.size(); ++bits)
      EXPECT_EQ(error_on_batch(c, bits), alone) << where << ", batched inputs " << bits;
  }
}

TEST(RefusedCalls, OfNeuralNets) { expect_refused(neural_net_calls()); }
TEST(RefusedCalls, OfIndices) { expect_refused(index_calls()); }
TEST(RefusedCalls, OfControlFlow) { expect_refused(control_calls()); }

// What one element may not have is refused although its neighbours are legal, as that element alone is.
TEST(RefusedCalls, OfOneElement) {
  const auto expect_alike = [](const char* op, const TensorVector& first, const Tensor& wrong,
                               const Tensor& batch) {
    const auto call = [&](const Tensor& last) {
      TensorVector inputs = first;
      inputs.push_back(last);
      return raw_op(op, inputs)[0];
    };
    const std::string alone = error_of([&] { call(wrong); });
    EXPECT_NE(alone, "") << op;
    EXPECT_EQ(error_of([&] { vectorized_map(call, batch); }), alone) << op;
  };
  expect_alike("Gather", {zeros({3})}, constant(3), constant(std::vector<int32_t>{0, 1, 3}));
  expect_alike("InvertPermutation", {}, constant(std::vector<int32_t>{2, 1}),
               constant(std::vector<int32_t>{1, 0, 2, 1}, Shape{2, 2}));
}

TEST(BatchedCalls, OfNoElementsHaveTheShapeOfOne) {
  const Tensor none = zeros({0, 1, 4, 4, 2});
  const Attrs pool{{"ksize", kOnes}, {"strides", kOnes}, {"padding", "VALID"}};
  const Tensor y = vectorized_map([&](const Tensor& e) { return raw_op("AvgPool", {e}, pool)[0]; }, none);
  EXPECT_EQ(y.shape(), Shape({0, 1, 4, 4, 2}));
  const Tensor draws = vectorized_map(  // no batching rule covers it
      [](const Tensor& e) {
        return raw_op("StatelessRandomUniform", {constant(std::vector<int32_t>{3}), e})[0];
      },
      zeros({0, 2}, DType::kInt32));
  EXPECT_EQ(draws.shape(), Shape({0, 3}));
}

// Lists of sizes that come at run time have a length that the trace knows.
TEST(RefusedCalls, OfSizesThatATraceDoesNotKnow) {
  const Attrs conv{{"strides", kOnes}, {"padding", "VALID"}};
  const Tensor filter = images({2, 2, 1, 1}), grad = images({1, 3, 3, 1}), image = images({1, 4, 4, 1});
  const auto refused = [&](const char* op, const TensorVector& first, const TensorVector& rest,
                           const Tensor& sizes) {
    const auto f = function([&](const Tensor& s, const Tensor& batch) {
      return vectorized_map(
          [&](const Tensor& e) {
            TensorVector inputs = first;
            inputs.push_back(s);
            inputs.insert(inputs.end(), rest.begin(), rest.end());
            inputs.back() = e;
            return raw_op(op, inputs, conv)[0];
          },
          batch);
    });
    return error_of([&] { f(sizes, repeat_in_front(rest.back(), 2)); });
  };
  for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{4}, {1, 4, 4}, {1, 4, 4, 1, 1}}) {
    const std::string part = "must have 4 numbers: got " + std::to_string(sizes.size());
    EXPECT_NE(refused("Conv2DBackpropInput", {}, {filter, grad}, constant(sizes)).find(part),
              std::string::npos);
    EXPECT_NE(refused("Conv2DBackpropFilter", {image}, {grad}, constant(sizes)).find(part),
              std::string::npos);
  }
}

// Equal of shapes that do not fit may be asked for one false instead of an error.
TEST(BatchedCalls, OfEqualOnOtherShapes) {
  const auto unequal = [](const Tensor& e) {
    return raw_op("NotEqual", {e, zeros({2})}, {{"incompatible_shape_error", false}})[0];
  };
  EXPECT_EQ(vectorized_map(unequal, zeros({4, 3})).to_vector<bool>(), std::vector<bool>(4, true));
}

// A list of sizes whose length is open runs element by element.
TEST(BatchedCalls, OfAPoolsGradientWithSizesOfOpenLength) {
  const Attrs pool{{"ksize", kOnes}, {"strides", kOnes}, {"padding", "VALID"}};
  const Tensor sizes = constant(std::vector<int32_t>{1, 2, 2, 1}), grads = ones({3, 1, 2, 2, 1});
  const auto f = function(
      [&](const Tensor& s, const Tensor& batch) {
        return vectorized_map([&](const Tensor& e) { return raw_op("AvgPoolGrad", {s, e}, pool)[0]; }, batch);
      },
      {.input_signature = {{{Shape{-1}, DType::kInt32}, {grads.shape(), DType::kFloat32}}}});
  EXPECT_EQ(f(sizes, grads).to_vector<float>(), grads.to_vector<float>());
}

// Ops that are elementwise and take inputs of one shape only keep a broadcast in front of them.
TEST(CompiledCalls, KeepTheShapesOfInputs) {
  const Tensor row = constant(std::vector<float>{1, 2, 3}), x = ones({2, 3});
  const Tensor dims = constant(std::vector<int32_t>{2, 3});
  for (const char* op : {"AddN", "ReluGrad", "TanhGrad"}) {
    const auto f = [&](const Tensor& t, const Tensor& y) {
      return raw_op(op, {raw_op("BroadcastTo", {t, dims})[0], y})[0];
    };
    EXPECT_EQ(function(f)(row, x).to_vector<float>(), f(row, x).to_vector<float>()) << op;
  }
  const auto unequal = [](const Tensor& a, const Tensor& b) {
    return raw_op("NotEqual", {a, b}, {{"incompatible_shape_error", false}})[0];
  };
  const Tensor narrow = zeros({2});
  const auto f =
      function([&](const Tensor& a, const Tensor& b) { return raw_op("LogicalNot", {unequal(a, b)})[0]; });
  EXPECT_EQ(f(x, narrow).shape(), Shape());
  EXPECT_FALSE(bool(f(x, narrow)));
}

// Bodies that say nothing of their arguments' ranks, as files have them.
TEST(BatchedCalls, OfControlFlowWithOpenRanks) {
  const Attrs branches{{"Tout", std::vector<DType>{DType::kFloat32}},
                       {"then_branch", test_body("add:float32")},
                       {"else_branch", test_body("same:float32")}};
  const Attrs loop{{"cond", test_body("below:float32")}, {"body", test_body("add:float32")}};
  const Tensor x = constant(std::vector<float>{1, 2, 2.5f});
  const Tensor y = vectorized_map(
      [&](const Tensor& e) {
        const Tensor one = constant(1);
        return raw_op("StatelessIf", {one, raw_op("StatelessWhile", {e}, loop)[0]}, branches)[0];
      },
      x);
  const auto got = y.data<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), (std::vector<float>{4, 4, 4.5f}));
}

}  // namespace
}  // namespace rw::test
