// Gradient and batching rules of If, Case, While and calls.
#pragma once

namespace rw {

// Puts the rules on the rows; once, whoever calls. Everything that makes such nodes or runs graphs calls it.
void register_control_flow_rules();

}  // namespace rw
