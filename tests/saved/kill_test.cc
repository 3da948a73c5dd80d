// Saves that end early: killed before and behind every system call, and on a disk that is full.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "rewind/rewind.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using train::Checkpoint;
using train::CheckpointManager;

// Runs `work` in a process of its own that is killed at its n-th stop, before or behind a system call. False:
// it was done before.
template <class F>
bool killed_at(int n, const F& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  for (int stop = 0; WIFSTOPPED(status); ++stop) {
    if (stop == n) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return true;
    }
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
  }
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return false;
}

// Files that are synced a thousand times: in memory where that is to be had.
struct InMemory {
  InMemory() {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  }
  ~InMemory() { unsetenv("TMPDIR"); }
};

bool can_trace() {
  return killed_at(0, [] {});
}

struct Pair {
  Variable a, b;
  explicit Pair(float value) : a(fill({3000}, value)), b(fill({7}, value)) {}
  Checkpoint checkpoint() const { return Checkpoint({{"a", a}, {"b", b}}); }
  void set(float value) const {
    a.assign(fill({3000}, value));
    b.assign(fill({7}, value));
  }
  // Of all elements; -1 if they differ.
  float value() const {
    const float first = b.to_vector<float>()[0];
    return a.to_vector<float>() == std::vector<float>(3000, first) &&
                   b.to_vector<float>() == std::vector<float>(7, first)
               ? first
               : -1;
  }
};

TEST(KilledSaves, TheManagerFindsAWholeCheckpoint) {
  if (!can_trace()) GTEST_SKIP() << "processes cannot be traced here";
  const InMemory in_memory;
  bool done = false;
  int found_new = 0, n = 1;
  for (; !done; ++n) {
    const test::TemporaryFolder folder;
    const Pair pair(1);
    const Checkpoint ckpt = pair.checkpoint();
    CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 1});
    manager.save();
    pair.set(2);
    done = !killed_at(n, [&] { manager.save(); });

    const Pair read(0);
    const Checkpoint again = read.checkpoint();
    CheckpointManager other(again, folder / "run", {.max_to_keep = 1});
    ASSERT_EQ(other.latest_checkpoint(), train::latest_checkpoint(folder / "run")) << n;
    again.restore(other.latest_checkpoint()).assert_consumed();
    ASSERT_TRUE(read.value() == 1 || read.value() == 2) << n;
    found_new += read.value() == 2;
    // Saving goes on, and nothing is left behind.
    other.save();
    again.restore(other.latest_checkpoint()).assert_consumed();
    if (n % 10 == 0) {
      EXPECT_LE(std::distance(std::filesystem::directory_iterator(folder / "run"), {}), 5) << n;
    }
  }
  EXPECT_GT(n, 40);
  EXPECT_GT(found_new, 1);
  EXPECT_LT(found_new, n - 20);
}

TEST(KilledSaves, OverwrittenCheckpointsAreOldOrNew) {
  if (!can_trace()) GTEST_SKIP() << "processes cannot be traced here";
  const InMemory in_memory;
  const test::TemporaryFolder folder;
  const Pair pair(1);
  const Checkpoint ckpt = pair.checkpoint();
  ckpt.write(folder / "c");
  bool done = false;
  int olds = 0, n = 1;
  for (float value = 1; !done; ++n) {
    pair.set(value + 1);
    done = !killed_at(n, [&] { ckpt.write(folder / "c"); });
    const Pair read(0);
    read.checkpoint().read(folder / "c").assert_consumed();
    ASSERT_TRUE(read.value() == value || read.value() == value + 1) << n;
    olds += read.value() == value;
    value = read.value();
  }
  EXPECT_GT(olds, 20);
  ckpt.write(folder / "c");
  EXPECT_LE(folder.files().size(), 3u);
}

// A limit on the size of files refuses writes as a full disk does.
TEST(FullDisk, NothingIsLost) {
  signal(SIGXFSZ, SIG_IGN);
  const test::TemporaryFolder folder;
  const Pair pair(1);
  const Checkpoint ckpt = pair.checkpoint();
  CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 1});
  manager.save();
  pair.set(2);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  size_t refused = 0;
  for (const rlim_t bytes : {0, 1, 100, 4096, 12000, 12200}) {
    const rlimit limit = {bytes, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    try {
      manager.save();
    } catch (const ResourceExhaustedError& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("[CheckpointManager] " + (folder / "run/ckpt-2")),
                std::string::npos)
          << e.what();
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(ckpt.save_counter().item<int64_t>(), 1);
    const Pair read(0);
    read.checkpoint().restore(train::latest_checkpoint(folder / "run")).assert_consumed();
    EXPECT_EQ(read.value(), 1) << bytes;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "run"), {}), 3) << bytes;
  }
  EXPECT_EQ(refused, 6u);
  EXPECT_EQ(manager.save(), folder / "run/ckpt-2");
}

}  // namespace
}  // namespace rw
