#include "rewind/op/table.h"

namespace rw {

void register_string_ops(OpTable&) {}

}  // namespace rw
