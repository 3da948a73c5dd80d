// The system's name of an error, in English: strerror() speaks the locale's language.
#pragma once

#include <string>

namespace rw {

std::string errno_text(int error);  // "No such file or directory"

}  // namespace rw
