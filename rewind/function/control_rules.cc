#include "rewind/function/control_rules.h"

#include "rewind/autodiff/rule.h"
#include "rewind/op/families.h"

namespace rw {

void link_control_flow_rules() {}

void register_function_rules() {
  for (const char* op :
       {"If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall"})
    register_gradient(op, kNeedsAll, branch_gradient);
  for (const char* op : {"While", "StatelessWhile"}) register_gradient(op, kNeedsAll, while_gradient);
  register_control_flow_batching();
}

}  // namespace rw
