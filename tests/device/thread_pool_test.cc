// The pool runs a job once on every helper that begins, and leaves nobody waiting.
#include "rewind/device/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/device/serial_scope.h"

namespace rw {
namespace {

TEST(ThreadPool, TheCallerAndWhoBeginsRunTheJobOnce) {
  ThreadPool pool;
  for (int round = 0; round < 3000; ++round) {
    const int helpers = round % 5;
    std::vector<std::atomic<int>> hits(5);
    const int began = pool.run(helpers, [&](int i) { ++hits[size_t(i)]; });
    ASSERT_EQ(hits[0], 1);
    int ran = 0;
    for (int i = 1; i < 5; ++i) {
      ASSERT_LE(hits[size_t(i)], i <= helpers ? 1 : 0);
      ran += hits[size_t(i)];
    }
    ASSERT_EQ(ran, began);
  }
}

TEST(ThreadPool, SleepingHelpersComeToLongWork) {
  ThreadPool pool;
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> here{0};
    // Nobody goes on before all are inside, so this ends only if every helper comes.
    const int began = pool.run(2, [&](int) {
      ++here;
      while (here < 3) std::this_thread::yield();
    });
    EXPECT_EQ(began, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(ThreadPool, CallersHaveHelpersOfTheirOwn) {
  ThreadPool pool;
  std::atomic<int> ready{0};
  pool.run(3, [&](int) {  // three helpers exist from here on
    ++ready;
    while (ready < 4) std::this_thread::yield();
  });
  std::atomic<int> inside{0};
  const auto caller = [&] {
    pool.run(1, [&](int) {
      ++inside;
      while (inside < 4) std::this_thread::yield();
    });
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(inside, 4);
}

TEST(ThreadPool, CallersFromSeveralThreads) {
  ThreadPool pool;
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        std::atomic<int> next{0};
        pool.run(3, [&](int) {
          for (int i = next++; i < 8; i = next++) sum += i;
        });
      }
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 6 * 500 * 28);
}

TEST(ThreadPool, AfterTheEndTheCallerRunsAlone) {
  ThreadPool pool;
  std::atomic<int> calls{0};
  pool.run(2, [&](int) { ++calls; });
  pool.stop();
  calls = 0;
  EXPECT_EQ(pool.run(2, [&](int) { ++calls; }), 0);
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, EndsWhileOthersCompute) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool;
    std::atomic<bool> done{false};
    std::vector<std::thread> callers;
    for (int t = 0; t < 2; ++t)
      callers.emplace_back([&] {
        while (!done) pool.run(2, [](int) {});
      });
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    pool.stop();
    done = true;
    for (std::thread& t : callers) t.join();
  }
}

#if !defined(__SANITIZE_THREAD__)
// A child has the memory of its parent, but only the thread that forked.
TEST(Parallel, ChildOfAForkComputes) {
  std::atomic<int64_t> count{0};
  const auto loop = [&] {
    parallel_for(100000, 100, [&](int64_t begin, int64_t end) { count += end - begin; });
  };
  loop();
  // A helper that is only starting may hold locks of the system's (or of a sanitizer's), which a child never
  // gets.
  std::atomic<bool> helped{false};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 2000 && !helped; ++i) {
    parallel_for(100000, 100, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) helped = true;
    });
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    loop();
    std::thread other(loop);
    other.join();
    _exit(count == 300000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  loop();
  EXPECT_EQ(count, 200000);
}
#endif

TEST(Parallel, EveryIndexOnceAndTheFirstError) {
  const int before = num_threads();
  for (const int threads : {1, 2, 7}) {
    set_num_threads(threads);
    for (int round = 0; round < 40; ++round) {  // until its cost is known, and after
      std::vector<std::atomic<int>> hits(10007);
      parallel_for(10007, 64, [&](int64_t begin, int64_t end) {
        EXPECT_TRUE(begin % 64 == 0);
        for (int64_t i = begin; i < end; ++i) ++hits[size_t(i)];
      });
      for (const auto& h : hits) ASSERT_EQ(h, 1);
    }
    EXPECT_THROW(parallel_for(1000, 10, [](int64_t, int64_t) { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_FALSE(runs_alone());
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace rw
