// Errors that pass through a place which knows more: thrown again, of the same class, with another message.
#pragma once

#include <string>

#include "rewind/base/error.h"

namespace rw {

[[noreturn]] void throw_like(const Error& error, const std::string& message);

// What make() gives. An error that does not mention `file` gets `prefix` in front: "[tag] file: ".
template <class Make>
auto naming_file(const std::string& file, const std::string& prefix, const Make& make) {
  try {
    return make();
  } catch (const Error& e) {
    const std::string what = e.what();
    if (what.find(file) != std::string::npos) throw;
    throw_like(e, prefix + what);
  }
}

}  // namespace rw
