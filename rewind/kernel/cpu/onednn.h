// What every user of oneDNN in this folder shares. Included by files that are compiled with REWIND_ONEDNN
// only.
#pragma once

#include <dnnl.hpp>
#ifdef REWIND_OPENMP
#include <omp.h>
#endif

namespace rw {

// One engine for the process; it outlives every cache.
inline dnnl::engine& onednn_engine() {
  static auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// Streams carry no state on the CPU; one a thread saves making them.
inline dnnl::stream& onednn_stream() {
  thread_local dnnl::stream stream(onednn_engine());
  return stream;
}

// The number of threads that oneDNN sees on this thread while the object lives.
class OnednnThreads {
 public:
#ifdef REWIND_OPENMP
  explicit OnednnThreads(int threads) : before_(omp_get_max_threads()), changed_(before_ != threads) {
    if (changed_) omp_set_num_threads(threads);
  }
  ~OnednnThreads() {
    if (changed_) omp_set_num_threads(before_);
  }
  OnednnThreads(const OnednnThreads&) = delete;
  OnednnThreads& operator=(const OnednnThreads&) = delete;

 private:
  int before_;
  bool changed_;
#else
  explicit OnednnThreads(int) {}
#endif
};

}  // namespace rw
