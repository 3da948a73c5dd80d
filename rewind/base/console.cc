#include "rewind/base/console.h"

#include <iostream>

namespace rw {

std::ostream& console() {
  const std::ios_base::Init ready;
  return std::cout;
}

}  // namespace rw
