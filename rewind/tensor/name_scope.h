// Name scopes: variables made inside carry the scope's name in front of their own. A scope holds for its
// thread.
#pragma once

#include <string>

namespace rw {

class NameScope {
 public:
  explicit NameScope(const std::string& name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  size_t outer_length_;
};

const std::string& current_name_scope();  // "" or "outer/inner/"

}  // namespace rw
