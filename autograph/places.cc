#include "places.h"

#include <clang/AST/RecursiveASTVisitor.h>

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

void Places::add_iterator(const clang::VarDecl* iterator, std::vector<Place> places) {
  if (!places.empty()) iterators_[iterator] = std::move(places);
}

const clang::FunctionDecl* visible_definition(const Source& source, const clang::FunctionDecl* f) {
  const clang::FunctionDecl* defined = nullptr;
  if (!f->isDefined(defined)) defined = f->getTemplateInstantiationPattern();
  if (!defined || !defined->hasBody() || !defined->getBody() || !source.users(defined->getLocation()))
    return nullptr;
  return defined;
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
  std::vector<Place> behind;  // of a structured binding in a loop
  if (const auto* binding = dyn_cast<clang::BindingDecl>(v)) {
    const auto* whole = dyn_cast<clang::VarDecl>(binding->getDecomposedDecl());
    const auto alias = aliases_.find(whole);
    if (alias != aliases_.end() && ranges_.count(whole)) {
      behind = alias->second;
      for (Place& p : behind) p.changed = e->getType(), p.through = source_.spot(v->getLocation());
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
        p.keeper = source_.range((*it)->getBody());
        Place kept = p;
        kept.root = Place::Root::kElsewhere;
        kept.whole = false;
        kept.text = "'" + p.text + "', which the lambda of line " + std::to_string(source_.line(p.declared)) +
                    " keeps a copy of,";
        return {p, kept};
      }
  behind.push_back(p);
  return behind;
}

// The variable by which a pointer was come by.
const clang::ValueDecl* Places::pointer_root(const Expr* e) const {
  for (int steps = 0; steps < 20; ++steps) {
    e = stripped(e);
    if (!e) return nullptr;
    if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e)) {
      const auto* v = dyn_cast<clang::VarDecl>(ref->getDecl());
      if (!v) return ref->getDecl();
      const auto range = ranges_.find(v);
      const Expr* from = range != ranges_.end() ? range->second : v->getInit();
      const clang::ValueDecl* root = from && !v->isStaticLocal() ? pointer_root(from) : nullptr;
      return root ? root : v;
    }
    if (const auto* m = dyn_cast<clang::MemberExpr>(e)) {
      if (llvm::isa<clang::CXXThisExpr>(m->getBase()->IgnoreParenImpCasts())) return m->getMemberDecl();
      e = m->getBase();
    } else if (const auto* a = dyn_cast<clang::ArraySubscriptExpr>(e)) {
      e = a->getBase();
    } else if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(e)) {
      e = op->getArg(0);
    } else if (const auto* call = dyn_cast<clang::CXXMemberCallExpr>(e)) {
      if (!call->getMethodDecl() || !is_access(call->getMethodDecl())) return nullptr;
      e = call->getImplicitObjectArgument();
    } else if (const auto* u = dyn_cast<clang::UnaryOperator>(e)) {
      e = u->getSubExpr();
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

// What a function returns a reference to: members of *this, globals. What it is given by reference counts as
// changed by the call itself.
std::vector<Place> Places::returned(const clang::FunctionDecl* callee, const clang::CallExpr* call) const {
  class Finder : public clang::RecursiveASTVisitor<Finder> {
   public:
    std::vector<const Expr*> found;
    bool VisitReturnStmt(clang::ReturnStmt* s) {
      if (s->getRetValue()) found.push_back(s->getRetValue());
      return true;
    }
    bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  };
  if (std::find(callees_.begin(), callees_.end(), callee) != callees_.end()) return {};
  std::vector<Place> places;
  if (const clang::FunctionDecl* defined = visible_definition(source_, callee)) {
    callees_.push_back(callee);
    Finder finder;
    finder.TraverseStmt(defined->getBody());
    const Range body = source_.range(defined->getSourceRange());
    for (const Expr* e : finder.found)
      for (Place& p : of(e))
        if (!body.valid() || !body.contains(p.declared) || p.root == Place::Root::kGlobal)
          places.push_back(std::move(p));
    callees_.pop_back();
    return places;
  }
  for (unsigned i = 0; i < call->getNumArgs(); ++i)
    if (call->getArg(i)->isLValue() && !call->getArg(i)->getType().isConstQualified()) return {};
  Place p;
  p.root = Place::Root::kElsewhere;
  p.text = "what " + callee->getNameAsString() + " refers to";
  p.type = p.changed = call->getType();
  p.whole = false;
  return {p};
}

std::vector<Place> Places::behind(const Expr* e) const {
  e = stripped(e);
  if (const auto* ref = llvm::dyn_cast_or_null<clang::DeclRefExpr>(e)) {
    const auto known = iterators_.find(dyn_cast<clang::VarDecl>(ref->getDecl()));
    if (known != iterators_.end()) return known->second;
  }
  if (const auto* u = llvm::dyn_cast_or_null<clang::UnaryOperator>(e);
      u && u->getOpcode() == clang::UO_AddrOf)
    return of(u->getSubExpr());
  if (const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(e)) {
    const auto* method = dyn_cast<clang::CXXMemberCallExpr>(call);
    if (pointee_of(call->getType()).isNull()) return pointer(e);  // of a class of the user's
    if (method && method->getMethodDecl() && is_access(method->getMethodDecl()) &&
        pointee_of(stripped(method->getImplicitObjectArgument())->getType()).isNull())
      return element(method->getImplicitObjectArgument(), pointee_of(call->getType()));
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!method && callee && in_namespace(callee, "std") && call->getNumArgs() >= 1)
      return pointee_of(stripped(call->getArg(0))->getType()).isNull()
                 ? element(call->getArg(0), pointee_of(call->getType()))
                 : behind(call->getArg(0));
  }
  return pointer(e);
}

std::vector<Place> Places::pointer(const Expr* e) const {
  Place p;
  p.root = Place::Root::kPointer;
  p.text = std::string(source_.text(source_.range(e)));
  p.type = p.changed = e->getType();
  p.whole = false;
  p.variable = pointer_root(e);
  if (p.variable) p.declared = source_.spot(p.variable->getLocation());
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
  if (m->isArrow()) {
    std::vector<Place> places = behind(base);
    for (Place& p : places) p.changed = m->getType(), p.whole = false;
    return places;
  }
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
    p.changed = type.isNull() ? container->getType() : type.getNonReferenceType();
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
      std::vector<Place> places = behind(op->getArg(0));
      for (Place& p : places) p.changed = op->getType().getNonReferenceType(), p.whole = false;
      return places;
    }
    if (op->isAssignmentOp() || kind == clang::OO_PlusPlus || kind == clang::OO_MinusMinus)
      return of(op->getArg(0));
    if (kind == clang::OO_Call && op->isGLValue() && op->getDirectCallee() &&
        !op->getType().isConstQualified())
      return returned(op->getDirectCallee(), op);
    return {};
  }
  if (const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const clang::CXXMethodDecl* method = member->getMethodDecl();
    const Expr* object = member->getImplicitObjectArgument();
    if (!method || !call->isGLValue()) return {};
    if (is_access(method) && !pointee_of(stripped(object)->getType()).isNull()) return behind(object);
    if (llvm::isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts())) return returned(method, call);
    if (object->getType()->isPointerType()) return pointer(object);
    const clang::CXXRecordDecl* record = record_of(object->getType());
    if (record && record->hasDefinition() && record->isPolymorphic()) {
      std::vector<Place> places = element(object, call->getType());
      for (Place& p : places)
        p.root = Place::Root::kElsewhere, p.text = "what " + method->getNameAsString() + " refers to";
      return places;
    }
    return element(object, call->getType());
  }
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (!callee) return {};
  if (in_namespace(callee, "std"))
    return call->getNumArgs() == 1 ? element(call->getArg(0), call->getType()) : std::vector<Place>();
  if (call->isGLValue() && !call->getType().isConstQualified()) return returned(callee, call);
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
    if (base->getType()->isArrayType()) return element(base, e->getType());
    std::vector<Place> places = behind(base);
    for (Place& p : places) p.changed = e->getType(), p.whole = false;
    return places;
  }
  if (const auto* u = dyn_cast<clang::UnaryOperator>(e)) {
    if (u->getOpcode() == clang::UO_Deref) {
      if (!llvm::isa<clang::CXXThisExpr>(u->getSubExpr()->IgnoreParenImpCasts())) {
        std::vector<Place> places = behind(u->getSubExpr());
        for (Place& p : places) p.changed = e->getType();
        return places;
      }
      Place p;
      p.root = Place::Root::kMember;
      p.text = "(*this)";
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
  if (const auto* cast = dyn_cast<clang::CXXConstCastExpr>(e);
      cast && cast->isGLValue() && cast->getSubExpr()->getType().isConstQualified()) {
    Place p;
    p.root = Place::Root::kElsewhere;
    p.text = "what a const_cast makes of a constant";
    p.type = p.changed = e->getType();
    p.whole = false;
    return {p};
  }
  if (const auto* cast = dyn_cast<clang::ExplicitCastExpr>(e))
    return cast->isGLValue() ? of(cast->getSubExpr()) : std::vector<Place>();
  if (const auto* call = dyn_cast<clang::CallExpr>(e)) return of_call(call);
  return {};
}

}  // namespace rw::autograph_tool
