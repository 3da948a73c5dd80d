#include "rewind/tensor/name_scope.h"

#include "rewind/base/thread_own.h"

namespace rw {
namespace {
struct Scope {
  std::string name;
};
std::string& scope() { return ThreadOwn<Scope>::get().name; }
}  // namespace

NameScope::NameScope(const std::string& name) : outer_length_(scope().size()) {
  scope().append(name).append("/");
}
NameScope::~NameScope() { scope().resize(outer_length_); }
const std::string& current_name_scope() { return scope(); }

}  // namespace rw
