#include "rewind/compiler/llvm/compile.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"
#ifdef REWIND_LLVM
#include "rewind/compiler/llvm/emit/jit.h"
#endif

namespace rw::loop {
namespace {

constexpr size_t kMostKernels = 4096;  // in the cache

std::vector<std::shared_ptr<const Executable>> translate(std::span<const Kernel* const> kernels) {
#ifdef REWIND_LLVM
  return emit::make_native(kernels);
#else
  std::vector<std::shared_ptr<const Executable>> result;
  for (const Kernel* k : kernels) result.push_back(interpret(*k));
  return result;
#endif
}

// Kernels by structure. An entry without its executable is being compiled by some thread.
class Cache {
 public:
  std::vector<std::shared_ptr<const Executable>> get(std::span<const Kernel* const> kernels) {
    std::vector<std::shared_ptr<Entry>> entries;
    std::vector<std::shared_ptr<Entry>> mine;
    {
      std::lock_guard lock(mutex_);
      for (const Kernel* k : kernels) {
        auto [entry, is_new] = find_or_add(*k);
        if (is_new) mine.push_back(entry);
        entries.push_back(std::move(entry));
      }
    }
    if (!mine.empty()) fill(mine);
    std::vector<std::shared_ptr<const Executable>> result;
    std::unique_lock lock(mutex_);
    for (const auto& entry : entries) {
      done_.wait(lock, [&] { return entry->code || entry->failed; });
      if (!entry->code)
        throw InternalError("[compile] a kernel failed to compile: " + to_string(entry->kernel));
      result.push_back(entry->code);
    }
    return result;
  }

 private:
  struct Entry {
    Kernel kernel;
    uint64_t hash;
    std::shared_ptr<const Executable> code;
    bool failed = false;
    std::list<std::shared_ptr<Entry>>::iterator place;
  };

  std::pair<std::shared_ptr<Entry>, bool> find_or_add(const Kernel& kernel) {
    const uint64_t hash = hash_of(kernel);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (!equal(it->second->kernel, kernel)) continue;
      order_.splice(order_.begin(), order_, it->second->place);
      return {it->second, false};
    }
    auto entry = std::make_shared<Entry>(Entry{.kernel = kernel, .hash = hash});
    order_.push_front(entry);
    entry->place = order_.begin();
    by_hash_.emplace(hash, entry);
    if (order_.size() > kMostKernels) remove(order_.back());
    return {entry, true};
  }

  void remove(const std::shared_ptr<Entry>& listed) {
    const std::shared_ptr<Entry> entry = listed;  // NOLINT: `listed` may be the list's own
    const auto [first, last] = by_hash_.equal_range(entry->hash);
    for (auto it = first; it != last; ++it) {
      if (it->second != entry) continue;
      by_hash_.erase(it);
      order_.erase(entry->place);
      return;
    }
  }

  // Compiles these entries, which nobody else does.
  void fill(const std::vector<std::shared_ptr<Entry>>& mine) {
    std::vector<const Kernel*> kernels;
    for (const auto& entry : mine) kernels.push_back(&entry->kernel);
    try {
      for (const Kernel* k : kernels) verify(*k);
      const auto code = translate(kernels);
      std::lock_guard lock(mutex_);
      for (size_t i = 0; i < mine.size(); ++i) mine[i]->code = code[i];
      done_.notify_all();
    } catch (...) {
      std::lock_guard lock(mutex_);
      for (const auto& entry : mine) {
        entry->failed = true;
        remove(entry);
      }
      done_.notify_all();
      throw;
    }
  }

  std::mutex mutex_;
  std::condition_variable done_;
  std::list<std::shared_ptr<Entry>> order_;  // the latest used first
  std::unordered_multimap<uint64_t, std::shared_ptr<Entry>> by_hash_;
};

Cache& cache() {
  static Cache& c = *new Cache;
  return c;
}

}  // namespace

std::shared_ptr<const Executable> compile(const Kernel& kernel) {
  const Kernel* one[] = {&kernel};
  return cache().get(one)[0];
}

std::vector<std::shared_ptr<const Executable>> compile_all(std::span<const Kernel* const> kernels) {
  return cache().get(kernels);
}

bool has_native_code() {
#ifdef REWIND_LLVM
  return true;
#else
  return false;
#endif
}

std::string compiler_name() {
#ifdef REWIND_LLVM
  return emit::native_name();
#else
  return "interpreter";
#endif
}

}  // namespace rw::loop
