#include "rewind/op/table.h"

namespace rw {

void register_random_ops(OpTable&) {}

}  // namespace rw
