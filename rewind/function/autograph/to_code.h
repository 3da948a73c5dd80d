// For rewind-autograph, the tool that writes this code.
#pragma once

#include <string>

// Before a function or a lambda's body: it stays as it is.
#if defined(__clang__)
#define RW_DO_NOT_CONVERT [[clang::annotate("rw::autograph::do_not_convert")]]
#else
#define RW_DO_NOT_CONVERT
#endif

namespace rw::autograph {

[[noreturn]] void fail_not_converted();

// The code that the tool wrote for f, a function or a lambda; the tool replaces the call. Throws
// FailedPreconditionError in a file that it has not seen.
template <class F>
std::string to_code(const F&) {
  fail_not_converted();
}

}  // namespace rw::autograph
