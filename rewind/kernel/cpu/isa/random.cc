#include "rewind/kernel/cpu/isa/random.h"

namespace rw::RW_ISA {

const RandomLoops* random_loops() {
  static constinit RandomLoops loops{};
  return &loops;
}

}  // namespace rw::RW_ISA
