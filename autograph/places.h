// The variables behind expressions that are assigned to.
#pragma once

#include <clang/AST/ExprCXX.h>

#include "facts.h"

namespace rw::autograph_tool {

class Places {
 public:
  explicit Places(const Source& source) : source_(source) {}

  // What changes when `e` is assigned to; none for temporaries.
  std::vector<Place> of(const clang::Expr* e) const;
  // A reference stands for these from here on.
  void add_alias(const clang::VarDecl* reference, std::vector<Place> places);
  void enter(const clang::LambdaExpr* lambda) { lambdas_.push_back(lambda); }
  void leave() { lambdas_.pop_back(); }

 private:
  std::vector<Place> of_variable(const clang::ValueDecl* v, const clang::Expr* e) const;
  std::vector<Place> of_member(const clang::MemberExpr* m) const;
  std::vector<Place> of_call(const clang::CallExpr* call) const;
  std::vector<Place> element(const clang::Expr* container, clang::QualType type) const;
  std::vector<Place> pointer(const clang::Expr* e) const;

  const Source& source_;
  std::map<const clang::VarDecl*, std::vector<Place>> aliases_;
  std::vector<const clang::LambdaExpr*> lambdas_;
};

// Whether a method of a class of the standard library only gives access to what the object holds.
bool is_access(const clang::CXXMethodDecl* method);

}  // namespace rw::autograph_tool
