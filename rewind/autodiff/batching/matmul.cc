#include "rewind/autodiff/batching.h"

namespace rw {

void register_matmul_batching() {}

}  // namespace rw
