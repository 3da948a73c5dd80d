// Where a function comes from, for its errors: functions of files say which file, and by what name the user
// knows them.
#pragma once

#include <string>

namespace rw {

class ConcreteFunction;

// "function serve of /models/m": errors of calls name it. For whoever makes the function, before others see
// it.
void set_origin(const ConcreteFunction& function, std::string origin);
// What set_origin() said, else the function's name.
std::string origin_of(const ConcreteFunction& function);

}  // namespace rw
