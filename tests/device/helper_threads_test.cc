#include "rewind/device/helper_threads.h"

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

TEST(HelperThreads, EveryPieceRunsOnce) {
  HelperThreads helpers;
  for (const bool at_once : {true, false}) {
    for (int round = 0; round < 2000; ++round) {
      const int64_t pieces = round % 9;
      std::vector<std::atomic<int>> hits(static_cast<size_t>(pieces));
      helpers.run(pieces, round % 4, at_once, [&](int64_t i) { ++hits[size_t(i)]; });
      for (const auto& h : hits) ASSERT_EQ(h, 1);
    }
  }
}

TEST(HelperThreads, HelpersComeToLongWork) {
  HelperThreads helpers;
  std::atomic<int> here{0};
  // Nobody goes on before two are inside, so this ends only if a helper comes.
  helpers.run(3, 1, false, [&](int64_t i) {
    if (i == 0) return std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++here;
    while (here < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here, 2);
}

TEST(HelperThreads, CallersFromSeveralThreads) {
  HelperThreads helpers;
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round)
        helpers.run(8, 3, round % 2 == 0, [&](int64_t i) { sum += i; });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 6 * 300 * 28);
}

TEST(HelperThreads, WorkGoesOnAfterTheEnd) {
  HelperThreads helpers;
  std::atomic<int> calls{0};
  helpers.run(4, 2, true, [&](int64_t) { ++calls; });
  helpers.stop();
  helpers.run(4, 2, true, [&](int64_t) { ++calls; });
  EXPECT_EQ(calls, 8);
}

#if !defined(__SANITIZE_THREAD__)
// A child has the memory of its parent, but only the thread that forked.
TEST(Parallel, ChildOfAForkComputes) {
  std::atomic<int64_t> count{0};
  const auto loop = [&] {
    parallel_for(100000, 100, [&](int64_t begin, int64_t end) { count += end - begin; });
  };
  loop();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    loop();
    std::thread other(loop);
    other.join();
    _exit(count == 300000 && runs_alone() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  loop();
  EXPECT_EQ(count, 200000);
  EXPECT_FALSE(runs_alone());
}
#endif

}  // namespace
}  // namespace rw
