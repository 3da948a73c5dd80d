#include "rewind/device/cpu/cpu_allocator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/device/parallel.h"

namespace rw {
namespace {

TEST(CpuAllocator, ClassesGrowAndHoldWhatTheyPromise) {
  size_t previous = 0;
  for (int c = 0; c < 120; ++c) {
    const size_t bytes = CpuAllocator::class_bytes(c);
    EXPECT_GT(bytes, previous);
    EXPECT_EQ(CpuAllocator::class_of(bytes), c);
    EXPECT_EQ(CpuAllocator::class_of(bytes - 1), c);
    if (c > 4) EXPECT_LE(double(bytes), 1.26 * double(previous));
    previous = bytes;
  }
}

TEST(CpuAllocator, CountsWhatIsHeldAndItsPeak) {
  CpuAllocator a;
  void* x = a.allocate(1000);
  void* y = a.allocate(5 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % 64, 0u);
  const int64_t held = a.stats().in_use;
  EXPECT_GE(held, 1000 + (5 << 20));
  a.deallocate(y, 5 << 20);
  a.deallocate(x, 1000);
  EXPECT_EQ(a.stats().in_use, 0);
  EXPECT_EQ(a.stats().peak, held);
  EXPECT_GE(a.stats().reserved, 5 << 20);
  a.trim();
  EXPECT_LT(a.stats().reserved, 5 << 20);
}

TEST(CpuAllocator, SmallBlocksTakeLittleMoreThanTheyAreAndGoBackWhole) {
  CpuAllocator a;
  std::vector<void*> blocks;
  for (const size_t bytes : {64, 200, 1000, 5000, 16000}) {
    blocks.push_back(a.allocate(bytes));
    a.deallocate(blocks.back(), bytes);
  }
  blocks.clear();
  EXPECT_LE(a.stats().reserved, 20 * 25000);
  a.trim();
  EXPECT_EQ(a.stats().reserved, 0);
  for (int i = 0; i < 1000; ++i) blocks.push_back(a.allocate(1000));
  EXPECT_LE(double(a.stats().reserved), 2.1 * double(a.stats().in_use));
  // One block holds its slab, and the others' memory goes.
  for (int i = 1; i < 1000; ++i) a.deallocate(blocks[size_t(i)], 1000);
  a.trim();
  EXPECT_LE(a.stats().reserved, 256 << 10);
  EXPECT_GT(a.stats().reserved, 0);
  a.deallocate(blocks[0], 1000);
  a.trim();
  EXPECT_EQ(a.stats().reserved, 0);
}

TEST(CpuAllocator, LargeBlocksDoNotLieAPowerOfTwoApartAndGoBackWhole) {
  const auto mapped = [] {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * int64_t(sysconf(_SC_PAGESIZE));
  };
  constexpr int64_t kBytes = int64_t{128} << 20;
  CpuAllocator a;
  const int64_t before = mapped();
  std::vector<uintptr_t> places;
  for (int i = 0; i < 6; ++i) {
    auto* block = static_cast<char*>(a.allocate(kBytes));
    block[0] = block[kBytes - 1] = 1;
    places.push_back(reinterpret_cast<uintptr_t>(block));
  }
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t k = 0; k < i; ++k) EXPECT_NE(places[i] % (1 << 16), places[k] % (1 << 16)) << i << ", " << k;
  EXPECT_LT(mapped() - before, 6 * kBytes + (1 << 20));
  for (const uintptr_t place : places) a.deallocate(reinterpret_cast<void*>(place), kBytes);
  a.trim();
  EXPECT_LT(mapped() - before, 1 << 20);
}

TEST(CpuAllocator, TooMuchIsAnErrorThatSaysHowMuch) {
  CpuAllocator a;
  try {
    a.allocate(size_t{1} << 46);
    FAIL();
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find("64.0 TiB"), std::string::npos) << e.what();
  }
  EXPECT_THROW(a.allocate(size_t{1} << 62), ResourceExhaustedError);
}

TEST(Threads, AllocateHereFreeThere) {
  Allocator& a = cpu_device().allocator();
  const int64_t before = a.stats().in_use;
  std::vector<void*> blocks(1000);
  for (void*& b : blocks) b = a.allocate(256);
  std::thread([&] {
    for (void* b : blocks) a.deallocate(b, 256);
  }).join();
  EXPECT_EQ(a.stats().in_use, before);
}

TEST(ParallelFor, CoversEveryIndexOnceAndRethrows) {
  std::vector<int> hits(100000, 0);
  parallel_for(int64_t(hits.size()), 1000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++hits[size_t(i)];
  });
  for (const int h : hits) ASSERT_EQ(h, 1);
  EXPECT_THROW(parallel_for(100000, 1000, [](int64_t, int64_t) { throw InvalidArgumentError("x"); }),
               InvalidArgumentError);
  int calls = 0;
  parallel_for(0, 10, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(Devices, AreFoundByManyNames) {
  for (const char* name :
       {"CPU:0", "/CPU:0", "cpu", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"})
    EXPECT_EQ(&find_device(name), &cpu_device()) << name;
  EXPECT_THROW(find_device("TPU:7"), NotFoundError);
}

TEST(NullDevice, CountsWithoutMemory) {
  Allocator& a = null_device().allocator();
  void* block = a.allocate(size_t{1} << 50);
  EXPECT_EQ(a.stats().in_use, int64_t{1} << 50);
  a.deallocate(block, size_t{1} << 50);
  EXPECT_EQ(a.stats().in_use, 0);
}

}  // namespace
}  // namespace rw
