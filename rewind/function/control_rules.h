// Gradient and batching rules of If, Case, While and calls.
#pragma once

namespace rw {

class GradContext;

// Does nothing. Whoever makes such nodes or runs graphs calls it and so links the rules, which the op table
// knows by a weak reference: a program without functions goes without them, the compiler and LLVM.
void link_control_flow_rules();

void branch_gradient(GradContext& g);  // If, Case, PartitionedCall
void while_gradient(GradContext& g);
void register_control_flow_batching();

}  // namespace rw
