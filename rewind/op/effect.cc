#include "rewind/op/table.h"

namespace rw {

void register_effect_ops(OpTable&) {}

}  // namespace rw
