// What kernels ask of the runtime, for the eager executor and for programs.
#pragma once

#include <algorithm>
#include <mutex>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/kernel/kernel.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {

// Locks every variable among the inputs, in the order of their addresses so that two ops never wait in a
// circle.
class VariableLocks {
 public:
  void lock(std::span<const View> inputs) {
    SmallVector<VariableCell*, 4> cells;
    for (const View& v : inputs) {
      if (v.dtype != DType::kResource || v.size != 1) continue;
      if (auto* cell = dynamic_cast_to<VariableCell*>(v.as<Ref<Object>>()->get())) cells.push_back(cell);
    }
    std::sort(cells.begin(), cells.end());
    auto* const end = std::unique(cells.begin(), cells.end());
    for (auto* it = cells.begin(); it != end; ++it) locks_.emplace_back((*it)->mutex);
  }

 private:
  SmallVector<std::unique_lock<std::mutex>, 4> locks_;
};

// The variable behind a handle, ready to be written. Requires its lock.
inline View writable_variable(const View& handle, const Op& op) {
  VariableCell& cell = variable_of(handle, op.tag);
  if (cell.value.dtype == DType::kInvalid)
    fail_precondition(op.tag, "variable " + cell.name + " has no value yet");
  cell.make_unique();
  return cell.value.view();
}

}  // namespace rw
