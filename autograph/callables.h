// Which lambdas variables, members, parameters and results of functions may be: from where they come to where
// they go.
#pragma once

#include <clang/AST/ExprCXX.h>

#include <set>

#include "facts.h"

namespace rw::autograph_tool {

class Callables {
 public:
  Callables(const Source& source, Facts& facts) : source_(source), facts_(facts) {}

  // What `from` may be, a thing of this type that is declared at `to` may be.
  void flow(clang::QualType type, const clang::Expr* from, Spot to);
  // The lambda becomes a std::function or a pointer to a function.
  void note_typed(const clang::CXXRecordDecl* lambda);
  // The declaration of what an expression names, or of what keeps it.
  std::optional<Spot> of(const clang::Expr* e) const;
  // Behind all flows: through all variables between.
  void resolve();

 private:
  const Source& source_;
  Facts& facts_;
  std::set<std::pair<Spot, Spot>> flows_;
};

}  // namespace rw::autograph_tool
