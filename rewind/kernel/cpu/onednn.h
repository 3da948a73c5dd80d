// What every user of oneDNN in this folder shares. Included by files that are compiled with REWIND_ONEDNN
// only. Primitives are made and run with an OpenmpAlone on the stack: work is shared out by parallel_for, and
// what oneDNN sums up, in which order, depends on how many threads it sees.
#pragma once

#include <dnnl.hpp>

#include "rewind/base/thread_own.h"
#include "rewind/device/openmp.h"

namespace rw {

// One engine for the process; it outlives every cache.
inline dnnl::engine& onednn_engine() {
  static auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// Streams carry no state on the CPU; one a thread saves making them.
inline dnnl::stream& onednn_stream() {
  struct Stream {
    dnnl::stream stream{onednn_engine()};
  };
  return ThreadOwn<Stream>::get().stream;
}

}  // namespace rw
