// The one way to run a loop on several threads.
#pragma once

#include <cstdint>

#include "rewind/base/function_ref.h"

namespace rw {

// Calls body(begin, end) on disjoint ranges that cover [0, n), from up to num_threads() threads, and returns
// when all are done. Ranges other than the last hold a multiple of `grain` indices; n <= grain runs on the
// caller. The split depends on the number of threads, so what body computes for an index must not depend on
// its range. An exception in a body is rethrown here once all threads are done. Nested calls run on their
// caller's thread.
void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

int num_threads();
void set_num_threads(int count);  // 0: as many as the machine has cores

}  // namespace rw
