#include "rewind/tensor/config.h"

#include <algorithm>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/base/float_mode.h"
#include "rewind/device/device.h"
#include "rewind/device/memory_budget.h"
#include "rewind/device/parallel.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/history.h"
#include "rewind/runtime/program.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {
namespace {
thread_local Device* t_device = nullptr;
}

DeviceScope::DeviceScope(std::string_view name) : outer_(t_device) { t_device = &find_device(name); }
DeviceScope::~DeviceScope() { t_device = static_cast<Device*>(outer_); }

namespace config {

std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type) {
  std::vector<PhysicalDevice> list;
  for (const Device* d : list_devices()) {
    const std::string type = d->name().substr(0, d->name().find(':'));
    if (device_type.empty() || device_type == type) list.push_back({"/physical_device:" + d->name(), type});
  }
  return list;
}

void set_flush_denormals(bool enabled) {
  g_kernel_float_mode.store(enabled ? kFlush : 0, std::memory_order_relaxed);
}
bool get_flush_denormals() { return g_kernel_float_mode.load(std::memory_order_relaxed) != 0; }

namespace threading {
void set_intra_op_parallelism_threads(int count) { set_num_threads(count); }
int get_intra_op_parallelism_threads() { return num_threads(); }
}  // namespace threading
}  // namespace config

namespace debugging {
void set_log_device_placement(bool enabled) { rw::set_log_device_placement(enabled); }
}  // namespace debugging

namespace memory {

Stats stats(std::string_view device) {
  Device& d = find_device(device);
  const MemoryStats s = d.allocator().stats();
  Stats stats{.current = s.in_use,
              .peak = s.peak,
              .reserved = s.reserved,
              .limit = s.limit,
              .allocations = s.allocations};
  if (!d.is_host()) return stats;
  const HistoryStats history = history_stats();
  stats.variables = variable_bytes();
  stats.droppable = history.droppable;
  stats.pinned = history.pinned;
  stats.frames = Program::frame_bytes();
  stats.tensors =
      std::max<int64_t>(0, stats.current - stats.variables - stats.droppable - stats.pinned - stats.frames);
  stats.remembered = history.written;
  stats.remade = history.remade;
  stats.spilled = history.spilled;
  stats.read_back = history.read_back;
  return stats;
}
void reset_peak(std::string_view device) { find_device(device).allocator().reset_peak(); }
void trim(std::string_view device) { find_device(device).allocator().trim(); }
void set_budget(std::string_view device, int64_t bytes) {
  History::get();  // from now on refusals can say what holds the memory
  set_memory_limit(find_device(device), bytes);
}
void set_spill(std::string_view device, const SpillOptions& options) {
  const Device& d = find_device(device);
  if (!d.is_host()) fail_unimplemented("set_spill", "values of " + d.name() + " do not go to files");
  History& history = History::get();
  const std::lock_guard lock(history.mutex);
  if (options.path.empty()) history.spill.close();
  else history.spill.open(options.path, options.bytes, options.bytes_per_second);
}
int64_t budget(std::string_view device) { return memory_limit(find_device(device)); }

}  // namespace memory
}  // namespace rw
