// Functions of the host program that ops call: EagerPyFunc finds one by its token.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "rewind/runtime/eager.h"

namespace rw {

using HostFunction = std::function<ValueList(std::span<const Value* const>)>;

// Registered while this lives.
class HostFunctionScope {
 public:
  explicit HostFunctionScope(HostFunction f);
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
  const std::string& token() const { return token_; }

 private:
  std::string token_;
};

void register_host_function_kernel();

}  // namespace rw
