#include "callables.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include "places.h"
#include "types.h"

namespace rw::autograph_tool {

using clang::Expr;
using llvm::dyn_cast;

namespace {

// The lambdas and callable variables that an expression is made of.
class CallableFinder : public clang::RecursiveASTVisitor<CallableFinder> {
 public:
  std::vector<const clang::LambdaExpr*> lambdas;
  std::vector<const clang::Decl*> declarations;
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    lambdas.push_back(lambda);
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    if (llvm::isa<clang::VarDecl>(e->getDecl()) && may_hold_callable(e->getType()))
      declarations.push_back(e->getDecl());
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* e) {
    if (may_hold_callable(e->getType())) declarations.push_back(e->getMemberDecl());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* e) {
    const clang::FunctionDecl* callee = e->getDirectCallee();
    if (!callee || !may_hold_callable(e->getType())) return true;
    if (const clang::FunctionDecl* pattern = callee->getTemplateInstantiationPattern()) callee = pattern;
    declarations.push_back(callee);
    return true;
  }
};

}  // namespace

void Callables::flow(clang::QualType type, const Expr* from, Spot to) {
  if (!may_hold_callable(type)) return;
  CallableFinder finder;
  finder.TraverseStmt(const_cast<Expr*>(from));
  for (const clang::LambdaExpr* lambda : finder.lambdas)
    if (const Range body = source_.range(lambda->getBody()); body.valid()) facts_.lambdas[to].insert(body);
  for (const clang::Decl* d : finder.declarations)
    if (source_.users(d->getLocation())) flows_.emplace(source_.spot(d->getLocation()), to);
}
std::optional<Spot> Callables::of(const Expr* e) const {
  for (e = stripped(e); e;) {
    if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e)) return source_.spot(ref->getDecl()->getLocation());
    if (const auto* m = dyn_cast<clang::MemberExpr>(e))
      return source_.spot(m->getMemberDecl()->getLocation());
    if (const auto* call = dyn_cast<clang::CXXMemberCallExpr>(e))
      e = stripped(call->getImplicitObjectArgument());
    else if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(e)) e = stripped(op->getArg(0));
    else break;
  }
  return {};
}

void Callables::note_typed(const clang::CXXRecordDecl* lambda) {
  if (!lambda || !lambda->isLambda() || !lambda->getLambdaCallOperator()) return;
  if (const clang::FunctionDecl* defined = visible_definition(source_, lambda->getLambdaCallOperator()))
    if (const Range body = source_.range(defined->getBody()); body.valid()) facts_.typed_lambdas.insert(body);
}

void Callables::resolve() {
  for (bool again = true; again;) {
    again = false;
    for (const auto& [from, to] : flows_) {
      const auto known = facts_.lambdas.find(from);
      if (known == facts_.lambdas.end() || from == to) continue;
      const std::set<Range> bodies = known->second;
      std::set<Range>& all = facts_.lambdas[to];
      const size_t before = all.size();
      all.insert(bodies.begin(), bodies.end());
      again |= all.size() != before;
    }
  }
}

}  // namespace rw::autograph_tool
