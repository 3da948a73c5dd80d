#include "conditions.h"

#include "places.h"
#include "types.h"

namespace rw::autograph_tool {

using llvm::dyn_cast;

bool is_open_operation(const clang::Expr* e) {
  const auto* call = dyn_cast<clang::CXXOperatorCallExpr>(e);
  if (!call || !call->isTypeDependent()) return false;
  switch (call->getOperator()) {
    case clang::OO_Plus:
    case clang::OO_Minus:
    case clang::OO_Star:
    case clang::OO_Slash:
    case clang::OO_Percent:
    case clang::OO_Caret:
    case clang::OO_Amp:
    case clang::OO_Pipe:
    case clang::OO_Tilde:
    case clang::OO_Exclaim:
    case clang::OO_Less:
    case clang::OO_Greater:
    case clang::OO_LessEqual:
    case clang::OO_GreaterEqual:
    case clang::OO_EqualEqual:
    case clang::OO_ExclaimEqual:
    case clang::OO_AmpAmp:
    case clang::OO_PipePipe: return true;
    default: return false;
  }
}

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
  if (e->isTypeDependent() && locals_.count(source_.range(e))) return true;
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
  if (is_open_operation(e)) {
    const auto* call = llvm::cast<clang::CXXOperatorCallExpr>(e);
    const auto kind = call->getOperator();
    const bool logical = kind == clang::OO_Exclaim || kind == clang::OO_AmpAmp || kind == clang::OO_PipePipe;
    if (!logical && !facts_.numbers.count(source_.range(e))) return false;  // as far as it is instantiated
    for (const clang::Expr* a : call->arguments())
      if (logical ? staged(a) : local(a)) return true;
    return false;
  }
  if (const clang::Expr* inner = is_number(e->getType()) ? converted(e) : nullptr) return local(inner);
  if (const auto* ref = dyn_cast<clang::DeclRefExpr>(e)) return promoted(ref->getDecl());
  if (const auto* call = dyn_cast<clang::CallExpr>(e); call && !local_functions_.empty()) {
    if (!call->isTypeDependent() && !is_number(call->getType())) return false;
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
