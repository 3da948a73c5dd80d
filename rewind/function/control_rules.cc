#include "rewind/function/control_rules.h"

#include <mutex>

#include "rewind/autodiff/rule.h"

namespace rw {

void register_control_flow_rules() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const char* op :
         {"If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall"})
      register_gradient(op, kNeedsAll, branch_gradient);
    for (const char* op : {"While", "StatelessWhile"}) register_gradient(op, kNeedsAll, while_gradient);
    register_control_flow_batching();
  });
}

}  // namespace rw
