// Bad calls: every op, called with inputs and attributes broken in many ways, either works or throws
// rw::Error. It never crashes, hangs or lets another exception out. An op's calls run in a forked child, so
// that a crash is a failure with a name; the child starts again behind the call that killed it.
//
// $REWIND_RANDOM_SCALE scales the number of calls an op (1 = 200; default 0.05), $REWIND_RANDOM_SEED the
// draws.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "rewind/op/table.h"
#include "tests/support/case_run.h"
#include "tests/support/goldens.h"
#include "tests/support/mutate.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REWIND_SANITIZED 1
#endif

namespace rw::test {
namespace {

constexpr int kCallsPerOp = 200;
constexpr int kSecondsPerBatch = 120;
constexpr int kMaxDeathsPerOp = 5;

double scale() {
  const char* text = std::getenv("REWIND_RANDOM_SCALE");
  return text ? std::atof(text) : 0.05;
}
uint32_t seed() {
  const char* text = std::getenv("REWIND_RANDOM_SEED");
  return text ? uint32_t(std::atoll(text)) : 1;
}

// What the child tells the parent, in memory that both see.
struct Progress {
  int next;      // the call that runs now
  int refused;   // calls that threw rw::Error
  int failures;  // calls that threw something else
  char now[600];
  char failure[600];
};

Mutation mutation_of(const std::vector<const Case*>& cases, const Op& op, int index) {
  std::mt19937 rng(seed() * 7919u + uint32_t(index) * 104729u + uint32_t(std::hash<std::string>{}(op.name)));
  return mutate(*cases[size_t(index) % cases.size()], op, size_t(index), rng);
}

// Calls [progress->next, count) in this process, which ends with it.
[[noreturn]] void run_child(const std::vector<const Case*>& cases, const Op& op, int count,
                            Progress* progress) {
#ifndef REWIND_SANITIZED
  rlimit memory{rlim_t(4) << 30, rlim_t(4) << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(kSecondsPerBatch);
  for (; progress->next < count; ++progress->next) {
    Mutation m = mutation_of(cases, op, progress->next);
    std::snprintf(progress->now, sizeof progress->now, "%s: %s", m.input.name().c_str(), m.what.c_str());
    Result r = run_case(m.input);
    if (!r.failed) continue;
    if (r.error.find("std::exception") == std::string::npos &&
        r.error.find("InternalError") == std::string::npos) {
      ++progress->refused;
    } else if (progress->failures++ == 0) {
      std::snprintf(progress->failure, sizeof progress->failure, "%s: %s: %s", progress->now, r.error.c_str(),
                    r.message.c_str());
    }
  }
  _exit(0);
}

bool has_threads() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}) > 1; }

// This test alone, in a fresh process: a child of a process whose thread pool runs could not use that pool.
void run_afresh() {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    execl("/proc/self/exe", "bad_calls", "--gtest_filter=BadCalls.*", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "see above";
}

TEST(BadCalls, WorkOrThrow) {
  if (has_threads()) return run_afresh();
  std::map<std::string, std::vector<const Case*>> by_op;
  for (auto& family : golden_families())
    for (auto& golden : goldens(family)) {
      auto ops = ops_of(golden.input.call);
      if (std::all_of(ops.begin(), ops.end(), [](auto& op) { return op_table().find(op) != nullptr; }))
        by_op[golden.input.call.op].push_back(&golden.input);
    }
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* progress = static_cast<Progress*>(shared);

  int calls = 0, refused = 0;
  size_t attributes = 0, touched = 0;
  std::set<std::string> untouched;
  for (auto& [name, cases] : by_op) {
    const Op& op = *op_table().find(name);
    int count =
        std::max(int(2 * op.attrs.size() + op.inputs.size()) + 2, int(std::lround(kCallsPerOp * scale())));
    std::set<std::string> seen;
    for (int i = 0; i < count; ++i) seen.insert(mutation_of(cases, op, i).attribute);
    for (auto& a : op.attrs) {
      ++attributes;
      if (seen.count(a.name)) ++touched;
      else untouched.insert(name + "." + a.name);
    }
    *progress = {};
    for (int deaths = 0; progress->next < count && deaths < kMaxDeathsPerOp; ++deaths) {
      std::cout.flush();
      pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) run_child(cases, op, count, progress);
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      ADD_FAILURE() << progress->now << ": "
                    << (WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                            : "exit " + std::to_string(WEXITSTATUS(status)));
      ++progress->next;
    }
    if (progress->failures) ADD_FAILURE() << progress->failures << " calls, first " << progress->failure;
    calls += progress->next;
    refused += progress->refused;
  }
  munmap(shared, sizeof(Progress));
  std::cout << calls << " bad calls of " << by_op.size() << " ops, " << refused << " refused; " << touched
            << " of " << attributes << " attributes touched\n";
  for (auto& a : untouched) std::cout << "  never touched: " << a << '\n';
}

}  // namespace
}  // namespace rw::test
