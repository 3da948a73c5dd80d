// A process of its own, with its threads, whose system calls on files are counted, listed, and made to fail,
// or which is killed at one of them. For writers: whatever happens, the old file or the new one is there.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rw::test {

// One call that changes or syncs files: "open" (for writing), "write", "fsync", "rename", "mkdir", "unlink",
// "link", "truncate", "close" (of what was opened for writing).
struct FileCall {
  std::string name;
  std::string path;  // of the file; of the first one of two
};

struct TracedRun {
  std::vector<FileCall> calls;  // until the end
  bool killed = false;
  bool thrown = false;  // by the work
  std::string message;  // of what was thrown
};

// Whether processes can be traced here (not under some sandboxes, nor on processors other than x86-64).
bool can_trace_files();

constexpr int kNeverFails = -1;
// Runs `work` in a child process. At the n-th call (from 0 on) it is killed, before the call happens; if
// `error` is not 0 the call fails with it instead, and the process goes on.
TracedRun run_traced(const std::function<void()>& work, int n = kNeverFails, int error = 0);

}  // namespace rw::test
