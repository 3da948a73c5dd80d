#include "rewind/function/control_rules.h"

namespace rw {
void register_control_flow_rules() {}
}  // namespace rw
