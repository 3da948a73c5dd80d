// Results that no cache holds, written past the caches: a plain store first fetches the line that it fills.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/kernel.h"

namespace rw {

// The elements of one output, written in runs by loops that do not know how large the whole is.
class LargeResult {
 public:
  // Who reads a result of at least this many bytes finds nothing of its beginning in a cache.
  static constexpr int64_t kBytes = int64_t(32) << 20;

  // In the place of an input its lines are in the caches already.
  LargeResult(const View& out, std::initializer_list<const View*> inputs)
      : data_(static_cast<char*>(out.data)),
        item_(int64_t(size_of(out.dtype))),
        large_(out.size * item_ >= kBytes && std::none_of(inputs.begin(), inputs.end(), [&](const View* in) {
                 return in->data == out.data;
               })) {}

  // Elements [begin, begin + n) by calls loop(i, to, count): the elements from begin + i on, count of them,
  // to be written to `to`.
  template <class Loop>
  void write(int64_t begin, int64_t n, Loop loop) const {
    char* to = data_ + begin * item_;
    if (large_ && n * item_ >= kShortRun && uintptr_t(to) % kLine == 0) [[unlikely]]
      return write_past_caches(to, n, loop);
    loop(0, to, n);
  }

 private:
  static constexpr int64_t kLine = 64;
  static constexpr int64_t kBlock = 512;      // bytes at a time; with more, reads and writes come in bursts
  static constexpr int64_t kShortRun = 8192;  // bytes; the end of a run waits for all its stores

  template <class Loop>
  void write_past_caches(char* to, int64_t n, Loop loop) const {
    const ElementwiseLoops& loops = *isa_loops().elementwise;
    alignas(kLine) char block[kBlock];
    const int64_t step = kBlock / item_;
    for (int64_t i = 0; i < n; i += step) {
      const int64_t count = std::min(step, n - i);
      loop(i, block, count);
      loops.move_past_caches(block, to + i * item_, count * item_);
    }
    loops.finish_moves();
  }

  char* data_;
  int64_t item_;
  bool large_;
};

}  // namespace rw
