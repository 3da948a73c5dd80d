// Values of generated Locals, and the returns of functions.
#pragma once

#include "conditions.h"
#include "functions.h"

namespace rw::autograph_tool {

struct Value {
  const clang::Expr* expression;
  bool of_variable;  // a promoted variable; otherwise an operator's result
};

std::vector<Value> find_values(const Source& source, const Conditions& conditions,
                               const std::vector<Function>& functions);
// Not those of functions in it.
std::vector<const clang::ReturnStmt*> returns_of(const clang::Stmt* body);

}  // namespace rw::autograph_tool
