// The works under other conditions than a machine of their own: with 1, 2, 4, ... threads
// (REWIND_BENCH_THREADS), and beside other processes that compute (REWIND_BENCH_BUSY). Every median that a
// work asks for is then taken under each of them.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::config::threading::get_intra_op_parallelism_threads;
using rw::config::threading::set_intra_op_parallelism_threads;

constexpr double kMostSeconds = 20;  // of one median

std::string g_work;
int g_medians = 0;  // of this work

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + long(v.size()) / 2, v.end());
  return v[v.size() / 2];
}

double time_of(const std::function<void()>& f) {
  const double start = now_us();
  f();
  return now_us() - start;
}

// Steps of a dependent chain: an amount of work that one core does in a time of its own.
[[gnu::noinline]] uint64_t spin(uint64_t steps) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < steps; ++i) asm volatile("imul %1, %0\n add %1, %0" : "+r"(x) : "r"(i));
  return x;
}

// Processes that compute until this object, or this process, ends.
class OtherProcesses {
 public:
  explicit OtherProcesses(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) spin(1 << 20);
      }
      if (pid > 0) processes_.push_back(pid);
    }
  }
  ~OtherProcesses() {
    for (const pid_t pid : processes_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> processes_;
};

double quiet_median(int threads, int warm, int repeats, const std::function<void()>& f) {
  set_intra_op_parallelism_threads(threads);
  for (int i = 0; i < std::max(warm, 3); ++i) f();
  std::vector<double> times;
  const double start = now_us();
  while (int(times.size()) < repeats && now_us() - start < kMostSeconds * 1e6) times.push_back(time_of(f));
  set_intra_op_parallelism_threads(0);
  return median(times);
}

double busy(int warm, int repeats, const std::function<void()>& f) {
  const double alone = quiet_median(1, warm, repeats, f);
  const double quiet = quiet_median(0, warm, repeats, f);
  double rate = 0;  // steps a microsecond
  for (int i = 0; i < 5; ++i) rate = std::max(rate, 2e6 / time_of([] { spin(2000000); }));
  const auto steps = uint64_t(rate * alone);
  for (const int others : {2, 4}) {
    const OtherProcesses processes(others);
    std::vector<double> ours, loop;
    const double start = now_us();
    for (int i = 0; i < std::max(repeats, 50) && now_us() - start < kMostSeconds * 1e6; ++i) {
      loop.push_back(time_of([&] { spin(steps); }));
      ours.push_back(time_of(f));
    }
    say(g_work, "rewind",
        "busy " + std::to_string(others) + (g_medians ? " #" + std::to_string(g_medians) : ""),
        {{"ms", median(ours) / 1e3},
         {"spin_loop_ms", median(loop) / 1e3},
         {"ratio", median(ours) / median(loop)},
         {"quiet_ms", quiet / 1e3},
         {"quiet_one_thread_ms", alone / 1e3}});
  }
  return quiet;
}

double threads(int warm, int repeats, const std::function<void()>& f) {
  const int most = get_intra_op_parallelism_threads();
  std::vector<int> counts;
  for (int t = 1; t < most; t *= 2) counts.push_back(t);
  counts.push_back(most);
  double best = 1e300, last = 0;
  for (const int t : counts) {
    last = quiet_median(t, warm, repeats, f);
    say(g_work, "rewind",
        "threads " + std::to_string(t) + (g_medians ? " #" + std::to_string(g_medians) : ""),
        {{"ms", last / 1e3}, {"over_fewer", last / std::min(best, last)}, {"threads", double(t)}});
    best = std::min(best, last);
  }
  return last;
}

// A convolution too small to be worth many threads.
void conv_small() {
  const rw::Tensor x = rw::random::normal({16, 8, 8, 16}), w = rw::random::normal({5, 5, 16, 32});
  const double us = median_us(20, 400, [&] { rw::nn::conv2d(x, w, 1, "SAME"); });
  say("conv_small", "rewind", "", {{"ms", us / 1e3}});
}

}  // namespace

void begin_work(const std::string& name) {
  g_work = name;
  g_medians = 0;
}

double median_us(int warm, int repeats, const std::function<void()>& f) {
  const bool is_busy = std::getenv("REWIND_BENCH_BUSY"), by_threads = std::getenv("REWIND_BENCH_THREADS");
  if (is_busy || by_threads) {
    const double us = is_busy ? busy(warm, repeats, f) : threads(warm, repeats, f);
    ++g_medians;
    return us;
  }
  for (int i = 0; i < warm; ++i) f();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(time_of(f));
  return median(times);
}

std::vector<Workload> condition_workloads() { return {{"conv_small", conv_small}}; }

}  // namespace bench
