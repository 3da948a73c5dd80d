// Tapes and accumulators listen to the thread that made them. Others are refused while they do; any thread
// may destroy them, and the thread that they listen to goes on unharmed.
#include <gtest/gtest.h>

#include <thread>

#include "rewind/autodiff/forward_accumulator.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

template <class F>
void elsewhere(F f) {
  std::thread(f).join();
}

TEST(GradientTapeThreads, UseWhileItRecordsIsRefused) {
  const Tensor x = constant(3.0f);
  const Variable v(2.0);
  for (const bool persistent : {false, true}) {
    GradientTape tape({.persistent = persistent});
    tape.watch(x);
    const Tensor y = x * x * v;
    elsewhere([&] {
      const char* part = "records the ops of another thread; call stop() on that thread";
      expect_error<FailedPreconditionError>([&] { tape.gradient(y, x); }, part);
      expect_error<FailedPreconditionError>([&] { tape.watch(x); }, part);
      expect_error<FailedPreconditionError>([&] { tape.watch(v); }, part);
      expect_error<FailedPreconditionError>([&] { tape.stop(); }, part);
      expect_error<FailedPreconditionError>([&] { tape.reset(); }, part);
      expect_error<FailedPreconditionError>([&] { tape.watched_variables(); }, part);
      expect_error<FailedPreconditionError>([&] { tape.stop_recording([] {}); }, part);
      expect_error<FailedPreconditionError>([&] { tape.jacobian(y, x); }, part);
    });
    EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 12.0f);
  }
}

TEST(GradientTapeThreads, BehindStopAnyThreadMayUseIt) {
  const Tensor x = constant(3.0f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  tape.stop();
  for (int i = 0; i < 3; ++i) elsewhere([&] { EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 6.0f); });
  EXPECT_EQ(Tensor(tape.gradient(y, x)).item<float>(), 6.0f);
}

TEST(GradientTapeThreads, ATapeWhoseThreadHasEnded) {
  const Tensor x = constant(3.0f);
  std::unique_ptr<GradientTape> tape;
  Tensor y;
  elsewhere([&] {
    tape = std::make_unique<GradientTape>();
    tape->watch(x);
    y = x * x;
  });
  EXPECT_EQ(Tensor(tape->gradient(y, x)).item<float>(), 6.0f);
  elsewhere([&] { tape = std::make_unique<GradientTape>(); });
  tape.reset();
  elsewhere([&] { tape = std::make_unique<GradientTape>(); });
  elsewhere([&] { tape.reset(); });
}

// The thread that it listened to goes on, with tapes outside, inside and behind it.
TEST(GradientTapeThreads, DestroyedByAnotherThread) {
  const Tensor x = constant(3.0f);
  for (int round = 0; round < 50; ++round) {
    GradientTape outer;
    outer.watch(x);
    auto lost = std::make_unique<GradientTape>();
    lost->watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor before = x * x;
    elsewhere([&] { lost.reset(); });
    const Tensor y = before * x;
    GradientTape later;
    later.watch(x);
    const Tensor z = x * 5.0f;
    EXPECT_EQ(Tensor(later.gradient(z, x)).item<float>(), 5.0f);
    EXPECT_EQ(Tensor(inner.gradient(y, x)).item<float>(), 27.0f);
    EXPECT_EQ(Tensor(outer.gradient(y, x)).item<float>(), 27.0f);
  }
}

TEST(GradientTapeThreads, WhatItRecordedGoes) {
  const Variable big(zeros({1 << 20}));
  const int64_t before = memory::stats().current;
  auto lost = std::make_unique<GradientTape>();
  {
    Tensor y = big.value();
    for (int i = 0; i < 4; ++i) y = sin(y * 2.0f);
  }
  EXPECT_GT(memory::stats().current, before + (1 << 22));
  elsewhere([&] { lost.reset(); });
  constant(1.0f) * constant(2.0f);  // the next op of this thread
  EXPECT_LT(memory::stats().current, before + (1 << 20));
}

TEST(GradientTapeThreads, DestroyedWhileItsThreadWorks) {
  for (int round = 0; round < 20; ++round) {
    auto lost = std::make_unique<GradientTape>();
    std::thread other([&] { lost.reset(); });
    const Tensor x = constant(2.0f);
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = y * x;
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(Tensor(tape.gradient(x * x, x)).item<float>(), 4.0f);
    other.join();
  }
}

TEST(GradientTapeThreads, EachThreadHasItsOwn) {
  const Variable v(2.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        GradientTape tape;
        const Tensor y = v * v * float(t);
        EXPECT_EQ(Tensor(tape.gradient(y, v)).item<float>(), 4.0f * float(t));
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(GradientTapeThreads, AccumulatorsToo) {
  const Tensor x = constant(3.0f);
  auto acc = std::make_unique<ForwardAccumulator>(x, constant(1.0f));
  const Tensor y = x * x;
  elsewhere([&] {
    expect_error<FailedPreconditionError>([&] { acc->jvp(y); }, "listens to the ops of another thread");
  });
  EXPECT_EQ(Tensor(acc->jvp(y)).item<float>(), 6.0f);
  elsewhere([&] { acc.reset(); });
  EXPECT_EQ((x * x).item<float>(), 9.0f);
}

}  // namespace
}  // namespace rw
