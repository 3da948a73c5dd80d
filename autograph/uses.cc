#include "uses.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include "facts.h"
#include "promotion.h"
#include "types.h"

namespace rw::autograph_tool {
namespace {

using clang::Expr;
using llvm::dyn_cast;
using llvm::isa;

// In instantiations of templates too, where types are known.
class ValueFinder : public clang::RecursiveASTVisitor<ValueFinder> {
 public:
  ValueFinder(const Source& source, const Conditions& conditions, const std::vector<Function>& functions,
              std::vector<Value>& found)
      : source_(source), conditions_(conditions), functions_(functions), found_(found) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const bool more = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    if (const auto* generic = lambda->getLambdaClass()->getDependentLambdaCallOperator())
      if (auto* made = dyn_cast<clang::FunctionTemplateDecl>(generic))
        for (clang::FunctionDecl* f : made->specializations())
          if (f->getBody()) TraverseStmt(f->getBody());
    return more;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    if (isa<clang::VarDecl>(e->getDecl()) && conditions_.promoted(e->getDecl())) found_.push_back({e, true});
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* e) { return e->isLogicalOp() ? operation(e) : true; }
  bool VisitUnaryOperator(clang::UnaryOperator* e) {
    return e->getOpcode() == clang::UO_LNot ? operation(e) : true;
  }
  bool VisitCallExpr(clang::CallExpr* e) { return operation(e); }
  bool VisitConditionalOperator(clang::ConditionalOperator* e) {
    // assert's own is none.
    return e->getQuestionLoc().isMacroID() && e->getType()->isVoidType() ? true : operation(e);
  }

 private:
  bool operation(const Expr* e) {
    if (!conditions_.local(e)) return true;
    const Spot at = source_.spot(e->getBeginLoc());
    for (const Function& f : functions_)
      if (f.range.contains(at)) {
        found_.push_back({e, false});
        break;
      }
    return true;
  }
  const Source& source_;
  const Conditions& conditions_;
  const std::vector<Function>& functions_;
  std::vector<Value>& found_;
};

class ReturnFinder : public clang::RecursiveASTVisitor<ReturnFinder> {
 public:
  std::vector<const clang::ReturnStmt*> found;
  bool VisitReturnStmt(clang::ReturnStmt* s) {
    found.push_back(s);
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool TraverseCXXRecordDecl(clang::CXXRecordDecl*) { return true; }
};

}  // namespace

std::vector<Value> find_values(const Source& source, const Conditions& conditions,
                               const std::vector<Function>& functions) {
  std::vector<Value> found;
  ValueFinder finder(source, conditions, functions, found);
  for (clang::Decl* d : users_declarations(source)) finder.TraverseDecl(d);
  return found;
}

std::vector<const clang::ReturnStmt*> returns_of(const clang::Stmt* body) {
  ReturnFinder finder;
  finder.TraverseStmt(const_cast<clang::Stmt*>(body));
  return finder.found;
}

void Promotion::refuse_use(const Expr* e, const clang::Stmt* user, const std::string& use,
                           const std::string& cure, std::set<Refusal>* refusals) const {
  if (!refusals) return;
  const clang::SourceLocation at = user ? user->getBeginLoc() : e->getBeginLoc();
  const auto* ref = dyn_cast<clang::DeclRefExpr>(stripped(e));
  (void)at;
  if (!ref) {
    const char* what = isa<clang::CallExpr>(stripped(e))
                           ? "the number that this call returns, which a tensor decides,"
                           : "the value of this condition on tensors";
    refusals->insert({source_.spot(e->getBeginLoc()), std::string(what) + " " + use + "; " + cure});
    return;
  }
  const std::string name = ref->getDecl()->getNameAsString();
  refusals->insert({source_.spot(e->getBeginLoc()),
                    "'" + name + "' " + reason(source_.spot(ref->getDecl()->getLocation())) +
                        ", so it may become a tensor, but here it " + use + "; " + cure});
}

// Classes whose constructors take Locals.
static bool takes_locals(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record) return false;
  if (in_library(record))
    return record->getIdentifier() && (record->getName() == "Tensor" || record->getName() == "Operand" ||
                                       record->getName() == "Local" || record->getName() == "Return");
  return record->getIdentifier() && in_namespace(record, "std") &&
         (record->getName() == "tuple" || record->getName() == "pair");
}

void Promotion::follow(const Expr* e, bool of_variable, bool& more, std::set<Refusal>* refusals) {
  clang::ParentMapContext& parents = source_.context().getParentMapContext();
  const std::string type_text = spelled(e->getType().getUnqualifiedType(), source_.context());
  const std::string tensor = "make it a rw::Tensor";
  const clang::Stmt* node = e;
  for (;;) {
    const auto above = parents.getParents(*node);
    if (above.empty()) return;
    if (const auto* v = above[0].get<clang::VarDecl>()) {
      if (v->isInitCapture())
        return refuse_use(e, node, "is captured with a deduced type", "capture it by reference", refusals);
      if (v->getType()->isReferenceType())
        return refuse_use(e, node, "is bound to a reference",
                          "copy it into a variable with its type, or " + tensor, refusals);
      if (v->getType()->getContainedDeducedType()) {
        if (of_variable)
          return refuse_use(e, node, "decides a deduced type (auto)",
                            "write the type: " + type_text + " " + v->getNameAsString(), refusals);
        more |= promote(v);
        return;
      }
      if (v->getType()->isEnumeralType())
        return refuse_use(e, node, "initialises a variable of an enumeration's type", "make that an int",
                          refusals);
      if (!facts_.is_number_throughout(source_.spot(v->getLocation()))) return;
      if (is_promotable_number(v->getType()) && v->isLocalVarDecl()) more |= promote(v);
      else if (is_number(v->getType()))
        refuse_use(e, node, "initialises a variable that is no local one", tensor, refusals);
      return;
    }
    const auto* s = above[0].get<clang::Stmt>();
    if (!s) return refuse_use(e, node, "is used where only the host's numbers can stand", tensor, refusals);
    if (const auto* r = dyn_cast<clang::ReturnStmt>(s)) {
      if (r->getRetValue()->getType()->isEnumeralType())
        refuse_use(e, node, "is returned as an enumeration's value", "return an int", refusals);
      return;
    }
    const auto* p = dyn_cast<Expr>(s);
    if (!p) {
      if (isa<clang::SwitchCase>(s)) refuse_use(e, node, "is a case label", tensor, refusals);
      return;  // a condition, or a statement by itself
    }
    if (isa<clang::ParenExpr>(p) || isa<clang::FullExpr>(p) || isa<clang::MaterializeTemporaryExpr>(p) ||
        isa<clang::ImplicitCastExpr>(p) || isa<clang::CXXBindTemporaryExpr>(p)) {
      node = p;
    } else if (const auto* u = dyn_cast<clang::UnaryOperator>(p)) {
      if (u->getOpcode() == clang::UO_AddrOf)
        return refuse_use(e, p, "has its address taken", tensor, refusals);
      if (u->getOpcode() == clang::UO_LNot) return;  // a value of its own
      node = p;
    } else if (const auto* b = dyn_cast<clang::BinaryOperator>(p)) {
      if (b->isLogicalOp()) return;
      if (b->getOpcode() == clang::BO_Comma) {
        if (b->getLHS() == node) return;
      } else if (b->isAssignmentOp() && b->getRHS() == node) {
        const auto* to = dyn_cast<clang::DeclRefExpr>(stripped(b->getLHS()));
        const auto* v = to ? dyn_cast<clang::VarDecl>(to->getDecl()) : nullptr;
        if (v && v->isLocalVarDecl() && is_promotable_number(v->getType()) &&
            !v->getType()->isReferenceType() && !v->isStaticLocal())
          more |= promote(v);
        else if (b->getLHS()->getType()->isEnumeralType())
          refuse_use(e, p, "is assigned to a variable of an enumeration's type", "make that an int",
                     refusals);
        else if (is_number(b->getLHS()->getType()))
          refuse_use(e, p, "is assigned to an element, a member or a parameter of the host's", tensor,
                     refusals);
        return;
      }
      node = p;
    } else if (const auto* c = dyn_cast<clang::ConditionalOperator>(p)) {
      if (c->getCond() == node) return;
      node = p;
    } else if (const auto* cast = dyn_cast<clang::ExplicitCastExpr>(p)) {
      if (cast->getType()->isVoidType()) return;
      if (!is_number(cast->getType()))
        return refuse_use(e, p, "is cast to a type that holds no tensor", tensor, refusals);
      if (p->getBeginLoc().isMacroID() && !source_.range(p).valid()) return;  // assert's
      casts_.insert(source_.range(cast));
      of_variable = false;  // what the cast makes has its own type
      node = p;
    } else if (const auto* cast = dyn_cast<clang::CXXUnresolvedConstructExpr>(p);
               cast && cast->getNumArgs() == 1 && is_number(cast->getTypeAsWritten())) {
      casts_.insert(source_.range(cast));  // int(...) in a template
      of_variable = false;
      node = p;
    } else if (isa<clang::ArraySubscriptExpr>(p)) {
      return refuse_use(e, p, "is the index of an array of the host's", "index a tensor: rw::gather(t, i)",
                        refusals);
    } else if (const auto* list = dyn_cast<clang::InitListExpr>(p)) {
      if (takes_locals(list->getType()) || list->getType()->isDependentType()) return;
      node = p;
      const auto up = parents.getParents(*p);
      if (!up.empty() && up[0].get<clang::ReturnStmt>()) return;
      if (is_number(list->getType())) continue;
      if (up.empty() || !up[0].get<Expr>())
        return refuse_use(e, p, "is an element of a container of the host's", tensor, refusals);
    } else if (isa<clang::CXXStdInitializerListExpr>(p)) {
      node = p;
    } else if (const auto* made = dyn_cast<clang::CXXConstructExpr>(p)) {
      if (takes_locals(made->getType()) || made->getType()->isDependentType()) return;
      return refuse_use(e, p, "is an argument of a constructor that takes the host's numbers", tensor,
                        refusals);
    } else if (const auto* call = dyn_cast<clang::CallExpr>(p)) {
      if (is_open_operation(call)) {
        for (const Expr* a : call->arguments())  // other types take what they take
          if (!conditions_.local(a) && (a->isTypeDependent() || !is_number(a->getType()))) return;
        node = p;
        continue;
      }
      if (call->isTypeDependent()) return;
      const clang::FunctionDecl* callee = call->getDirectCallee();
      if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call)) {
        if (op->getOperator() == clang::OO_Subscript)
          return refuse_use(e, p, "is an index of a container of the host's",
                            "index a tensor: rw::gather(t, i)", refusals);
        if (op->getOperator() == clang::OO_LessLess && (!callee || !in_library(callee)))
          return refuse_use(e, p, "is printed by a stream", "print it by rw::print", refusals);
      }
      if (callee && in_library(callee) && callee->getIdentifier() &&
          (callee->getName() == "print" || (callee->getName() == "constant" && call->getArg(0) == node)))
        return;
      if (callee && in_namespace(callee, "std") && callee->getIdentifier() &&
          (callee->getName() == "make_tuple" || callee->getName() == "make_pair" ||
           callee->getName() == "tie"))
        return;
      if (callee && in_library(callee) && callee->isOverloadedOperator() && callee->getPrimaryTemplate())
        return;
      if (callee && callee->isVariadic() && callee->getNumParams() < call->getNumArgs())
        return refuse_use(e, p, "is an argument of a variadic function",
                          "print it by rw::print, or " + tensor, refusals);
      const std::string name = callee ? callee->getNameAsString() : std::string("a function");
      return refuse_use(e, p, "is an argument of " + name + ", which takes the host's numbers", tensor,
                        refusals);
    } else if (isa<clang::LambdaExpr>(p) || p->isTypeDependent()) {
      return;
    } else {
      return refuse_use(e, p, "is used where only the host's numbers can stand", tensor, refusals);
    }
  }
}

}  // namespace rw::autograph_tool
