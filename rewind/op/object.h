// What an element of dtype resource or variant is: a counted pointer to one of these.
#pragma once

#include <string>

#include "rewind/base/intrusive.h"

namespace rw {

class Object : public RefCounted {
 public:
  virtual ~Object() = default;
  virtual std::string describe() const = 0;  // "<ResourceHandle of variable w>"
  friend void destroy(Object* object) { delete object; }
};

}  // namespace rw
