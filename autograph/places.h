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
  // What `e`, a pointer or an iterator, points to.
  std::vector<Place> behind(const clang::Expr* e) const;
  // A reference stands for these from here on.
  void add_alias(const clang::VarDecl* reference, std::vector<Place> places);
  // An iterator into, or a pointer to an element of, these.
  void add_iterator(const clang::VarDecl* iterator, std::vector<Place> places);
  // The elements of a range are what a loop's variable is.
  void add_range(const clang::VarDecl* variable, const clang::Expr* range) { ranges_[variable] = range; }
  bool is_reference(const clang::VarDecl* v) const { return aliases_.count(v) || iterators_.count(v); }
  void enter(const clang::LambdaExpr* lambda) { lambdas_.push_back(lambda); }
  void leave() { lambdas_.pop_back(); }

 private:
  std::vector<Place> of_variable(const clang::ValueDecl* v, const clang::Expr* e) const;
  std::vector<Place> returned(const clang::FunctionDecl* callee, const clang::CallExpr* call) const;
  const clang::ValueDecl* pointer_root(const clang::Expr* e) const;
  std::vector<Place> of_member(const clang::MemberExpr* m) const;
  std::vector<Place> of_call(const clang::CallExpr* call) const;
  std::vector<Place> element(const clang::Expr* container, clang::QualType type) const;
  std::vector<Place> pointer(const clang::Expr* e) const;

  const Source& source_;
  std::map<const clang::VarDecl*, std::vector<Place>> aliases_, iterators_;
  std::map<const clang::VarDecl*, const clang::Expr*> ranges_;
  mutable std::vector<const clang::FunctionDecl*> callees_;  // whose results are looked for
  std::vector<const clang::LambdaExpr*> lambdas_;
};

// Whether a method of a class of the standard library only gives access to what the object holds.
bool is_access(const clang::CXXMethodDecl* method);
// The body of a function of the user's files; of a template, as it is written.
const clang::FunctionDecl* visible_definition(const Source& source, const clang::FunctionDecl* f);

}  // namespace rw::autograph_tool
