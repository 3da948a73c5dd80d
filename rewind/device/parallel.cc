#include "rewind/device/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "rewind/device/serial_scope.h"

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

}  // namespace

SerialScope::SerialScope() : outer_(std::exchange(t_inside, true)) {}
SerialScope::~SerialScope() { t_inside = outer_; }

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
  const int64_t step = ((n + pieces - 1) / pieces + grain - 1) / grain * grain;
  FirstError error;
#ifdef REWIND_OPENMP
#pragma omp parallel for num_threads(int(pieces)) schedule(static, 1)
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t begin = i * step;
    if (begin < n) error.run(body, begin, std::min(n, begin + step));
  }
#else
  std::vector<std::thread> threads;
  for (int64_t begin = step; begin < n; begin += step)
    threads.emplace_back([&, begin] { error.run(body, begin, std::min(n, begin + step)); });
  error.run(body, 0, std::min(n, step));
  for (std::thread& t : threads) t.join();
#endif
  error.rethrow();
}

}  // namespace rw
