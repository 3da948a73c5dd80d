#include "rewind/device/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <mutex>

#include "rewind/base/float_mode.h"
#include "rewind/device/core_count.h"
#include "rewind/device/loop_cost.h"
#include "rewind/device/openmp.h"
#include "rewind/device/serial_scope.h"
#include "rewind/device/shares.h"
#include "rewind/device/thread_pool.h"

namespace rw {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> g_threads{0};
thread_local bool t_inside = false;
constinit HandoffCost g_handoff;

double nanoseconds(Clock::duration time) {
  return double(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// Never destroyed, since threads of the user may still compute while the process ends; what ends with the
// library, be it by exit() or by dlclose(), are its threads.
class Pool {
 public:
  static ThreadPool& get() {
    static const Pool ends_threads;
    return *pool().load(std::memory_order_acquire);
  }
  ~Pool() { pool().load()->stop(); }

 private:
  Pool() {
    // The child of a fork has none of the threads: it gets a pool of its own.
    pthread_atfork(nullptr, nullptr, [] { pool().store(new ThreadPool); });
  }
  static std::atomic<ThreadPool*>& pool() {
    static std::atomic<ThreadPool*> pool{new ThreadPool};
    return pool;
  }
};

// One loop on several threads: who takes which ranges, how long they worked, the first exception.
class Loop {
 public:
  // In more units than threads where grain lets it: some get a core later than others.
  Loop(int64_t n, int64_t grain, int threads, FunctionRef<void(int64_t, int64_t)> body)
      : n_(n), step_(step_of(n, grain, threads)), shares_((n + step_ - 1) / step_, threads), body_(body) {}

  void work(int thread) {
    const auto start = Clock::now();
    const HelpersFloatMode same(mode_);
    const bool outer = std::exchange(t_inside, true);
    for (int64_t i = 0, end = 0; shares_.take(thread, 1, i, end);) {
      try {
        body_(i * step_, std::min(n_, (i + 1) * step_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
    t_inside = outer;
    busy_.fetch_add(int64_t(nanoseconds(Clock::now() - start)), std::memory_order_relaxed);
  }
  double busy() const { return double(busy_.load(std::memory_order_relaxed)); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static int64_t step_of(int64_t n, int64_t grain, int64_t threads) {
    constexpr int64_t kUnitsOfThread = 4;
    const int64_t units = std::min<int64_t>(kUnitsOfThread * threads, (n + grain - 1) / grain);
    return ((n + units - 1) / units + grain - 1) / grain * grain;
  }

  const int64_t n_, step_;
  Shares shares_;
  const FunctionRef<void(int64_t, int64_t)> body_;
  const FloatControl mode_ = float_control();  // the caller's
  std::atomic<int64_t> busy_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

SerialScope::SerialScope() : outer_(std::exchange(t_inside, true)) {}
SerialScope::~SerialScope() { t_inside = outer_; }
bool runs_alone() { return t_inside || in_openmp_team(); }

int num_threads() {
  const int n = g_threads.load(std::memory_order_relaxed);
  return n > 0 ? n : default_thread_count();
}

void set_num_threads(int count) { g_threads.store(std::max(0, count), std::memory_order_relaxed); }

void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body, const void* code) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int most = int(std::min<int64_t>(num_threads(), (n + grain - 1) / grain));
  if (most <= 1 || runs_alone()) return body(0, n);
  // A body is known by its code: the second of the two pointers.
  if (code == nullptr) code = std::bit_cast<std::array<const void*, 2>>(body)[1];
  thread_local LoopWork loops;
  constexpr double kUsualGrain = 5000;  // nanoseconds
  const float known = loops.of(code, n, grain);
  const double work = known >= 0 ? double(known) : kUsualGrain * double((n + grain - 1) / grain);
  const int threads = threads_worth(work, g_handoff.nanoseconds(), most);
  const auto start = Clock::now();
  if (threads <= 1) {
    if (threads_worth(work, HandoffCost::kLeast, most) > 1) g_handoff.avoided();
    body(0, n);
    LoopWork::update(loops.of(code, n, grain), nanoseconds(Clock::now() - start));
    return;
  }
  Loop loop(n, grain, threads, body);
  Pool::get().run(threads - 1, [&](int thread) { loop.work(thread); });
  const double elapsed = nanoseconds(Clock::now() - start);
  g_handoff.measured(elapsed, loop.busy(), threads);
  LoopWork::update(loops.of(code, n, grain), loop.busy());
  loop.rethrow();
}

}  // namespace rw
