#include "rewind/tensor/variable_watch.h"

#include <atomic>

namespace rw {
namespace {
std::atomic<VariableWatcher> g_watcher{nullptr};
}

void set_variable_watcher(VariableWatcher watcher) { g_watcher.store(watcher, std::memory_order_release); }
void watch_variable(const Variable& variable) {
  if (const VariableWatcher w = g_watcher.load(std::memory_order_acquire)) w(variable);
}

}  // namespace rw
