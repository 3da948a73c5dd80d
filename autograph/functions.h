// The functions of the user's files whose bodies may be rewritten.
#pragma once

#include <clang/AST/ExprCXX.h>

#include <vector>

#include "source.h"

namespace rw::autograph_tool {

struct Function {
  const clang::FunctionDecl* declaration;  // of a template: as it is written
  const clang::CompoundStmt* body;
  const clang::LambdaExpr* lambda;  // or nullptr
  size_t outermost;                 // index of the function around it that is in no other
  Range range;                      // of the body
};

// In order of their beginnings, lambdas behind the functions around them. Not among them: what is constexpr,
// bodies of constructors and destructors (but lambdas in them), main, and what RW_DO_NOT_CONVERT leaves
// alone.
std::vector<Function> find_functions(const Source& source);

}  // namespace rw::autograph_tool
