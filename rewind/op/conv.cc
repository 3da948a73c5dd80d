#include "rewind/op/table.h"

namespace rw {

void register_conv_ops(OpTable&) {}

}  // namespace rw
