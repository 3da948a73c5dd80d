#pragma once

#include <functional>
#include <map>
#include <string>

#include "rewind/rewind.h"

namespace mixed {

using Calls = std::map<std::string, std::function<rw::Tensor(rw::Tensor)>>;
Calls plain_calls(), converted_calls();
int plain_count(), converted_count();

}  // namespace mixed
