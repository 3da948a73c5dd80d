// The floating-point mode of a thread: rounding, and what becomes of denormals. The one place that touches
// the processor's control register.
//
// Kernels compute in one mode on every thread, whatever the mode of the thread that calls them: they round to
// nearest even and flush denormals, which as inputs count as zeros and as results become zeros of their sign.
// (A denormal costs some processors over a hundred cycles.) Moves, sign changes and bit casts keep them.
#pragma once

#include <atomic>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace rw {

// kRounding and kFlush are the parts of the register that change results; the rest (exceptions) stays the
// caller's.
#if defined(__x86_64__)
using FloatControl = uint32_t;                                      // MXCSR
inline constexpr FloatControl kRounding = 0x6000, kFlush = 0x8040;  // flush to zero, denormals are zeros
inline FloatControl float_control() { return _mm_getcsr(); }
inline void set_float_control(FloatControl control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
using FloatControl = uint64_t;                                          // FPCR
inline constexpr FloatControl kRounding = 3u << 22, kFlush = 1u << 24;  // FZ does both
inline FloatControl float_control() {
  FloatControl control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void set_float_control(FloatControl control) {
  asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
#else
using FloatControl = uint32_t;
inline constexpr FloatControl kRounding = 0, kFlush = 0;
inline FloatControl float_control() { return 0; }
inline void set_float_control(FloatControl) {}
#endif

inline constexpr FloatControl kResultBits = kRounding | kFlush;

// kFlush or 0: what kernels compute with. For the whole process.
inline std::atomic<FloatControl> g_kernel_float_mode{kFlush};

// While it lives this thread computes as kernels do; then as before, also after an exception. Inside another
// one it costs a read of the register.
class KernelFloatMode {
 public:
  KernelFloatMode() : callers_(float_control()) {
    const FloatControl mode = g_kernel_float_mode.load(std::memory_order_relaxed);
    if ((callers_ & kResultBits) == mode) [[likely]]
      return;
    switched_ = true;
    outer_ = current_;
    current_ = this;
    set_float_control((callers_ & ~kResultBits) | mode);
  }
  ~KernelFloatMode() {
    if (!switched_) return;
    current_ = outer_;
    set_float_control(callers_);
  }
  KernelFloatMode(const KernelFloatMode&) = delete;
  KernelFloatMode& operator=(const KernelFloatMode&) = delete;

 private:
  friend class CallersFloatMode;
  static inline constinit thread_local const KernelFloatMode* current_ = nullptr;
  FloatControl callers_;
  bool switched_ = false;
  const KernelFloatMode* outer_ = nullptr;
};

// Inside KernelFloatMode: while it lives this thread is in the mode of the code that called the library.
// Threads inherit the mode of the one that starts them, so those that run code of the user's start here.
class CallersFloatMode {
 public:
  CallersFloatMode() : kernels_(KernelFloatMode::current_), control_(float_control()) {
    if (!kernels_) return;
    KernelFloatMode::current_ = nullptr;
    set_float_control(kernels_->callers_);
  }
  ~CallersFloatMode() {
    if (!kernels_) return;
    KernelFloatMode::current_ = kernels_;
    set_float_control(control_);
  }
  CallersFloatMode(const CallersFloatMode&) = delete;
  CallersFloatMode& operator=(const CallersFloatMode&) = delete;

 private:
  const KernelFloatMode* kernels_;
  FloatControl control_;
};

// For a thread that helps another one: computes with the results of its mode while it lives.
class HelpersFloatMode {
 public:
  explicit HelpersFloatMode(FloatControl helped) : own_(float_control()) {
    if (((own_ ^ helped) & kResultBits) == 0) return;
    switched_ = true;
    set_float_control((own_ & ~kResultBits) | (helped & kResultBits));
  }
  ~HelpersFloatMode() {
    if (switched_) set_float_control(own_);
  }
  HelpersFloatMode(const HelpersFloatMode&) = delete;
  HelpersFloatMode& operator=(const HelpersFloatMode&) = delete;

 private:
  FloatControl own_;
  bool switched_ = false;
};

}  // namespace rw
