// Which variables a stretch of code reads on this thread.
#pragma once

#include <memory>
#include <vector>

#include "rewind/tensor/variable.h"

namespace rw::keras {

// Hears reads while it lives. In a trace it knows the variables that the trace had not read before.
class VariableReads {
 public:
  VariableReads();
  ~VariableReads();
  VariableReads(const VariableReads&) = delete;
  VariableReads& operator=(const VariableReads&) = delete;
  std::vector<Variable> list() const;  // in the order in which they were made

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;  // outside of traces
  size_t known_ = 0;                    // variables that the trace had read
};

}  // namespace rw::keras
