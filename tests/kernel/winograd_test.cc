// Winograd's convolutions against sums in float64: sizes that fill no tile, vector or panel; rows reported
// once; bits that do not depend on the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

class Host final : public KernelHost {
 public:
  View allocate_output(int, Shape) override { return {}; }
  void* scratch(size_t bytes) override {
    blocks_.push_back(std::make_unique<char[]>(bytes));
    // Whatever is read before it is written shows.
    std::memset(blocks_.back().get(), 0xff, bytes);
    return blocks_.back().get();
  }
  View variable(int) override { return {}; }
  void rows_done(int64_t begin, int64_t end) override {
    const std::lock_guard lock(mutex_);
    for (int64_t r = begin; r < end; ++r) ++reports.at(size_t(r));
  }
  std::vector<int> reports;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

struct Sizes {
  int64_t batch, height, width, in, out;
  int64_t top, bottom, left, right;  // padding
};

ConvCall call_of(const Sizes& s) {
  ConvCall call;
  call.window.batch = s.batch;
  call.window.channels = s.in;
  call.window.axes[0] = {s.height, 3, 1, 1, s.top, s.bottom, s.height + s.top + s.bottom - 2};
  call.window.axes[1] = {s.width, 3, 1, 1, s.left, s.right, s.width + s.left + s.right - 2};
  call.filter_in = s.in;
  call.out_channels = s.out;
  return call;
}

struct Arrays {
  std::vector<float> a, b;
  int64_t results, row;
};

Arrays arrays_of(ConvPass pass, const ConvCall& call) {
  const WindowCall& w = call.window;
  const int64_t in = w.batch * w.in_positions() * w.channels;
  const int64_t out = w.batch * w.out_positions() * call.out_channels;
  const int64_t filter = call.depth() * call.out_channels;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto draw = [&](int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    for (float& x : v) x = normal(random);
    return v;
  };
  switch (pass) {
    case ConvPass::kForward: return {draw(in), draw(filter), out, call.out_channels};
    case ConvPass::kInputGrad: return {draw(out), draw(filter), in, w.channels};
    default: return {draw(in), draw(out), filter, call.out_channels};
  }
}

class Runner {
 public:
  Host host;
  std::vector<float> winograd(ConvPass pass, const ConvCall& call, const Arrays& x) {
    std::vector<float> result(static_cast<size_t>(x.results), NAN);
    host.reports.assign(static_cast<size_t>(x.results / x.row), 0);
    EXPECT_TRUE(conv_winograd({context_, pass, call, x.a.data(), x.b.data(), result.data()}));
    return result;
  }
  std::vector<double> exact(ConvPass pass, const ConvCall& call, const Arrays& x) {
    const std::vector<double> a(x.a.begin(), x.a.end()), b(x.b.begin(), x.b.end());
    std::vector<double> result(static_cast<size_t>(x.results));
    conv_plain(DType::kFloat64, {context_, pass, call, a.data(), b.data(), result.data()});
    return result;
  }

 private:
  Attrs attrs_;
  KernelContext context_{find_op("Conv2D"), attrs_, {}, {}, cpu_device(), host, nullptr};
};

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kInputGrad, ConvPass::kFilterGrad};
constexpr Sizes kSizes[] = {
    {4, 18, 18, 16, 16, 0, 0, 0, 0},  {3, 21, 22, 20, 40, 1, 1, 1, 1},  {2, 33, 18, 17, 70, 1, 1, 1, 1},
    {9, 11, 27, 48, 33, 0, 2, 2, 0},  {2, 30, 30, 128, 96, 1, 1, 1, 1}, {1, 45, 50, 24, 150, 4, 0, 3, 5},
    {16, 24, 24, 32, 64, 0, 0, 0, 0},
};

TEST(Winograd, IsNearTheExactSum) {
  for (const Sizes& s : kSizes) {
    const ConvCall call = call_of(s);
    for (const ConvPass pass : kPasses) {
      Runner run;
      const Arrays x = arrays_of(pass, call);
      const std::vector<float> got = run.winograd(pass, call, x);
      const std::vector<double> want = run.exact(pass, call, x);
      double square = 0, worst = 0, error = 0;
      for (size_t i = 0; i < want.size(); ++i) {
        const double e = std::fabs(double(got[i]) - want[i]);
        ASSERT_FALSE(std::isnan(e)) << i;
        square += want[i] * want[i];
        error += e * e;
        worst = std::max(worst, e);
      }
      const double scale = std::sqrt(square / double(want.size()));
      const std::string what = "pass " + std::to_string(int(pass)) + ", " + std::to_string(s.in) +
                               " channels to " + std::to_string(s.out);
      EXPECT_LT(worst, 2e-5 * scale) << what;
      EXPECT_LT(std::sqrt(error / double(want.size())), 2e-6 * scale) << what;
      if (pass == ConvPass::kFilterGrad) continue;
      for (size_t r = 0; r < run.host.reports.size(); ++r) ASSERT_EQ(run.host.reports[r], 1) << r;
    }
  }
}

TEST(Winograd, BitsDoNotDependOnThreads) {
  for (const Sizes& s : kSizes) {
    const ConvCall call = call_of(s);
    for (const ConvPass pass : kPasses) {
      const Arrays x = arrays_of(pass, call);
      Runner run;
      set_num_threads(1);
      const std::vector<float> one = run.winograd(pass, call, x);
      for (const int threads : {2, 3, 7}) {
        set_num_threads(threads);
        EXPECT_EQ(run.winograd(pass, call, x), one) << threads;
      }
      set_num_threads(0);
    }
  }
}

TEST(Winograd, IsForFiltersOfThreeByThreeAndManyChannels) {
  const auto takes = [](const ConvCall& call) {
    Host host;
    const Attrs attrs;
    KernelContext context{find_op("Conv2D"), attrs, {}, {}, cpu_device(), host, nullptr};
    const Arrays x = arrays_of(ConvPass::kForward, call);
    std::vector<float> result(static_cast<size_t>(x.results));
    host.reports.resize(result.size());
    return conv_winograd({context, ConvPass::kForward, call, x.a.data(), x.b.data(), result.data()});
  };
  EXPECT_TRUE(takes(call_of({4, 18, 18, 16, 16, 0, 0, 0, 0})));
  EXPECT_FALSE(takes(call_of({4, 18, 18, 3, 16, 0, 0, 0, 0})));
  EXPECT_FALSE(takes(call_of({1, 6, 6, 16, 16, 0, 0, 0, 0})));
  ConvCall strided = call_of({4, 19, 19, 16, 16, 0, 0, 0, 0});
  for (WindowAxis& axis : strided.window.axes) axis.stride = 2, axis.out = 9;
  strided.window.axes[2] = {};
  EXPECT_FALSE(takes(strided));
  ConvCall grouped = call_of({4, 18, 18, 32, 32, 0, 0, 0, 0});
  grouped.filter_in = 16;
  EXPECT_FALSE(takes(grouped));
}

}  // namespace
}  // namespace rw
