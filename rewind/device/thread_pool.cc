#include "rewind/device/thread_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <system_error>

namespace rw {
namespace {

using Clock = std::chrono::steady_clock;

// What lies between two loops of a step is shorter than this, and so are most waits for a helper's last
// piece.
constexpr auto kSpin = std::chrono::microseconds(40);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether `ready` became true within kSpin.
template <class Ready>
bool spin_until(Ready ready) {
  constexpr int kBetweenLooksAtTheClock = 32;
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < kBetweenLooksAtTheClock; ++i) {
      if (ready()) return true;
      relax();
    }
  } while (Clock::now() < end);
  return ready();
}

}  // namespace

// One cache line per helper, written by the caller that holds it and by the helper.
struct alignas(64) ThreadPool::Helper {
  enum State : uint32_t { kIdle, kPosted, kRunning, kEnd };
  std::atomic<uint32_t> state{kIdle};
  int index = 0;
  const FunctionRef<void(int)>* job = nullptr;
  std::thread thread;

  void post(const FunctionRef<void(int)>& what, int i) {
    job = &what;
    index = i;
    uint32_t idle = kIdle;  // or kEnd, which stays
    if (state.compare_exchange_strong(idle, kPosted)) state.notify_one();
  }
  // Whether the helper has not begun the job and will not.
  bool call_off() {
    uint32_t posted = kPosted;
    return state.compare_exchange_strong(posted, kIdle) || posted == kEnd;
  }
  void wait_until_done() {
    const auto done = [this] { return state.load(std::memory_order_acquire) != kRunning; };
    if (spin_until(done)) return;
    while (!done()) state.wait(kRunning);
  }
};

ThreadPool::ThreadPool() = default;
ThreadPool::~ThreadPool() { stop(); }

int ThreadPool::run(int helpers, FunctionRef<void(int)> job) {
  std::array<uint8_t, kMostHelpers> claimed;
  if (helpers > count_.load(std::memory_order_acquire)) grow(std::min(helpers, kMostHelpers));
  const int count = claim(helpers, claimed);
  for (int i = 0; i < count; ++i) helpers_[claimed[size_t(i)]]->post(job, i + 1);
  job(0);
  int began = count;
  std::array<bool, kMostHelpers> called_off;
  for (int i = count; i-- > 0;) {
    called_off[size_t(i)] = helpers_[claimed[size_t(i)]]->call_off();
    began -= called_off[size_t(i)];
  }
  for (int i = 0; i < count; ++i)
    if (!called_off[size_t(i)]) helpers_[claimed[size_t(i)]]->wait_until_done();
  release(claimed, count);
  return began;
}

void ThreadPool::grow(int count) {
  const std::lock_guard lock(growing_);
  int have = count_.load(std::memory_order_relaxed);
  if (stopped_) return;
  for (; have < count; ++have) {
    auto helper = std::make_unique<Helper>();
    try {
      helper->thread = std::thread([h = helper.get()] { help(*h); });
    } catch (const std::system_error&) {
      return;  // as many as the system gives
    }
    helpers_[size_t(have)] = std::move(helper);
    idle_[size_t(have / 64)].fetch_or(uint64_t{1} << (have % 64), std::memory_order_release);
    count_.store(have + 1, std::memory_order_release);
  }
}

// The same helpers come first every time: their caches hold what they worked on last.
int ThreadPool::claim(int wanted, std::array<uint8_t, kMostHelpers>& claimed) {
  int count = 0;
  for (size_t w = 0; w < idle_.size() && count < wanted; ++w) {
    uint64_t idle = idle_[w].load(std::memory_order_relaxed);
    uint64_t mine;
    do {
      mine = 0;
      uint64_t rest = idle;
      for (int i = count; i < wanted && rest != 0; ++i, rest &= rest - 1) mine |= rest & -rest;
    } while (mine != 0 && !idle_[w].compare_exchange_weak(idle, idle & ~mine, std::memory_order_acquire));
    for (; mine != 0; mine &= mine - 1)
      claimed[size_t(count++)] = uint8_t(64 * w + size_t(std::countr_zero(mine)));
  }
  return count;
}

void ThreadPool::release(const std::array<uint8_t, kMostHelpers>& claimed, int count) {
  std::array<uint64_t, kWords> bits{};
  for (int i = 0; i < count; ++i) bits[claimed[size_t(i)] / 64] |= uint64_t{1} << (claimed[size_t(i)] % 64);
  for (size_t w = 0; w < bits.size(); ++w)
    if (bits[w] != 0) idle_[w].fetch_or(bits[w], std::memory_order_release);
}

void ThreadPool::help(Helper& helper) {
  const auto wanted = [&] { return helper.state.load(std::memory_order_acquire) != Helper::kIdle; };
  for (;;) {
    if (!spin_until(wanted)) helper.state.wait(Helper::kIdle);
    uint32_t posted = Helper::kPosted;
    if (helper.state.compare_exchange_strong(posted, Helper::kRunning)) {
      (*helper.job)(helper.index);
      helper.state.store(Helper::kIdle);
      helper.state.notify_one();
    } else if (posted == Helper::kEnd) {
      return;
    }
  }
}

void ThreadPool::stop() {
  const std::lock_guard lock(growing_);
  stopped_ = true;
  const int count = count_.exchange(0);
  for (auto& word : idle_) word.store(0);
  for (int i = 0; i < count; ++i) {
    Helper& helper = *helpers_[size_t(i)];
    if (helper.thread.get_id() == std::this_thread::get_id()) {
      helper.thread.detach();  // its job ends the process
      continue;
    }
    for (uint32_t idle = Helper::kIdle; !helper.state.compare_exchange_weak(idle, Helper::kEnd);
         idle = Helper::kIdle)
      std::this_thread::yield();
    helper.state.notify_one();
    helper.thread.join();
  }
}

}  // namespace rw
