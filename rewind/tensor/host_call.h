// What rw::host_function calls, for its derivative.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw {

using HostCall = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// Throws NotFoundError.
std::shared_ptr<const HostCall> host_call(const std::string& token);

}  // namespace rw
