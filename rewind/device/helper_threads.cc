#include "rewind/device/helper_threads.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace rw {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kAlone = std::chrono::microseconds(20);  // about what waking a thread takes

}  // namespace

struct HelperThreads::Job {
  FunctionRef<void(int64_t)> work;
  int64_t pieces;
  std::atomic<int64_t> taken{0};
  int places;      // for further helpers
  int inside = 0;  // helpers at work; by mutex_, like places

  bool run_one() {
    const int64_t i = taken.fetch_add(1, std::memory_order_relaxed);
    if (i >= pieces) return false;
    work(i);
    return true;
  }
  bool more() const { return taken.load(std::memory_order_relaxed) < pieces; }
};

void HelperThreads::run(int64_t pieces, int helpers, bool wake_at_once, FunctionRef<void(int64_t)> work) {
  Job job{.work = work, .pieces = pieces, .places = helpers};
  const std::unique_lock serving(serving_, std::try_to_lock);
  bool called = !serving || helpers <= 0;  // then there is nobody to call
  const bool alone = called;
  const auto start = Clock::now();
  do {
    if (!called && job.more() && (wake_at_once || Clock::now() - start > kAlone)) {
      call(job, int(std::min<int64_t>(helpers, pieces)));
      called = true;
    }
  } while (job.run_one());
  if (alone || !called) return;
  std::unique_lock lock(mutex_);
  job_ = nullptr;
  done_.wait(lock, [&] { return job.inside == 0; });
}

void HelperThreads::call(Job& job, int helpers) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    try {
      while (int(threads_.size()) < helpers) threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
      helpers = int(threads_.size());  // as many as the system gives
    }
    job_ = &job;
  }
  for (int i = 0; i < helpers; ++i) wanted_.notify_one();
}

void HelperThreads::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [&] { return stopped_ || (job_ && job_->places > 0 && job_->more()); });
    if (stopped_) return;
    Job& job = *job_;
    --job.places;
    ++job.inside;
    lock.unlock();
    while (job.run_one()) {}
    lock.lock();
    if (--job.inside == 0) done_.notify_one();
  }
}

void HelperThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wanted_.notify_all();
  for (std::thread& t : threads_) {
    if (t.get_id() == std::this_thread::get_id()) t.detach();  // a piece of work ends the process
    else t.join();
  }
  threads_.clear();
}

}  // namespace rw
