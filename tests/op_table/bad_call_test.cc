// Bad calls: every row of the op table, called with inputs and attributes broken in many ways, in all the
// ways that a program makes calls, either works or throws rw::Error. It never crashes, hangs or lets another
// exception out, and what eager execution refuses, every way refuses. Calls run in a forked child, so
// that a crash is a failure with a name; another child starts behind the call that killed it.
//
// $REWIND_RANDOM_SCALE scales the number of calls an op (1 = 420; default 0.05), $REWIND_RANDOM_SEED the
// draws. A failure prints its call and what to set $REWIND_BAD_CALL to, which then runs that call alone, in
// this process, for a debugger.
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
#include <sstream>

#include "rewind/op/table.h"
#include "tests/support/bad_call.h"
#include "tests/support/goldens.h"
#include "tests/support/mutate.h"
#include "tests/support/row_cases.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REWIND_SANITIZED 1
// What is too large gives an error, as under the limit that other builds have.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0";
}
#endif

namespace rw::test {
namespace {

constexpr int kCallsPerOp = 420;
#ifdef REWIND_SANITIZED
constexpr int kSecondsPerCall = 120;
#else
constexpr int kSecondsPerCall = 30;
#endif
constexpr int kMaxDeathsPerOp = 5;
constexpr int kOpsPerChild = 30;  // a process takes time to start its threads and its code generator

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
  int job, next;       // the call that runs now
  int refused;         // calls that threw rw::Error
  int failures;        // calls that threw something else, or gave results where eager execution throws
  char text[1 << 20];  // the first failure of each op

  void add(const std::string& failure) {
    const size_t used = std::strlen(text);
    std::snprintf(text + used, sizeof text - used, "%s\n", failure.c_str());
  }
};

// The call that a number stands for, in one of the modes.
struct BadCall {
  Mutation mutation;
  CallMode mode = CallMode::kEager;
  uint32_t draw = 0;
};

using CasesOfOp = std::map<std::string, std::vector<const Case*>>;

uint32_t hash(const std::string& text) {
  uint32_t h = 2166136261u;
  for (const char ch : text) h = (h ^ uint8_t(ch)) * 16777619u;
  return h;
}

BadCall bad_call(const std::vector<const Case*>& cases, const Op& op, int index) {
  std::mt19937 rng(seed() * 7919u + uint32_t(index) * 104729u + hash(op.name));
  BadCall call;
  const Case& c = *cases[size_t(index) / 2 % cases.size()];
  call.mutation = mutate(c, op, size_t(index), rng);
  call.draw = rng();
  call.mode = kCallModes[(size_t(index) + hash(op.name)) % kCallModes.size()];
  return call;
}

std::string text_of(const BadCall& call, const Op& op, int index) {
  return std::string(name_of(call.mode)) + " of " + describe(call.mutation.input) + "\n  (" +
         call.mutation.input.name() + " with " + call.mutation.what +
         ")\n  again: REWIND_RANDOM_SEED=" + std::to_string(seed()) + " REWIND_BAD_CALL='" + op.name + " " +
         std::to_string(index) + "' op_table_test --gtest_filter='BadCalls.*'";
}

bool is_failure(const Result& r) {
  return r.failed && (r.error.find("std::exception") != std::string::npos ||
                      r.error.find("InternalError") != std::string::npos);
}

// What is wrong with the call's end; empty when nothing is.
std::string check(const BadCall& call, bool* refused) {
  const Case& c = call.mutation.input;
  const Result r = run_call(c, call.mode, call.draw);
  *refused = r.failed;
  if (is_failure(r)) return r.error + ": " + r.message;
  if (r.failed || call.mode == CallMode::kEager || !refuses_alike(c, call.mode, call.draw)) return "";
  const Result eager = run_call(c, CallMode::kEager, 0);
  if (eager.failed && eager.error == "InvalidArgumentError")
    return "gives results, but eager execution says " + eager.error + ": " + eager.message;
  return "";
}

// The calls of one op.
struct Job {
  const Op* op;
  const std::vector<const Case*>* cases;
  int count;
};

// The calls from progress on in this process, which ends with them.
[[noreturn]] void run_child(const std::vector<Job>& jobs, int last_job, Progress* progress) {
#ifndef REWIND_SANITIZED
  rlimit memory{rlim_t(4) << 30, rlim_t(4) << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (; progress->job < last_job; ++progress->job, progress->next = 0) {
    const Job& job = jobs[size_t(progress->job)];
    bool told = false;
    for (; progress->next < job.count; ++progress->next) {
      alarm(kSecondsPerCall);
      const BadCall call = bad_call(*job.cases, *job.op, progress->next);
      bool refused = false;
      const std::string wrong = check(call, &refused);
      progress->refused += refused;
      if (wrong.empty()) continue;
      ++progress->failures;
      if (!told) progress->add(wrong + "\n  " + text_of(call, *job.op, progress->next));
      told = true;
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

// Of every row: the golden cases, or what stands for them.
CasesOfOp cases_of_ops() {
  CasesOfOp by_op;
  for (auto& family : golden_families())
    for (auto& golden : goldens(family)) {
      auto ops = ops_of(golden.input.call);
      if (std::all_of(ops.begin(), ops.end(), [](auto& op) { return op_table().find(op) != nullptr; }))
        by_op[golden.input.call.op].push_back(&golden.input);
    }
  static const auto* made = new std::map<std::string, std::vector<Case>>([&] {
    std::map<std::string, std::vector<Case>> rows;
    for (const Op* op : op_table().all())
      if (!by_op.count(op->name)) rows[op->name] = row_cases(*op);
    return rows;
  }());
  for (auto& [name, cases] : *made)
    for (const Case& c : cases) by_op[name].push_back(&c);
  return by_op;
}

int count_of(const Op& op) {
  const int all_attributes = int(2 * op.attrs.size() + op.inputs.size()) + 2;
  return std::max(all_attributes, int(std::lround(kCallsPerOp * scale())));
}

// The calls of jobs [progress->job, last_job) in children, until one gets to the end.
void run_jobs(const std::vector<Job>& jobs, int last_job, Progress* progress) {
  for (int deaths = 0; progress->job < last_job;) {
    std::cout.flush();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_child(jobs, last_job, progress);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const Job& job = jobs[size_t(progress->job)];
    ADD_FAILURE() << (WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                          : "exit " + std::to_string(WEXITSTATUS(status)))
                  << "\n  "
                  << text_of(bad_call(*job.cases, *job.op, progress->next), *job.op, progress->next);
    ++progress->next;
    if (++deaths % kMaxDeathsPerOp == 0) ++progress->job, progress->next = 0;
  }
}

// "Conv2D 17": that call of the op, here; "Conv2D 0 17": all from 0 on, where it needs what they left.
void run_again(const CasesOfOp& by_op, const std::string& text) {
  std::istringstream words(text);
  std::string name;
  int first = 0, last = 0;
  words >> name >> first;
  if (!(words >> last)) last = first;
  ASSERT_TRUE(by_op.count(name)) << text;
  const Op& op = find_op(name);
  for (int index = first; index <= last; ++index) {
    const BadCall call = bad_call(by_op.at(name), op, index);
    std::cout << text_of(call, op, index) << std::endl;
    for (const CallMode mode : {call.mode, CallMode::kEager}) {
      if (mode != call.mode && index < last) continue;
      const Result r = run_call(call.mutation.input, mode, call.draw);
      std::cout << name_of(mode) << ": " << (r.failed ? r.error + ": " + r.message : "results") << std::endl;
    }
    bool refused = false;
    EXPECT_EQ(check(call, &refused), "");
  }
}

TEST(BadCalls, WorkOrThrow) {
  if (const char* one = std::getenv("REWIND_BAD_CALL")) return run_again(cases_of_ops(), one);
  if (has_threads()) return run_afresh();
  const CasesOfOp by_op = cases_of_ops();
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* progress = static_cast<Progress*>(shared);

  int calls = 0;
  size_t attributes = 0, touched = 0;
  std::set<std::string> untouched;
  std::vector<Job> jobs;
  for (auto& [name, cases] : by_op) {
    const Op& op = *op_table().find(name);
    jobs.push_back({&op, &cases, count_of(op)});
    calls += jobs.back().count;
    std::set<std::string> seen;
    for (int i = 0; i < jobs.back().count; ++i) seen.insert(bad_call(cases, op, i).mutation.attribute);
    for (auto& a : op.attrs) {
      ++attributes;
      if (seen.count(a.name)) ++touched;
      else untouched.insert(name + "." + a.name);
    }
  }
  for (int first = 0; first < int(jobs.size()); first += kOpsPerChild) {
    progress->job = first;
    progress->next = 0;
    run_jobs(jobs, std::min(first + kOpsPerChild, int(jobs.size())), progress);
  }
  if (progress->failures)
    ADD_FAILURE() << progress->failures << " calls, of each op the first:\n" << progress->text;
  std::cout << calls << " bad calls of " << by_op.size() << " ops, " << progress->refused << " refused; "
            << touched << " of " << attributes << " attributes touched\n";
  munmap(shared, sizeof(Progress));
  for (auto& a : untouched) std::cout << "  never touched: " << a << '\n';
}

}  // namespace
}  // namespace rw::test
