#include "rewind/device/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "rewind/device/crowd.h"
#include "rewind/device/helper_threads.h"
#include "rewind/device/serial_scope.h"
#include "rewind/device/shares.h"

#ifdef REWIND_OPENMP
#include <omp.h>
#endif

namespace rw {
namespace {

std::atomic<int> g_threads{0};
thread_local bool t_inside = false;

// How many threads there are when nobody said how many; OMP_NUM_THREADS and the cores that the process may
// use decide where OpenMP runs them.
int default_threads() {
#ifdef REWIND_OPENMP
  static const int count = std::max(1, omp_get_max_threads());
#else
  static const int count = int(std::max(1u, std::thread::hardware_concurrency()));
#endif
  return count;
}

// The first exception of any range, kept until all threads are done.
class FirstError {
 public:
  void run(FunctionRef<void(int64_t, int64_t)> body, int64_t begin, int64_t end) {
    const bool outer = std::exchange(t_inside, true);
    try {
      body(begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    t_inside = outer;
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Threads for when OpenMP's are not used: in builds without it, and while others want the cores. Never
// destroyed, since threads of the user may still compute while the process ends; what ends with the library,
// be it by exit() or by dlclose(), are the threads.
class Helpers {
 public:
  static HelperThreads& get() {
    static const Helpers helpers;
    return *threads().load(std::memory_order_acquire);
  }
  ~Helpers() {
#ifdef REWIND_OPENMP
    stop_watching_cores();
#endif
    threads().load()->stop();
  }

 private:
  Helpers() {
    pthread_atfork(nullptr, nullptr, [] { forget_threads(); });
  }
  // In the child of a fork. OpenMP would wait for threads that the child does not have where the thread that
  // forked ran loops before; so this thread goes on alone. Others, made by the child, are as usual.
  static void forget_threads() {
    threads().store(new HelperThreads);
    t_inside = true;
#ifdef REWIND_OPENMP
    forget_crowd();
#endif
  }
  static std::atomic<HelperThreads*>& threads() {
    static std::atomic<HelperThreads*> threads{new HelperThreads};
    return threads;
  }
};

// How long a loop took when it last ran on this thread, to tell those that are worth a helper's waking.
class LoopTimes {
 public:
  using Clock = std::chrono::steady_clock;

  Clock::duration& of(FunctionRef<void(int64_t, int64_t)> body, int64_t n, int64_t grain) {
    // A body is known by its code: the second of the two pointers.
    uint64_t h = uint64_t(std::bit_cast<std::array<uintptr_t, 2>>(body)[1]);
    for (const int64_t v : {n, grain}) h = (h ^ uint64_t(v)) * 0x9e3779b97f4a7c15u, h ^= h >> 32;
    return times_[h % times_.size()];
  }

 private:
  std::array<Clock::duration, 64> times_{};
};

// In more pieces than threads where grain lets it: some get a core later than others.
int64_t step_of(int64_t n, int64_t grain, int64_t threads) {
  constexpr int64_t kPiecesOfThread = 4;
  const int64_t pieces = std::min<int64_t>(kPiecesOfThread * threads, (n + grain - 1) / grain);
  return ((n + pieces - 1) / pieces + grain - 1) / grain * grain;
}

void run_with_helpers(HelperThreads& helpers, int64_t n, int64_t grain,
                      FunctionRef<void(int64_t, int64_t)> body) {
  constexpr auto kLong = std::chrono::microseconds(80);
  thread_local LoopTimes times;
  const int threads = num_threads();
  const int64_t step = step_of(n, grain, threads);
  FirstError error;
  LoopTimes::Clock::duration& time = times.of(body, n, grain);
  const auto start = LoopTimes::Clock::now();
#ifdef REWIND_OPENMP
  const bool wake_at_once = time > kLong;
#else
  const bool wake_at_once = true;
#endif
  helpers.run((n + step - 1) / step, threads - 1, wake_at_once,
              [&](int64_t i) { error.run(body, i * step, std::min(n, (i + 1) * step)); });
  time = LoopTimes::Clock::now() - start;
  error.rethrow();
}

}  // namespace

SerialScope::SerialScope() : outer_(std::exchange(t_inside, true)) {}
SerialScope::~SerialScope() { t_inside = outer_; }
bool runs_alone() {
#ifdef REWIND_OPENMP
  return t_inside || omp_in_parallel();
#else
  return t_inside;
#endif
}

int num_threads() {
  const int n = g_threads.load(std::memory_order_relaxed);
  return n > 0 ? n : default_threads();
}

void set_num_threads(int count) {
  g_threads.store(std::max(0, count), std::memory_order_relaxed);
#ifdef REWIND_OPENMP
  omp_set_num_threads(num_threads());
#endif
}

void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = std::min<int64_t>(num_threads(), (n + grain - 1) / grain);
  if (pieces <= 1 || t_inside) return body(0, n);
  HelperThreads& helpers = Helpers::get();
#ifdef REWIND_OPENMP
  if (!cores_are_crowded()) {
    const int64_t step = step_of(n, grain, pieces);
    Shares shares((n + step - 1) / step, pieces);
    FirstError error;
#pragma omp parallel num_threads(int(pieces))
    {
      const int mine = omp_get_thread_num();
      for (int64_t i = 0, end = 0; shares.take(mine, 1, i, end);)
        error.run(body, i * step, std::min(n, (i + 1) * step));
    }
    return error.rethrow();
  }
  if (omp_in_parallel()) return body(0, n);  // a team of the user's
#endif
  run_with_helpers(helpers, n, grain, body);
}

}  // namespace rw
