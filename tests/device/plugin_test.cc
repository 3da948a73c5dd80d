// A library inside a plug-in ends its threads when the plug-in is unloaded, on a crowded machine too.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace rw {
namespace {

// What a plug-in leaves behind: its pool without the threads, some KiB. Other threads of the process may
// still be looking at it.
struct AllowedLeak {
#if defined(__SANITIZE_ADDRESS__)
  AllowedLeak() { __lsan_disable(); }
  ~AllowedLeak() { __lsan_enable(); }
#endif
};

TEST(Plugin, IsUnloadedWhileCoresAreCrowded) {
  std::atomic<bool> done{false};
  std::vector<std::thread> crowd;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    crowd.emplace_back([&] {
      while (!done) {}
    });
  for (int round = 0; round < 3; ++round) {
    void* plugin = dlopen(REWIND_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    auto* compute_for = reinterpret_cast<bool (*)(int)>(dlsym(plugin, "compute_for"));
    ASSERT_NE(compute_for, nullptr);
    {
      [[maybe_unused]] const AllowedLeak pool;
      EXPECT_TRUE(compute_for(150));
    }
    EXPECT_EQ(dlclose(plugin), 0);
    // Threads that were left behind would run into memory that is gone.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  done = true;
  for (std::thread& t : crowd) t.join();
}

}  // namespace
}  // namespace rw
