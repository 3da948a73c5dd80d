// Memory of small objects that come and go with every op: each thread keeps the blocks it freed.
#pragma once

#include <cstddef>
#include <new>

namespace rw {

template <class T, int kKept = 512>
class Pool {
 public:
  static void* take() {
    Cache& c = cache();
    if (c.count > 0) return c.blocks[--c.count];
    return ::operator new(sizeof(T), std::align_val_t(alignof(T)));
  }
  static void give(void* block) noexcept {
    Cache& c = cache();
    if (c.count < kKept && !c.gone) c.blocks[c.count++] = block;
    else ::operator delete(block, std::align_val_t(alignof(T)));
  }

 private:
  // Trivially destructible, so that objects freed after the thread's own destructors still find it; a guard
  // with a destructor empties it and marks it gone.
  struct Cache {
    int count;
    bool armed, gone;
    void* blocks[kKept];
  };
  struct Guard {
    ~Guard() {
      raw_.gone = true;
      while (raw_.count > 0) ::operator delete(raw_.blocks[--raw_.count], std::align_val_t(alignof(T)));
    }
  };
  static Cache& cache() {
    if (!raw_.armed) [[unlikely]]
      arm();
    return raw_;
  }
  [[gnu::noinline]] static void arm() {
    static thread_local Guard guard;
    raw_.armed = true;
    (void)guard;
  }
  static inline constinit thread_local Cache raw_{0, false, false, {}};
};

}  // namespace rw
