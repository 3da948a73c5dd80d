// Optimizers' steps are not differentiable.
#include "rewind/autodiff/rule.h"
#include "rewind/op/table.h"

namespace rw {

void register_training_gradients() {
  for (const Op* op : op_table().all())
    if (op->name.starts_with("ResourceApply") || op->name.starts_with("ResourceSparseApply"))
      register_not_differentiable(op->name);
}

}  // namespace rw
