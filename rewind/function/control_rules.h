// Gradient and batching rules of If, Case, While and calls.
#pragma once

namespace rw {

class GradContext;

// Puts the rules on the rows; once, whoever calls. Everything that makes such nodes or runs graphs calls it.
void register_control_flow_rules();

void branch_gradient(GradContext& g);  // If, Case, PartitionedCall
void while_gradient(GradContext& g);
void register_control_flow_batching();

}  // namespace rw
