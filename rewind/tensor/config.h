// Settings of the process and the thread: devices, threads, logging. Any thread may set them; they hold for
// the process, a DeviceScope for the thread that made it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rw {

struct PhysicalDevice {
  std::string name;         // "/physical_device:CPU:0"
  std::string device_type;  // "CPU"
};

// Ops made while it lives run on the device of this name; throws NotFoundError when there is none.
class DeviceScope {
 public:
  explicit DeviceScope(std::string_view name);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  void* outer_;
};
// auto scope = rw::device("CPU:0");
inline DeviceScope device(std::string_view name) { return DeviceScope(name); }

namespace config {
// All of them, or those of a type ("CPU").
std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type = "");
// Whether ops take denormals (float32 below 1.2e-38, float64 below 2.3e-308) for zeros and give zeros
// instead, as TensorFlow's do; true by default. Some processors take a hundred times as long for a denormal.
// Ops that only move or negate numbers keep them, float16 has its own throughout, and the mode of the calling
// thread is not touched.
void set_flush_denormals(bool enabled);
bool get_flush_denormals();

namespace threading {
// Threads that one op may use; 0: as many as there are cores. Results do not depend on it.
void set_intra_op_parallelism_threads(int count);
int get_intra_op_parallelism_threads();
}  // namespace threading
}  // namespace config

namespace debugging {
// Prints where each op runs, to stderr.
void set_log_device_placement(bool enabled);
}  // namespace debugging

namespace memory {
struct Stats {
  int64_t current = 0;   // bytes held by tensors
  int64_t peak = 0;      // the largest since the start or the last reset
  int64_t reserved = 0;  // current plus what is cached for reuse
  int64_t limit = 0;
  int64_t allocations = 0;  // how often memory was asked for since the start
  // What `current` is made of. A value that two hold counts for the first of them.
  int64_t variables = 0;  // parameters, optimizer state and other variables
  int64_t droppable = 0;  // results under tapes that a budget may drop and make again
  int64_t pinned = 0;     // such results that ops read right now
  int64_t frames = 0;     // arenas of functions
  int64_t tensors = 0;    // the rest: inputs, results, gradients, scratch memory
  // Eager calls under tapes while a budget was set, since the start.
  int64_t remembered = 0;  // written down, so that results could be dropped
  int64_t remade = 0;      // run again
  // Results under tapes in the file of set_spill.
  int64_t spilled = 0;    // bytes that are there now
  int64_t read_back = 0;  // results read from it since the start
};
Stats stats(std::string_view device = "CPU:0");
void reset_peak(std::string_view device = "CPU:0");
// Gives cached blocks back to the system.
void trim(std::string_view device = "CPU:0");
// The most that the library may hold on the device, in bytes; 0: as much as the machine has. Functions, and
// eager code under tapes, recompute what does not fit; what cannot fit is refused. Throws
// ResourceExhaustedError when tensors hold more already.
void set_budget(std::string_view device, int64_t bytes);
int64_t budget(std::string_view device = "CPU:0");

struct SpillOptions {
  std::string path;               // a folder for the file, which has no name; empty: no spilling
  int64_t bytes = 0;              // the most it may take; 0: as much as the disk has
  double bytes_per_second = 1e9;  // what the disk is good for, in each direction
};
// A third choice under a budget, off by default: eager results under tapes go to a file where that is faster
// than to make them again. A disk that is full or fails costs time, never a value. Throws NotFoundError,
// FailedPreconditionError or ResourceExhaustedError when there can be no file.
void set_spill(std::string_view device, const SpillOptions& options);
}  // namespace memory

// 256_MiB
inline namespace literals {
constexpr int64_t operator""_KiB(unsigned long long n) { return int64_t(n) << 10; }
constexpr int64_t operator""_MiB(unsigned long long n) { return int64_t(n) << 20; }
constexpr int64_t operator""_GiB(unsigned long long n) { return int64_t(n) << 30; }
}  // namespace literals

}  // namespace rw
