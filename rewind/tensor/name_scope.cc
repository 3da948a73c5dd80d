#include "rewind/tensor/name_scope.h"

namespace rw {
namespace {
thread_local std::string t_scope;
}

NameScope::NameScope(const std::string& name) : outer_length_(t_scope.size()) {
  t_scope.append(name).append("/");
}
NameScope::~NameScope() { t_scope.resize(outer_length_); }
const std::string& current_name_scope() { return t_scope; }

}  // namespace rw
