// Strings have no derivatives.
#include "rewind/autodiff/rule.h"

namespace rw {

void register_string_gradients() {
  for (const char* op : {"AsString", "StringJoin", "StringFormat", "StringLength", "StringLower",
                         "StringUpper", "StringStrip", "StringToNumber"})
    register_not_differentiable(op);
}

}  // namespace rw
