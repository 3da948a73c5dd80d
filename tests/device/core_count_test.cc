// Cores that a process may use: hyperthreads, affinity, quotas of control groups, read from a folder made
// here.
#include "rewind/device/core_count.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace rw {
namespace {

class CoreCount : public testing::Test {
 protected:
  CoreCount()
      : root_(testing::TempDir() + "core_count_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~CoreCount() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }
  // Processors i and i + cores are one core.
  void hyperthreads(int cores) const {
    for (int i = 0; i < 2 * cores; ++i)
      write("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
            std::to_string(i % cores) + "," + std::to_string(i % cores + cores));
  }
  std::string root_;
};

TEST_F(CoreCount, WithoutFilesEveryProcessorIsACore) {
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 2, 5}), 4);
  EXPECT_EQ(usable_cores(root_, {}), 1);
}

TEST_F(CoreCount, HyperthreadsOfACoreCountOnce) {
  hyperthreads(4);
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 2, 3, 4, 5, 6, 7}), 4);
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 4, 5}), 2);  // the affinity mask leaves two cores
  EXPECT_EQ(usable_cores(root_, std::vector{6}), 1);
}

TEST_F(CoreCount, QuotaOfTheGroupOrOneAroundIt) {
  const std::vector<int> eight{0, 1, 2, 3, 4, 5, 6, 7};
  write("/proc/self/cgroup", "0::/outer/inner");
  write("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  EXPECT_EQ(usable_cores(root_, eight), 8);
  write("/sys/fs/cgroup/outer/cpu.max", "250000 100000");
  EXPECT_EQ(usable_cores(root_, eight), 3);
  write("/sys/fs/cgroup/outer/inner/cpu.max", "50000 100000");
  EXPECT_EQ(usable_cores(root_, eight), 1);
}

TEST_F(CoreCount, QuotaInAContainer) {
  write("/proc/self/cgroup", "0::/");
  write("/sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 2, 3}), 2);
}

TEST_F(CoreCount, QuotaOfVersionOne) {
  write("/proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a");
  write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000");
  write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 2, 3}), 3);
  write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(usable_cores(root_, std::vector{0, 1, 2, 3}), 4);
}

}  // namespace
}  // namespace rw
