#include "rewind/base/errno_text.h"

#include <cstring>

namespace rw {

std::string errno_text(int error) {
  const char* const text = strerrordesc_np(error);
  return text ? text : "error " + std::to_string(error);
}

}  // namespace rw
