// Which conditions are the graph's: by what is known of types, and of host variables that became Locals.
#pragma once

#include <clang/AST/ExprCXX.h>

#include <set>

#include "facts.h"

namespace rw::autograph_tool {

// Arithmetic, a comparison, && or || in a template, which may be C++'s own on numbers where it is
// instantiated.
bool is_open_operation(const clang::Expr* e);

class Conditions {
 public:
  Conditions(const Source& source, const Facts& facts) : source_(source), facts_(facts) {}

  bool tensor(const clang::Expr* e) const;
  // Whether the generated expression is a Local.
  bool local(const clang::Expr* e) const;
  // Decided by the graph where one is made.
  bool staged(const clang::Expr* condition) const {
    return condition && (tensor(condition) || local(condition));
  }
  bool staged_range(const clang::CXXForRangeStmt* loop) const;

  bool promoted(const clang::ValueDecl* variable) const {
    return promoted_.count(source_.spot(variable->getLocation())) > 0;
  }
  bool promote(Spot declared) { return promoted_.insert(declared).second; }
  // A function whose deduced type becomes a Local's, by its body.
  bool promote_result(Spot body) { return local_functions_.insert(body).second; }
  // An expression that is a Local; in an instantiation of a template: the template's there is one too.
  bool note_local(const clang::Expr* e) {
    const Range r = source_.range(e);
    return r.valid() && locals_.insert(r).second;
  }
  bool result_promoted(Spot body) const { return local_functions_.count(body) > 0; }

 private:
  const Source& source_;
  const Facts& facts_;
  std::set<Spot> promoted_, local_functions_;
  std::set<Range> locals_;
};

}  // namespace rw::autograph_tool
