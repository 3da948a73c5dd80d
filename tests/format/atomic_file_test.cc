// What is written to and what is not; what killed writers leave.
#include "rewind/format/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <csignal>
#include <thread>

#include "rewind/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw::format {
namespace {

using test::read_bytes;
using test::TemporaryFolder;
using test::write_bytes;

void save(const std::string& path, const std::string& text) {
  AtomicFile file(path, "save_weights");
  file.write(text.data(), text.size());
  file.commit();
}

TEST(AtomicFile, OnlyRegularFilesAreReplaced) {
  const TemporaryFolder folder;
  mkdir((folder / "folder").c_str(), 0700);
  mkfifo((folder / "pipe").c_str(), 0600);
  symlink("pipe", (folder / "to_pipe").c_str());
  symlink("folder", (folder / "to_folder").c_str());
  const std::pair<const char*, std::string> cases[] = {
      {"folder", "is a folder: only a regular file is written or replaced"},
      {"pipe", "[save_weights] " + (folder / "pipe") + " is a pipe: only"},
      {"to_pipe", "to_pipe is a pipe (" + (folder / "pipe") + "): only"},
      {"to_folder", "is a folder ("}};
  for (const auto& [name, part] : cases)
    expect_error<FailedPreconditionError>([&, n = name] { save(folder / n, "x"); }, part);
  EXPECT_EQ(folder.files().size(), 4u);
  struct stat info = {};
  ASSERT_EQ(lstat((folder / "pipe").c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

// A device of the test's own: one of the machine's would be lost if it were replaced.
TEST(AtomicFile, DevicesAreNotReplaced) {
  const TemporaryFolder folder;
  if (mknod((folder / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    GTEST_SKIP() << "only root may make a device node";
  symlink("null", (folder / "to_null").c_str());
  expect_error<FailedPreconditionError>([&] { save(folder / "null", "x"); }, "null is a device: only");
  expect_error<FailedPreconditionError>([&] { save(folder / "to_null", "x"); }, "to_null is a device (");
  struct stat info = {};
  ASSERT_EQ(lstat((folder / "null").c_str(), &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(folder.files().size(), 2u);
}

TEST(AtomicFile, LinksAreFollowed) {
  const TemporaryFolder folder;
  mkdir((folder / "in").c_str(), 0700);
  write_bytes(folder / "in/file", "old");
  symlink("in/file", (folder / "one").c_str());
  symlink((folder / "one").c_str(), (folder / "two").c_str());
  symlink("in/new", (folder / "ahead").c_str());
  symlink("round", (folder / "round").c_str());
  save(folder / "two", "new");
  EXPECT_EQ(read_bytes(folder / "in/file"), "new");
  save(folder / "ahead", "made");
  EXPECT_EQ(read_bytes(folder / "in/new"), "made");
  for (const char* link : {"one", "two", "ahead"}) {
    struct stat info = {};
    ASSERT_EQ(lstat((folder / link).c_str(), &info), 0);
    EXPECT_TRUE(S_ISLNK(info.st_mode)) << link;
  }
  expect_error<FailedPreconditionError>([&] { save(folder / "round", "x"); }, "cannot be followed");
  EXPECT_EQ(folder.files().size(), 5u);
}

// Runs in a process of its own that is killed while it writes.
void save_and_be_killed(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path, "save_weights");
    file.write("half", 4);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AtomicFile, WhatAKilledWriterLeftGoes) {
  const TemporaryFolder folder;
  save(folder / "w", "before");
  save_and_be_killed(folder / "w");
  save_and_be_killed(folder / "other");
  // Files of the user's that look alike.
  write_bytes(folder / "w.rewind-tmp-1", "");
  write_bytes(folder / "w.rewind-tmp-1-2x", "");
  write_bytes(folder / "ww.rewind-tmp-1-2", "");
  EXPECT_EQ(folder.files().size(), 6u);
  EXPECT_EQ(read_bytes(folder / "w"), "before");
  save(folder / "w", "after");
  EXPECT_EQ(read_bytes(folder / "w"), "after");
  EXPECT_EQ(folder.files().size(), 5u);
  for (const char* name : {"w.rewind-tmp-1", "w.rewind-tmp-1-2x", "ww.rewind-tmp-1-2"})
    EXPECT_EQ(access((folder / name).c_str(), F_OK), 0) << name;
  save(folder / "other", "x");
  EXPECT_EQ(folder.files().size(), 5u);
}

TEST(AtomicFile, WhatALiveWriterHasStays) {
  const TemporaryFolder folder;
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(folder / "w", "save_weights");
    file.write("child", 5);
    char c = 0;
    const bool told = write(ready[1], &c, 1) == 1 && read(go[0], &c, 1) == 1;
    file.commit();
    _exit(told ? 0 : 1);
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  {
    AtomicFile mine(folder / "w", "save_weights");
    save(folder / "w", "parent");
    mine.write("later", 5);
    EXPECT_EQ(folder.files().size(), 3u);
    ASSERT_EQ(write(go[1], &c, 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(read_bytes(folder / "w"), "child");
    mine.commit();
  }
  EXPECT_EQ(read_bytes(folder / "w"), "later");
  EXPECT_EQ(folder.files().size(), 1u);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
}

TEST(AtomicFileThreads, WritersOfOneFile) {
  const TemporaryFolder folder;
  constexpr int kThreads = 4;
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(save(folder / "w", std::string(100, char('a' + t))));
    });
  for (std::thread& t : threads) t.join();
  const std::string text = read_bytes(folder / "w");
  EXPECT_EQ(text, std::string(100, text.at(0)));
  EXPECT_EQ(folder.files().size(), 1u);
}

}  // namespace
}  // namespace rw::format
