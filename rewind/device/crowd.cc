#include "rewind/device/crowd.h"

#ifdef REWIND_OPENMP
#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "rewind/device/parallel.h"

namespace rw {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The scheduler takes a core away from a thread that wants to go on only if another one waits for it. Alone,
// a process sees a few such turns a second; beside one busy thread some hundreds. A thread that works for a
// moment now and then, as one that reads data does, makes turns too, so many turns are a reason to look at
// the time that was lost by them: beside one busy thread half of a core's.
constexpr auto kLook = milliseconds(30);
constexpr long kTurns = 4;             // in kLook
constexpr double kCrowdedShare = 0.2;  // of a core
// Programs that start and end at once are no crowd: it lasts for some looks in a row.
constexpr int kLooks = 3;
// How long a crowd is believed in before the cores are tried again. Each trial that fails doubles it.
constexpr auto kFirstBelief = milliseconds(60), kLongestBelief = milliseconds(4000);

// Threads that sleep inside an OpenMP team, as many as it takes to have more than there are cores.
class SleepingTeam {
 public:
  void start(int sleepers) {
    leave_ = false;
    thread_ = std::thread([this, sleepers] {
#pragma omp parallel num_threads(sleepers + 1)
      {
        std::unique_lock lock(mutex_);
        left_.wait(lock, [this] { return leave_; });
      }
    });
  }
  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      leave_ = true;
    }
    left_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  bool leave_ = false;
  std::thread thread_;
};

// Nanoseconds that the threads of this process have waited for a core, or -1 where the system does not tell.
// Without malloc.
int64_t waited_for_cores() {
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return -1;
  int64_t total = -1;
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, tasks, entries, sizeof entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      char path[64];
      snprintf(path, sizeof path, "%.32s/schedstat", entry->d_name);
      const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;  // "." and "..", or the thread has ended
      char text[96];
      const ssize_t size = read(file, text, sizeof text - 1);
      close(file);
      if (size <= 0) continue;
      text[size] = 0;
      long long ran = 0;
      long long waited = 0;  // in the queue of a core
      if (sscanf(text, "%lld %lld", &ran, &waited) == 2) total = std::max<int64_t>(total, 0) + waited;
    }
  }
  close(tasks);
  return total;
}

class Watch {
 public:
  bool crowded() {
    const int64_t now = Clock::now().time_since_epoch().count();
    if (now >= next_look_.load(std::memory_order_relaxed)) look(now);
    return crowded_.load(std::memory_order_relaxed);
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    next_look_ = kNever;
    team_.end();
    crowded_ = false;
  }

 private:
  static constexpr int64_t kNever = INT64_MAX;

  static double nanoseconds(int64_t ticks) {
    return double(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::duration(ticks)).count());
  }

  static long turns() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_nivcsw;
  }

  void look(int64_t now) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || now < next_look_.load(std::memory_order_relaxed)) return;
    const long seen = turns();
    const int64_t since = now - last_look_;
    const auto lasts = [](auto time) { return std::chrono::duration_cast<Clock::duration>(time).count(); };
    const long most = kTurns * std::max<int64_t>(1, since / lasts(kLook));
    auto wait = lasts(kLook);
    if (crowded_) {
      become(false);
      tried_at_ = now;
      last_waited_ = -1;
    } else if (last_look_ != 0 && seen - last_turns_ >= most) {
      const int64_t waited = waited_for_cores();
      const bool lost =
          last_waited_ >= 0 && double(waited - last_waited_) > kCrowdedShare * nanoseconds(since);
      const bool again = now - tried_at_ < 4 * lasts(kLook);
      last_waited_ = waited;
      lossy_looks_ = lost ? lossy_looks_ + 1 : 0;
      if (lost && (again || lossy_looks_ >= kLooks)) {
        belief_ = again ? std::min(2 * belief_, lasts(kLongestBelief)) : lasts(kFirstBelief);
        become(true);
        wait = belief_;
      }
    } else {
      last_waited_ = -1;
      lossy_looks_ = 0;
    }
    last_look_ = now;
    last_turns_ = seen;
    next_look_.store(now + wait, std::memory_order_relaxed);
  }

  void become(bool crowded) {
    if (crowded) {
      try {
        team_.start(std::max(1, omp_get_num_procs() - num_threads() + 1));
      } catch (const std::system_error&) {  // NOLINT: nothing to do
        // no thread to be had: our own loops still take care
      }
    } else {
      team_.end();
    }
    crowded_ = crowded;
  }

  std::mutex mutex_;
  std::atomic<bool> crowded_{false};
  std::atomic<int64_t> next_look_{std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT") ? kNever
                                                                                                  : 0};
  SleepingTeam team_;
  int64_t last_look_ = 0, tried_at_ = 0, belief_ = 0;  // Clock's ticks; by mutex_, like what follows
  int64_t last_waited_ = -1;                           // at the last look, if there were many turns
  int lossy_looks_ = 0;                                // in a row
  long last_turns_ = 0;
};

// Never destroyed: threads of the user may still compute while the process ends.
Watch*& watch() {
  static Watch* watch = new Watch;
  return watch;
}

}  // namespace

bool cores_are_crowded() { return watch()->crowded(); }
void stop_watching_cores() { watch()->stop(); }
void forget_crowd() { watch() = new Watch; }

}  // namespace rw

#else

namespace rw {
bool cores_are_crowded() { return false; }
void stop_watching_cores() {}
void forget_crowd() {}
}  // namespace rw

#endif
