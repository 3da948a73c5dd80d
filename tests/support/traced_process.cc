#include "tests/support/traced_process.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <map>

namespace rw::test {

#ifdef __x86_64__
namespace {

constexpr size_t kMessage = 4000;
constexpr int kDone = 0, kThrown = 3, kUntraced = 77;

std::string read_text(pid_t child, uint64_t address) {
  std::string text;
  while (text.size() < PATH_MAX) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, child, address + text.size(), nullptr);
    if (errno != 0) return text;
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    for (const char c : bytes) {
      if (c == '\0') return text;
      text.push_back(c);
    }
  }
  return text;
}

std::string path_of(pid_t child, uint64_t fd) {
  const std::string link = "/proc/" + std::to_string(child) + "/fd/" + std::to_string(int(fd));
  std::string path(PATH_MAX, '\0');
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  path.resize(size_t(std::max<ssize_t>(size, 0)));
  return path;
}

bool is_written(uint64_t flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

// False for calls that are of no interest.
bool describe(pid_t child, const user_regs_struct& r, FileCall* call) {
  const auto of_fd = [&](const char* name) {
    *call = {name, path_of(child, r.rdi)};
    return call->path.starts_with('/') && !call->path.starts_with("/dev/null");
  };
  const auto of_path = [&](const char* name, uint64_t at) {
    *call = {name, read_text(child, at)};
    return true;
  };
  switch (r.orig_rax) {
    case SYS_open: return is_written(r.rsi) && of_path("open", r.rdi);
    case SYS_openat: return is_written(r.rdx) && of_path("open", r.rsi);
    case SYS_creat: return of_path("open", r.rdi);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev: return of_fd("write");
    case SYS_fsync:
    case SYS_fdatasync: return of_fd("fsync");
    case SYS_ftruncate: return of_fd("truncate");
    case SYS_rename: return of_path("rename", r.rdi);
    case SYS_renameat:
    case SYS_renameat2: return of_path("rename", r.rsi);
    case SYS_mkdir: return of_path("mkdir", r.rdi);
    case SYS_mkdirat: return of_path("mkdir", r.rsi);
    case SYS_unlink: return of_path("unlink", r.rdi);
    case SYS_unlinkat: return of_path("unlink", r.rsi);
    case SYS_rmdir: return of_path("unlink", r.rdi);
    case SYS_link: return of_path("link", r.rdi);
    case SYS_linkat: return of_path("link", r.rsi);
    default: return false;
  }
}

// Lets the process and its threads run to their end, and gives the status of that.
int follow(pid_t child, int n, int error, TracedRun* run) {
  struct Thread {
    bool entering = true, failing = false;
  };
  std::map<pid_t, Thread> threads{{child, {}}};
  ptrace(PTRACE_SYSCALL, child, nullptr, 0);
  while (true) {
    int status = 0;
    const pid_t at = waitpid(-1, &status, __WALL);
    if (at < 0) return status;
    if (!WIFSTOPPED(status)) {
      threads.erase(at);
      if (at == child) return status;
      continue;
    }
    Thread& thread = threads[at];
    const bool in_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    if (in_call && !run->killed) {
      user_regs_struct r = {};
      FileCall call;
      ptrace(PTRACE_GETREGS, at, nullptr, &r);
      if (thread.entering && describe(at, r, &call)) {
        run->calls.push_back(call);
        if (int(run->calls.size()) - 1 == n) {
          if (error == 0) {
            kill(child, SIGKILL);
            run->killed = true;
            continue;
          }
          r.orig_rax = ~0ULL;  // no call at all
          ptrace(PTRACE_SETREGS, at, nullptr, &r);
          thread.failing = true;
        }
      } else if (!thread.entering && thread.failing) {
        r.rax = uint64_t(-int64_t(error));
        ptrace(PTRACE_SETREGS, at, nullptr, &r);
        thread.failing = false;
      }
      thread.entering = !thread.entering;
    }
    const int signal =
        in_call || WSTOPSIG(status) == SIGSTOP || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_SYSCALL, at, nullptr, signal);
  }
}

[[noreturn]] void child_process(const std::function<void()>& work, char* message) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kUntraced);
  raise(SIGSTOP);
  try {
    work();
  } catch (const std::exception& e) {
    std::strncpy(message, e.what(), kMessage - 1);
    _exit(kThrown);
  }
  _exit(kDone);
}

}  // namespace

TracedRun run_traced(const std::function<void()>& work, int n, int error) {
  auto* const message =
      static_cast<char*>(mmap(nullptr, kMessage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  TracedRun run;
  const pid_t child = fork();
  if (child == 0) child_process(work, message);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSTOPPED(status)) {
    ptrace(PTRACE_SETOPTIONS, child, nullptr,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
    status = follow(child, n, error, &run);
  }
  run.thrown = WIFEXITED(status) && WEXITSTATUS(status) == kThrown;
  run.message = message;
  if (!run.killed && !run.thrown && (!WIFEXITED(status) || WEXITSTATUS(status) != kDone))
    run.message = "the process ended with status " + std::to_string(status), run.thrown = true;
  munmap(message, kMessage);
  return run;
}

bool can_trace_files() {
  return !run_traced([] {}).thrown;
}

#else

TracedRun run_traced(const std::function<void()>&, int, int) { return {}; }
bool can_trace_files() { return false; }

#endif

}  // namespace rw::test
