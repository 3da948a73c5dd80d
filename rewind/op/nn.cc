#include "rewind/op/table.h"

namespace rw {

void register_nn_ops(OpTable&) {}

}  // namespace rw
