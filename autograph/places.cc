#include "places.h"

#include <algorithm>

#include "edits.h"
#include "types.h"

namespace rw::autograph_tool {

using clang::Expr;
using llvm::dyn_cast;

bool is_access(const clang::CXXMethodDecl* method) {
  if (!in_namespace(method, "std")) return false;
  if (method->isOverloadedOperator()) {
    const auto op = method->getOverloadedOperator();
    return op == clang::OO_Subscript || op == clang::OO_Star || op == clang::OO_Arrow;
  }
  if (!method->getIdentifier()) return false;
  static const std::set<llvm::StringRef> kNames = {
      "at",    "front", "back", "begin", "end",         "rbegin",      "rend",        "data",
      "value", "find",  "get",  "size",  "lower_bound", "upper_bound", "equal_range", "value_or"};
  return kNames.count(method->getName()) > 0;
}

void Places::add_alias(const clang::VarDecl* reference, std::vector<Place> places) {
  if (!places.empty()) aliases_[reference] = std::move(places);
}

std::vector<Place> Places::of_variable(const clang::ValueDecl* v, const Expr* e) const {
  if (const auto* variable = dyn_cast<clang::VarDecl>(v)) {
    const auto alias = aliases_.find(variable);
    if (alias != aliases_.end()) {
      std::vector<Place> places = alias->second;
      for (Place& p : places) p.changed = e->getType();
      return places;
    }
  }
  Place p;
  p.variable = v;
  p.declared = source_.spot(v->getLocation());
  p.text = v->getNameAsString();
  p.type = p.changed = v->getType().getNonReferenceType();
  const auto* variable = dyn_cast<clang::VarDecl>(v);
  if (variable && variable->hasGlobalStorage()) p.root = Place::Root::kGlobal;
  for (auto it = lambdas_.rbegin(); it != lambdas_.rend(); ++it)
    for (const clang::LambdaCapture& c : (*it)->captures())
      if (c.capturesVariable() && c.getCapturedVar() == v && c.getCaptureKind() == clang::LCK_ByCopy) {
        p.root = Place::Root::kCopy;
        p.declared = source_.spot((*it)->getBeginLoc());
        return {p};
      }
  return {p};
}

std::vector<Place> Places::pointer(const Expr* e) const {
  Place p;
  p.root = Place::Root::kPointer;
  p.text = std::string(source_.text(source_.range(e)));
  p.type = p.changed = e->getType();
  p.whole = false;
  if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e->IgnoreParenImpCasts())) {
    p.variable = ref->getDecl();
    p.declared = source_.spot(p.variable->getLocation());
  }
  return {p};
}

std::vector<Place> Places::of_member(const clang::MemberExpr* m) const {
  const auto* field = dyn_cast<clang::FieldDecl>(m->getMemberDecl());
  if (!field) {  // a static member
    if (const auto* v = dyn_cast<clang::VarDecl>(m->getMemberDecl())) return of_variable(v, m);
    return {};
  }
  const Expr* base = m->getBase()->IgnoreParenImpCasts();
  if (llvm::isa<clang::CXXThisExpr>(base)) {
    Place p;
    p.root = Place::Root::kMember;
    p.variable = field;
    p.declared = source_.spot(field->getLocation());
    p.text = m->isImplicitAccess() ? field->getNameAsString() : "this->" + field->getNameAsString();
    p.type = p.changed = field->getType().getNonReferenceType();
    return {p};
  }
  if (m->isArrow()) return pointer(base);
  std::vector<Place> places = of(base);
  for (Place& p : places) {
    const bool named = p.whole || (p.type.getCanonicalType() == p.changed.getCanonicalType() &&
                                   p.root != Place::Root::kPointer);
    p.changed = m->getType();
    p.whole = false;
    if (!named) continue;  // a member of an element
    p.text += "." + field->getNameAsString();
    p.type = field->getType();
  }
  return places;
}

std::vector<Place> Places::element(const Expr* container, clang::QualType type) const {
  std::vector<Place> places = of(container);
  for (Place& p : places) {
    p.changed = type.getNonReferenceType();
    p.whole = false;
  }
  return places;
}

std::vector<Place> Places::of_call(const clang::CallExpr* call) const {
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    const auto kind = op->getOperator();
    if (kind == clang::OO_Subscript) return element(op->getArg(0), op->getType());
    if (kind == clang::OO_Star || kind == clang::OO_Arrow) {
      const clang::CXXRecordDecl* record = record_of(op->getArg(0)->getType());
      if (record && record->getIdentifier() && record->getName() == "optional")
        return element(op->getArg(0), op->getType());
      const std::vector<Place> behind = of(op->getArg(0));
      const auto* ref = dyn_cast<clang::DeclRefExpr>(op->getArg(0)->IgnoreParenImpCasts());
      if (ref && aliases_.count(dyn_cast<clang::VarDecl>(ref->getDecl())))
        return element(op->getArg(0), op->getType());
      return pointer(op->getArg(0));
    }
    if (op->isAssignmentOp() || kind == clang::OO_PlusPlus || kind == clang::OO_MinusMinus)
      return of(op->getArg(0));
    return {};
  }
  if (const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (!member->getMethodDecl() || !call->isGLValue()) {
      if (member->getMethodDecl() && is_access(member->getMethodDecl()))  // an iterator
        return element(member->getImplicitObjectArgument(), call->getType());
      return {};
    }
    return element(member->getImplicitObjectArgument(), call->getType());
  }
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (callee && in_namespace(callee, "std") && call->getNumArgs() == 1)
    return element(call->getArg(0), call->getType());
  return {};
}

std::vector<Place> Places::of(const Expr* e) const {
  e = stripped(e);
  if (!e) return {};
  if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e)) {
    if (llvm::isa<clang::VarDecl>(ref->getDecl()) || llvm::isa<clang::BindingDecl>(ref->getDecl()))
      return of_variable(ref->getDecl(), e);
    return {};
  }
  if (const auto* m = dyn_cast<clang::MemberExpr>(e)) return of_member(m);
  if (const auto* a = dyn_cast<clang::ArraySubscriptExpr>(e)) {
    const Expr* base = a->getBase()->IgnoreParenImpCasts();
    return base->getType()->isArrayType() ? element(base, e->getType()) : pointer(base);
  }
  if (const auto* u = dyn_cast<clang::UnaryOperator>(e)) {
    if (u->getOpcode() == clang::UO_Deref) {
      if (!llvm::isa<clang::CXXThisExpr>(u->getSubExpr()->IgnoreParenImpCasts()))
        return pointer(u->getSubExpr());
      Place p;
      p.root = Place::Root::kMember;
      p.text = "*this";
      p.type = p.changed = e->getType();
      return {p};
    }
    if (u->isIncrementDecrementOp()) return of(u->getSubExpr());
    return {};
  }
  if (const auto* c = dyn_cast<clang::ConditionalOperator>(e)) {
    std::vector<Place> places = of(c->getTrueExpr());
    for (Place& p : of(c->getFalseExpr())) places.push_back(std::move(p));
    return places;
  }
  if (const auto* b = dyn_cast<clang::BinaryOperator>(e)) {
    if (b->isAssignmentOp()) return of(b->getLHS());
    if (b->getOpcode() == clang::BO_Comma) return of(b->getRHS());
    return {};
  }
  if (const auto* cast = dyn_cast<clang::ExplicitCastExpr>(e))
    return cast->isGLValue() ? of(cast->getSubExpr()) : std::vector<Place>();
  if (const auto* call = dyn_cast<clang::CallExpr>(e)) return of_call(call);
  return {};
}

}  // namespace rw::autograph_tool
