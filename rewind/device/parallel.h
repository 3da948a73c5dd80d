// The one way to run a loop on several threads.
#pragma once

#include <cstdint>

#include "rewind/base/function_ref.h"

namespace rw {

// Calls body(begin, end) on disjoint ranges that cover [0, n), from up to num_threads() threads, and returns
// when all are done. Ranges other than the last hold a multiple of `grain` indices; n <= grain runs on the
// caller. A loop takes as many threads as its work is worth, by how long it took before (loop_cost.h), so
// what body computes for an index must not depend on its range. An exception in a body is rethrown here once
// all threads are done. Nested calls run on their caller's thread. `code` tells loops apart that share the
// code of their body and run something else inside.
void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body,
                  const void* code = nullptr);

int num_threads();
void set_num_threads(int count);  // 0: a thread for each core that the process may use

}  // namespace rw
