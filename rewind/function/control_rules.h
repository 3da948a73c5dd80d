// Gradient and batching rules of If, Case, While and calls.
#pragma once

namespace rw {

class GradContext;

void branch_gradient(GradContext& g);  // If, Case, PartitionedCall
void while_gradient(GradContext& g);
void register_control_flow_batching();

}  // namespace rw
