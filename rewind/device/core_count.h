// How many threads are worth having by default: a core each, of those the process may use.
#pragma once

#include <span>
#include <string>

namespace rw {

// The cores behind the processors `allowed`, hyperthreads of one core counting once, but no more than the
// control group's quota of processor time allows (rounded up); at least 1. `root` is where /sys and /proc are
// looked for: "" but in tests. What cannot be read does not limit.
int usable_cores(const std::string& root, std::span<const int> allowed);

// For this process, as it was when first asked: OMP_NUM_THREADS where that is set, else usable_cores of the
// processors that its affinity mask has.
int default_thread_count();

}  // namespace rw
