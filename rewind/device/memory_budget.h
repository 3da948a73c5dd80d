// The most that a device's allocator may hold, and who gives memory back when it is short.
#pragma once

#include <cstdint>
#include <string>

#include "rewind/device/device.h"

namespace rw {

// More than `bytes`, caches included, is refused from now on; 0 stands for what the machine has. Throws
// ResourceExhaustedError, and changes nothing, when tensors hold more already.
void set_memory_limit(Device& device, int64_t bytes);
// 0 when none was set.
int64_t memory_limit(const Device& device);
// The same of the CPU, fast.
int64_t cpu_memory_limit();
// What a block of so many bytes takes.
int64_t block_bytes(const Device& device, int64_t bytes);

// Called when a device has no room, before it says so: gives back memory that is only kept for speed. Defined
// in runtime/program.cc.
void reclaim_memory();

// Called after that: drops values that can be made again, at least so many bytes if there are so many.
// False when there was nothing to drop. Defined in runtime/history.cc, as is the next.
bool drop_values(int64_t bytes);
// Says, for a refusal, what holds the memory.
std::string memory_words();

}  // namespace rw
