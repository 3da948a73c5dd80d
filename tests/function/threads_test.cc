// Many threads call one function at once: traces, programs and frames are made once or kept apart, and
// variables are updated without loss. Meant for the thread sanitizer.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

constexpr int kThreads = 8;

// Runs body(thread) on all threads, which start together; gives the first error.
template <class Body>
void on_threads(Body body) {
  std::barrier start(kThreads);
  std::vector<std::string> errors(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        body(t);
      } catch (const std::exception& e) { errors[size_t(t)] = e.what(); }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

std::vector<float> ramp(int n, float first) {
  std::vector<float> v;
  for (int i = 0; i < n; ++i) v.push_back(first + float(i));
  return v;
}

TEST(FunctionThreads, FirstCallsTraceOnce) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> traces{0};
    const auto f = function([&](Tensor x) {
      ++traces;
      return reduce_sum(tanh(x) * x + 1.0);
    });
    const Tensor x = constant(ramp(100, 0));
    const float want = reduce_sum(tanh(x) * x + 1.0).item<float>();
    on_threads([&](int) {
      const float got = f(x).item<float>();
      EXPECT_EQ(got, want);
    });
    EXPECT_EQ(traces, 1);
    EXPECT_EQ(f.tracing_count(), 1);
  }
}

TEST(FunctionThreads, SeveralSignaturesAtOnce) {
  const auto f = function([](Tensor x, int power) {
    Tensor y = x;
    for (int i = 1; i < power; ++i) y = y * x;
    return y;
  });
  on_threads([&](int t) {
    for (int i = 0; i < 40; ++i) {
      const int n = 1 + (t + i) % 4, power = 1 + i % 3;
      const std::vector<float> values = ramp(n, float(t));
      const std::vector<float> got = f(constant(values), power).to_vector<float>();
      for (size_t k = 0; k < values.size(); ++k) {
        float want = values[k];
        for (int p = 1; p < power; ++p) want *= values[k];
        EXPECT_EQ(got[k], want);
      }
    }
  });
  EXPECT_EQ(f.tracing_count(), 12);
}

// One trace, many Programs, more than the cache keeps.
TEST(FunctionThreads, ShapesOfOneTrace) {
  const auto f = function([](Tensor x) { return reduce_sum(x * 2.0); },
                          {.input_signature = std::vector<TensorSpec>{{Shape{-1}, float32}}});
  on_threads([&](int t) {
    for (int i = 0; i < 60; ++i) {
      const int n = 1 + (7 * t + i) % 30;
      const float want = float(n * (n - 1));
      EXPECT_EQ(f(constant(ramp(n, 0))).item<float>(), want);
    }
  });
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(FunctionThreads, UpdatesAreNotLost) {
  const Variable total(zeros({64}));
  const auto add = function([&](Tensor x) {
    total.assign_add(x);
    return reduce_sum(x);
  });
  constexpr int kCalls = 50;
  on_threads([&](int t) {
    const Tensor x = fill({64}, float(t + 1));
    for (int i = 0; i < kCalls; ++i) EXPECT_EQ(add(x).item<float>(), 64.f * float(t + 1));
  });
  EXPECT_EQ(total.to_vector<float>(), std::vector<float>(64, float(kCalls * kThreads * (kThreads + 1) / 2)));
}

TEST(FunctionThreads, ReadsDuringUpdates) {
  const Variable v(zeros({1000}));
  const auto step = function([&](Tensor by) {
    const Tensor before = v.value();
    v.assign(before + by);
    // All elements of a snapshot come from one write.
    return std::pair<Tensor, Tensor>(reduce_min(before), reduce_max(before));
  });
  const Tensor one = ones({1000});
  on_threads([&](int) {
    for (int i = 0; i < 50; ++i) {
      const auto [low, high] = step(one);
      EXPECT_EQ(low.item<float>(), high.item<float>());
    }
  });
}

TEST(FunctionThreads, GradientsOnEveryThread) {
  const Variable w(constant({2.0f, 3.0f}));
  const auto f = function([&](Tensor x) { return reduce_sum(w * w * x); });
  on_threads([&](int t) {
    const Tensor x = constant(float(t + 1));
    for (int i = 0; i < 20; ++i) {
      GradientTape tape;
      const Tensor y = f(x);
      const float k = 2 * float(t + 1);
      EXPECT_EQ(tape.gradient(y, w).tensor().to_vector<float>(), (std::vector<float>{2 * k, 3 * k}));
    }
  });
  EXPECT_EQ(f.tracing_count(), 1);
}

TEST(FunctionThreads, FunctionsThatCallEachOther) {
  const auto inner = function([](Tensor x) { return x * 2.0; });
  const auto outer = function([&](Tensor x) { return inner(x) + inner(x + 1.0); });
  on_threads([&](int t) {
    for (int i = 0; i < 20; ++i) {
      const float x = float(t * 20 + i);
      if (t % 2) EXPECT_EQ(outer(constant(x)).item<float>(), 4 * x + 2);
      else EXPECT_EQ(inner(constant(x)).item<float>(), 2 * x);
    }
  });
}

}  // namespace
}  // namespace rw
