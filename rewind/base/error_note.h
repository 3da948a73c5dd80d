// What somebody further out knows about an error: in which layer it happened.
#pragma once

#include <initializer_list>
#include <string>

#include "rewind/base/error.h"

namespace rw {

// For catch blocks: throws an error of the same class whose message goes on with `note`; places in the
// program still come behind it. An error of a class of one's own, and one whose message has one of `said` in
// it already, is thrown as it is.
[[noreturn]] void throw_with_note(const Error& error, const std::string& note,
                                  std::initializer_list<std::string_view> said = {});

}  // namespace rw
