// Public convolutions, pools and resizing: arguments in all their forms, and mistakes.
#include <gtest/gtest.h>

#include "rewind/autodiff/batching.h"
#include "rewind/device/parallel.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

Tensor ramp(const Shape& shape, DType dtype = DType::kFloat32) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int(i * 37 % 23) - 11) / 8;
  return constant(values, shape, dtype);
}

Tensor row(const Tensor& t, int64_t i) {
  const Tensor begin = constant(std::vector<int64_t>{i});
  const Tensor end = constant(std::vector<int64_t>{i + 1});
  const Tensor step = constant(std::vector<int64_t>{1});
  return apply_one(RW_OP("StridedSlice"), {&t, &begin, &end, &step}, {{"shrink_axis_mask", 1}});
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidArgumentError& e) { return e.what(); }
  return "";
}

TEST(Conv, StridesAndPaddingTakeEveryForm) {
  const Tensor x = ramp({1, 6, 6, 2});
  const Tensor w = ramp({3, 3, 2, 4});
  const Tensor y = nn::conv2d(x, w, 2, "SAME");
  EXPECT_EQ(y.shape(), (Shape{1, 3, 3, 4}));
  expect_equal(nn::conv2d(x, w, {2, 2}, "SAME"), y);
  expect_equal(nn::conv2d(x, w, {1, 2, 2, 1}, "SAME"), y);
  expect_equal(nn::conv2d(x, w, 2, {{0, 0}, {0, 1}, {0, 1}, {0, 0}}), y);
  EXPECT_EQ(nn::conv2d(x, w, 1, "VALID", {.dilations = 2}).shape(), (Shape{1, 2, 2, 4}));
}

TEST(Conv, ChannelsFirstIsTheTranspose) {
  const Tensor x = ramp({2, 5, 6, 3});
  const Tensor w = ramp({3, 2, 3, 4});
  const Tensor to_first = constant({0, 3, 1, 2});
  const auto first = [&](const Tensor& t) { return apply_one(RW_OP("Transpose"), {&t, &to_first}); };
  expect_equal(nn::conv2d(first(x), w, 1, "SAME", {.data_format = "NCHW"}),
               first(nn::conv2d(x, w, 1, "SAME")));
  expect_equal(nn::max_pool(first(x), 2, 2, "VALID", "NCHW"), first(nn::max_pool(x, 2, 2, "VALID")));
}

TEST(Conv, OneDimensionIsALiftedSecond) {
  const Tensor x = ramp({2, 7, 3});
  const Tensor w = ramp({3, 3, 4});
  const Tensor y = nn::conv1d(x, w, 2, "VALID");
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(nn::convolution(x, w).shape(), (Shape{2, 5, 4}));
  EXPECT_EQ(nn::conv1d_transpose(y, w, {2, 7, 3}, 2, "VALID").shape(), (Shape{2, 7, 3}));
  EXPECT_EQ(nn::max_pool1d(x, 2, 2, "SAME").shape(), (Shape{2, 4, 3}));
}

TEST(Conv, ExtraBatchAxes) {
  const Tensor x = ramp({2, 3, 5, 5, 1});
  EXPECT_EQ(nn::conv2d(x, ramp({2, 2, 1, 3}), 1, "VALID").shape(), (Shape{2, 3, 4, 4, 3}));
}

TEST(Conv, BitsDoNotDependOnThreads) {
  const Tensor x = ramp({13, 20, 21, 16});
  const Tensor w = ramp({3, 3, 16, 24});
  const auto run = [&] {
    GradientTape tape;
    tape.watch(std::vector<Tensor>{x, w});
    const Tensor y = nn::conv2d(x, w, 1, "SAME");
    const std::vector<Tensor> sources{x, w};
    const auto grads = tape.gradient(y * y, sources);
    return std::vector<Tensor>{y, grads[0], grads[1]};
  };
  const auto many = run();
  set_num_threads(1);
  const auto one = run();
  set_num_threads(0);
  for (size_t i = 0; i < 3; ++i) expect_equal(many[i], one[i]);
}

TEST(Conv, BatchedOverInputsOrFilters) {
  const Tensor xs = ramp({3, 2, 5, 5, 2});
  const Tensor ws = ramp({3, 2, 2, 2, 4});
  const Tensor a = vectorized_map([&](const Tensor& x) { return nn::conv2d(x, row(ws, 0), 1, "VALID"); }, xs);
  const Tensor b = vectorized_map([&](const Tensor& w) { return nn::conv2d(row(xs, 0), w, 1, "VALID"); }, ws);
  for (int i = 0; i < 3; ++i) {
    const Tensor wanted_a = nn::conv2d(row(xs, i), row(ws, 0), 1, "VALID");
    const Tensor wanted_b = nn::conv2d(row(xs, 0), row(ws, i), 1, "VALID");
    for (size_t j = 0; j < 10; ++j) {
      EXPECT_NEAR(row(a, i).to_vector<float>()[j], wanted_a.to_vector<float>()[j], 1e-4);
      EXPECT_NEAR(row(b, i).to_vector<float>()[j], wanted_b.to_vector<float>()[j], 1e-4);
    }
  }
}

// Windows that touch, overlap or leave gaps, at borders and inside.
TEST(Conv, GradientOfMaxPoolGoesToTheFirstMaximum) {
  for (const int64_t size : {1, 2, 3})
    for (const int64_t stride : {1, 2, 3, 4})
      for (const int i : {0, 1, 2, 3}) {
        const char* const padding = i % 2 ? "SAME" : "VALID";
        const int64_t height = i < 2 ? 9 : 12, width = i < 2 ? 8 : 12, channels = 3;
        const Tensor x = ramp({2, height, width, channels});
        const Tensor y = nn::max_pool(x, size, stride, padding);
        const Tensor g = ramp(y.shape());
        const Attrs attrs{{"ksize", std::vector<int64_t>{1, size, size, 1}},
                          {"strides", std::vector<int64_t>{1, stride, stride, 1}},
                          {"padding", padding}};
        const Tensor got = apply_one(RW_OP("MaxPoolGrad"), {&x, &y, &g}, attrs);
        const auto xs = x.to_vector<float>(), gs = g.to_vector<float>();
        std::vector<float> want(xs.size(), 0);
        const int64_t out_height = y.shape()[1], out_width = y.shape()[2];
        const auto before = [&](int64_t in, int64_t out) {
          const bool same = std::string(padding) == "SAME";
          return same ? std::max<int64_t>(0, (out - 1) * stride + size - in) / 2 : 0;
        };
        for (int64_t n = 0; n < 2; ++n)
          for (int64_t oy = 0; oy < out_height; ++oy)
            for (int64_t ox = 0; ox < out_width; ++ox)
              for (int64_t c = 0; c < channels; ++c) {
                int64_t best = -1;
                for (int64_t i = 0; i < size * size; ++i) {
                  const int64_t iy = oy * stride - before(height, out_height) + i / size;
                  const int64_t ix = ox * stride - before(width, out_width) + i % size;
                  if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
                  const int64_t at = ((n * height + iy) * width + ix) * channels + c;
                  if (best < 0 || xs[size_t(at)] > xs[size_t(best)]) best = at;
                }
                want[size_t(best)] += gs[size_t(((n * out_height + oy) * out_width + ox) * channels + c)];
              }
        EXPECT_EQ(got.to_vector<float>(), want) << size << " " << stride << " " << padding;
      }
}

TEST(Conv, MistakesNameTheRule) {
  const Tensor x = ramp({1, 4, 4, 3});
  EXPECT_NE(message_of([&] {
              nn::conv2d(x, ramp({2, 2, 2, 4}), 1, "VALID");
            }).find("multiple of the filter's input"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              nn::conv2d(x, ramp({6, 2, 3, 4}), 1, "VALID");
            }).find("must fit into the padded input"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { nn::conv2d(x, ramp({2, 2, 3, 4}), {1, 2, 3}, "VALID"); }).find("strides must have"),
      std::string::npos);
}

TEST(Image, Resize) {
  const Tensor x = constant({{{1.0}, {2.0}}, {{3.0}, {4.0}}});
  EXPECT_EQ(image::resize(x, {4, 4}).shape(), (Shape{4, 4, 1}));
  EXPECT_EQ(image::resize(x, {1, 2}, {.method = "nearest"}).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(image::resize(ramp({1, 4, 8, 1}), {8, 8}, {.preserve_aspect_ratio = true}).shape(),
            (Shape{1, 4, 8, 1}));
}

}  // namespace
}  // namespace rw
