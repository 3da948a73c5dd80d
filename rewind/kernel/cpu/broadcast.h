// Runs over the innermost axis of a broadcast: the way between a BroadcastWalk and loops that know steps of 0
// and 1.
#pragma once

#include <algorithm>
#include <array>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/elementwise.h"

namespace rw {

// Calls run(offsets, steps, at, n) for runs of n elements: input k starts at element offsets[k] and moves by
// steps[k], the output starts at element `at`. Runs of different threads are disjoint.
template <class Run>
void for_each_run(const BroadcastWalk& plan, int64_t size, Run run) {
  using Offsets = std::array<int64_t, BroadcastWalk::kMaxInputs>;
  const size_t last = plan.dims.size() - 1;
  const int64_t inner = plan.dims[last];
  const size_t n = size_t(plan.num_inputs);
  Offsets steps{};
  for (size_t k = 0; k < n; ++k) steps[k] = plan.strides[k][last];
  const int64_t rows = size / inner;
  if (rows == 1) {  // threads share the one row
    parallel_for(inner, kElementwiseGrain, [&](int64_t begin, int64_t end) {
      Offsets offsets{};
      for (size_t k = 0; k < n; ++k) offsets[k] = begin * steps[k];
      run(offsets, steps, begin, end - begin);
    });
    return;
  }
  parallel_for(rows, std::max<int64_t>(1, kElementwiseGrain / inner), [&](int64_t begin, int64_t end) {
    SmallVector<int64_t, 6> index(last + 1);
    Offsets offsets{};
    int64_t rest = begin;
    for (size_t d = last; d-- > 0;) {
      index[d] = rest % plan.dims[d];
      rest /= plan.dims[d];
      for (size_t k = 0; k < n; ++k) offsets[k] += index[d] * plan.strides[k][d];
    }
    for (int64_t row = begin; row < end; ++row) {
      run(offsets, steps, row * inner, inner);
      for (size_t d = last; d-- > 0;) {
        for (size_t k = 0; k < n; ++k) offsets[k] += plan.strides[k][d];
        if (++index[d] < plan.dims[d]) break;
        for (size_t k = 0; k < n; ++k) offsets[k] -= plan.dims[d] * plan.strides[k][d];
        index[d] = 0;
      }
    }
  });
}

}  // namespace rw
