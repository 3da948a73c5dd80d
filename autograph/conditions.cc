#include "conditions.h"

#include "places.h"
#include "types.h"

namespace rw::autograph_tool {

using llvm::dyn_cast;

bool Conditions::tensor(const clang::Expr* e) const {
  if (!e) return false;
  e = as_written(e);
  const Range r = source_.range(e);
  if (r.valid() ? facts_.tensors.count(r) > 0 : is_tensor(e->getType())) return true;
  const auto* p = dyn_cast<clang::ParenExpr>(e);
  return p && tensor(p->getSubExpr());
}

bool Conditions::local(const clang::Expr* e) const {
  if (!e) return false;
  e = stripped(e);
  if (tensor(e)) return false;
  if (const auto* u = dyn_cast<clang::UnaryOperator>(e))
    return u->getOpcode() == clang::UO_LNot ? staged(u->getSubExpr())
                                            : u->getOpcode() != clang::UO_AddrOf &&
                                                  u->getOpcode() != clang::UO_Deref && local(u->getSubExpr());
  if (const auto* b = dyn_cast<clang::BinaryOperator>(e)) {
    if (b->isLogicalOp()) return staged(b->getLHS()) || staged(b->getRHS());
    if (b->getOpcode() == clang::BO_Comma) return local(b->getRHS());
    if (b->isAssignmentOp()) return local(b->getLHS());
    return local(b->getLHS()) || local(b->getRHS());
  }
  if (const auto* c = dyn_cast<clang::ConditionalOperator>(e)) {
    if (tensor(c->getTrueExpr()) || tensor(c->getFalseExpr())) return false;
    return staged(c->getCond()) || local(c->getTrueExpr()) || local(c->getFalseExpr());
  }
  if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e)) return promoted(ref->getDecl());
  if (const auto* call = dyn_cast<clang::CallExpr>(e); call && !local_functions_.empty()) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const clang::FunctionDecl* defined = callee ? visible_definition(source_, callee) : nullptr;
    return defined && local_functions_.count(source_.spot(defined->getBody()->getBeginLoc())) > 0;
  }
  return false;
}

bool Conditions::staged_range(const clang::CXXForRangeStmt* loop) const {
  if (!loop->getRangeInit()) return false;
  const Range r = source_.range(as_written(loop->getRangeInit()));
  return r.valid() && facts_.staged_ranges.count(r) > 0;
}

}  // namespace rw::autograph_tool
