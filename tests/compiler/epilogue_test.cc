// Kernels with elementwise groups behind them: one instruction where one reads the other's rows alone, and
// the bits of the separate ops.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "rewind/rewind.h"
#include "tests/compiler/building.h"

namespace rw::test {
namespace {

TEST(Epilogue, BiasAndActivationBehindConvolutions) {
  SKIP_WITHOUT_NATIVE_CODE;
  // By Winograd's algorithm, by oneDNN or plain loops, and with one channel.
  for (const int64_t channels : {32, 5, 1}) {
    Building b;
    const ValueId x = b.argument({3, 19, 18, channels}), w = b.argument({3, 3, channels, 24});
    const ValueId y = b.op("Relu", {b.op("BiasAdd", {b.conv(x, w), b.argument({24})})});
    b.graph.outputs = {b.op("Tanh", {y})};
    EXPECT_TRUE(contains(b.compiled(), "kernel Conv2D [AddV2 Relu Tanh]")) << b.compiled();
  }
}

// Products of every way: direct, by panels or a library, tiny; and with a reshape that keeps the rows.
TEST(Epilogue, BiasAndActivationBehindProducts) {
  SKIP_WITHOUT_NATIVE_CODE;
  struct Sizes {
    int64_t m, n, k;
  };
  for (const auto [m, n, k] : {Sizes{100, 36, 50}, {60, 10, 70}, {4, 6, 5}, {48, 2100, 40}, {36, 30, 2100}})
    for (const bool reshaped : {false, true}) {
      SCOPED_TRACE(std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k) +
                   (reshaped ? " reshaped" : ""));
      Building b;
      ValueId y = b.op("MatMul", {b.argument({m, k}), b.argument({k, n})});
      if (reshaped) {
        auto sizes = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{m / 4, 4, n});
        const HostTensor to{DType::kInt64, Shape{3}, std::shared_ptr<const void>(sizes, sizes->data())};
        y = b.op("Reshape", {y, b.graph.add_constant(to)});
      }
      b.graph.outputs = {b.op("Relu", {b.op("AddV2", {y, b.argument({n})})})};
      const std::string text = b.compiled();
      EXPECT_TRUE(contains(text, "kernel MatMul [AddV2 Relu]")) << text;
    }
}

// A reshape that cuts rows ends them.
TEST(Epilogue, OtherRowsStayApart) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId y = b.op("MatMul", {b.argument({20, 30}), b.argument({30, 40})});
  auto sizes = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{20, 4, 10});
  const HostTensor to{DType::kInt64, Shape{3}, std::shared_ptr<const void>(sizes, sizes->data())};
  const ValueId cut = b.op("Reshape", {y, b.graph.add_constant(to)});
  b.graph.outputs = {b.op("Relu", {b.op("AddV2", {cut, b.argument({10})})})};
  EXPECT_FALSE(contains(b.compiled(), "MatMul ["));
}

TEST(Epilogue, TwoResults) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId y =
      b.op("BiasAdd", {b.conv(b.argument({3, 19, 18, 16}), b.argument({3, 3, 16, 24})), b.argument({24})});
  b.graph.outputs = {b.op("Sigmoid", {y}), b.op("Exp", {y})};
  EXPECT_TRUE(contains(b.compiled(), "kernel Conv2D [AddV2 ")) << b.compiled();
}

// The kernel's rows lie in the memory of the first result, which can be had before they are read.
TEST(Epilogue, AResultThatNeedsNoRows) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const Shape image{3, 19, 18, 24};
  const ValueId first = b.op("Mul", {b.argument(image), b.argument(image)});
  const ValueId y = b.conv(b.argument({3, 19, 18, 16}), b.argument({3, 3, 16, 24}));
  b.graph.outputs = {first, b.op("Tanh", {b.op("AddV2", {b.op("Mul", {first, b.argument(image)}), y})})};
  EXPECT_TRUE(contains(b.compiled(), "kernel Conv2D [Mul Mul AddV2 Tanh]")) << b.compiled();
}

TEST(Epilogue, GradientsOfActivations) {
  SKIP_WITHOUT_NATIVE_CODE;
  for (const int64_t size : {2, 3}) {  // windows that touch, windows that overlap
    Building b;
    const ValueId h = b.argument({3, 19, 19, 24});
    const Attrs pool{{"ksize", std::vector<int64_t>{1, size, size, 1}},
                     {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                     {"padding", "VALID"}};
    const ValueId p = b.op("MaxPool", {h}, pool);
    const ValueId g = b.argument({3, 9, 9, 24});
    const ValueId dh = b.op("ReluGrad", {b.op("MaxPoolGrad", {h, p, g}, pool), h});
    const ValueId w = b.argument({3, 3, 16, 24}), x = b.argument({3, 19, 19, 16});
    auto sizes = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{3, 19, 19, 16});
    const ValueId input_sizes =
        b.graph.add_constant({DType::kInt32, Shape{4}, std::shared_ptr<const void>(sizes, sizes->data())});
    const ValueId dx = b.op("Conv2DBackpropInput", {input_sizes, w, dh},
                            {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "SAME"}});
    b.graph.outputs = {b.op("ReluGrad", {dx, x}), dh};
    const std::string text = b.compiled();
    EXPECT_TRUE(contains(text, "kernel MaxPoolGrad [ReluGrad]")) << text;
    EXPECT_TRUE(contains(text, "kernel Conv2DBackpropInput [ReluGrad]")) << text;
  }
}

// A result that others read, or that the graph returns, is stored as it is.
TEST(Epilogue, OnlyBehindAResultWithOneReader) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId y = b.conv(b.argument({3, 19, 18, 16}), b.argument({3, 3, 16, 24}));
  b.graph.outputs = {b.op("Relu", {y}), y};
  EXPECT_FALSE(contains(b.compiled(), "Conv2D ["));
}

// Operands that vary along some of the axes in front of the channels make another nest of loops.
TEST(Epilogue, OperandsByImageStayApart) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId y = b.conv(b.argument({3, 19, 18, 16}), b.argument({3, 3, 16, 24}));
  b.graph.outputs = {b.op("Relu", {b.op("Mul", {y, b.argument({3, 1, 1, 24})})})};
  EXPECT_FALSE(contains(b.compiled(), "Conv2D ["));
}

TEST(Epilogue, TwoKernelsMeet) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId x = b.argument({3, 19, 18, 16});
  const ValueId y = b.conv(x, b.argument({3, 3, 16, 24})), z = b.conv(x, b.argument({3, 3, 16, 24}));
  b.graph.outputs = {b.op("Relu", {b.op("AddV2", {y, z})})};
  EXPECT_TRUE(contains(b.compiled(), "kernel Conv2D [AddV2 Relu]")) << b.compiled();
}

// Any group behind any kernel that reports rows.
TEST(Epilogue, RandomGroups) {
  SKIP_WITHOUT_NATIVE_CODE;
  int fused = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](size_t n) { return size_t(random() % n); };
    Building b;
    const int64_t channels = std::array<int64_t, 4>{24, 16, 3, 33}[draw(4)];
    const Shape image{3, 17, 18, channels};
    ValueId y;
    if (draw(3) == 0) {
      const Attrs pool{{"ksize", std::vector<int64_t>{1, 2, 2, 1}},
                       {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                       {"padding", draw(2) ? "SAME" : "VALID"}};
      const ValueId h = b.argument(image), p = b.op("MaxPool", {h}, pool);
      y = b.op("MaxPoolGrad", {h, p, b.op("Neg", {p})}, pool);
    } else {
      const int64_t from = draw(2) ? 16 : 2;
      y = b.conv(b.argument({3, 17, 18, from}), b.argument({3, 3, from, channels}));
    }
    std::vector<ValueId> values{b.argument(image), b.argument({channels}), b.argument({3, 17, 18, 1})};
    const size_t first = values.size(), n = 1 + draw(6), reader = draw(n);  // op `reader` is y's first
    for (size_t k = 0; k < n; ++k) {
      if (k == reader) values.push_back(y);
      static constexpr const char* kUnary[] = {"Relu", "Tanh", "Neg", "Sigmoid", "Square"};
      static constexpr const char* kBinary[] = {"AddV2", "Mul", "Maximum", "Sub"};
      const ValueId x = k == reader ? y : values[draw(2) ? values.size() - 1 : draw(values.size())];
      const bool unary = draw(2) == 0;
      values.push_back(unary ? b.op(kUnary[draw(5)], {x})
                             : b.op(kBinary[draw(4)], {x, values[draw(values.size())]}));
    }
    b.graph.outputs = {values.back()};
    for (size_t k = first; k + 1 < values.size(); ++k)
      if (values[k] != y && draw(4) == 0) b.graph.outputs.push_back(values[k]);
    if (draw(10) == 0) b.graph.outputs.push_back(y);
    const std::string text = b.compiled();
    fused += contains(text, "kernel Conv2D [") || contains(text, "kernel MaxPoolGrad [");
    if (HasFailure()) FAIL() << "seed " << seed << ":\n" << text;
  }
  EXPECT_GT(fused, 20);
}

// Dense layers over sequences, and their gradients: plain products, with their readers behind their rows.
TEST(Epilogue, EinsumsThatAreProducts) {
  SKIP_WITHOUT_NATIVE_CODE;
  struct Case {
    const char* equation;
    Shape a, b;
    bool product;
  };
  for (const Case& c :
       {Case{"abc,cd->abd", {3, 20, 24}, {24, 36}, true}, Case{"abc,dc->abd", {3, 20, 24}, {36, 24}, true},
        Case{"abc,abd->cd", {3, 20, 24}, {3, 20, 36}, true},
        Case{"abd,abc->cd", {3, 20, 36}, {3, 20, 24}, true},
        Case{"abcd,cde->abe", {3, 20, 4, 6}, {4, 6, 32}, true},
        Case{"abc,cd->adb", {3, 20, 24}, {24, 36}, false},
        Case{"abc,bcd->bad", {30, 4, 24}, {4, 24, 36}, false}}) {
    SCOPED_TRACE(c.equation);
    Building b;
    b.graph.outputs = {b.op("Tanh", {b.op("Einsum", {b.argument(c.a), b.argument(c.b)},
                                          {{"equation", std::string(c.equation)}})})};
    const std::string text = b.compiled();
    EXPECT_EQ(contains(text, "kernel MatMul [Tanh]"), c.product) << text;
    const bool batched = std::string(c.equation) == "abc,bcd->bad";
    EXPECT_EQ(contains(text, "Einsum"), !c.product && !batched) << text;
    EXPECT_EQ(contains(text, "BatchMatMulV2"), batched) << text;
  }
}

// The kernel of Einsum multiplies the same matrices.
TEST(Epilogue, EinsumsOfBatchesGiveTheSameBits) {
  struct Case {
    const char* equation;
    std::vector<int64_t> a, b;
  };
  for (const Case& c :
       {Case{"BTNH,BSNH->BNTS", {2, 17, 3, 8}, {2, 19, 3, 8}},
        Case{"BNTS,BSNH->BTNH", {2, 3, 17, 19}, {2, 19, 3, 8}}, Case{"bij,bjk->bik", {4, 9, 33}, {4, 33, 7}},
        Case{"bij,bkj->bki", {4, 9, 33}, {4, 7, 33}}, Case{"bji,bjk->bik", {4, 33, 9}, {4, 33, 7}},
        Case{"abc,bcd->bad", {30, 4, 24}, {4, 24, 36}}, Case{"abcd,bced->aeb", {5, 2, 3, 4}, {2, 3, 6, 4}},
        Case{"abcd,bdce->aeb", {5, 2, 3, 4}, {2, 4, 3, 6}}, Case{"xby,byz->zbx", {6, 1, 5}, {1, 5, 3}},
        Case{"bxiy,biyz->bzx", {2, 6, 3, 5}, {2, 3, 5, 4}}}) {
    SCOPED_TRACE(c.equation);
    const Tensor a = random::stateless_normal(Shape(c.a), constant({1, 2})),
                 b = random::stateless_normal(Shape(c.b), constant({3, 4}));
    const Tensor want = einsum(c.equation, {a, b});
    const auto f = function([&](const Tensor& x, const Tensor& y) { return einsum(c.equation, {x, y}); });
    EXPECT_EQ(f(a, b).to_vector<float>(), want.to_vector<float>());
    EXPECT_EQ(f(a, b).shape(), want.shape());
  }
}

// A rate that is computed from the step's number, in a fused group, holds up no update.
TEST(UpdateEarly, BehindSmallGroups) {
  SKIP_WITHOUT_NATIVE_CODE;
  Building b;
  const ValueId weights = b.graph.add_argument(DType::kResource, {});
  const ValueId step = b.argument({}), x = b.argument({40, 40});
  const ValueId gradient = b.op("MatMul", {x, x});
  const ValueId later = b.op("MatMul", {gradient, x});
  const ValueId rate = b.op("Exp", {b.op("Neg", {step})});
  b.graph.add_node(find_op("ResourceApplyGradientDescent"), {},
                   std::vector<ValueId>{weights, rate, gradient});
  b.graph.outputs = {later};
  const Graph early = update_early(fuse(b.graph));
  EXPECT_FALSE(early.nodes().back().op->stateful) << early.to_string();
  EXPECT_TRUE(contains(early.to_string(), "_Fused")) << early.to_string();
}

}  // namespace
}  // namespace rw::test
