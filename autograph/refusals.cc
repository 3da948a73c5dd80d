#include "refusals.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "types.h"

namespace rw::autograph_tool {
namespace {

using clang::Stmt;
using llvm::dyn_cast;

class Checker : public clang::RecursiveASTVisitor<Checker> {
 public:
  Checker(const Source& source, const Facts& facts, const Plan& plan, std::set<Refusal>& refusals)
      : source_(source), facts_(facts), plan_(plan), refusals_(refusals) {}

  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }  // a function of its own
  bool TraverseCXXRecordDecl(clang::CXXRecordDecl*) { return true; }

  bool VisitStmt(Stmt* s) {
    if (plan_.staged(s)) check_written(s);
    if (plan_.flagged(s)) check_jump(s);
    return true;
  }
  bool VisitGotoStmt(clang::GotoStmt* s) { return staged(s, "goto", "use the condition of a loop"); }
  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt* s) {
    return staged(s, "goto", "use the condition of a loop");
  }
  bool VisitLabelStmt(clang::LabelStmt* s) { return staged(s, "a label", "use the condition of a loop"); }
  bool VisitCXXTryStmt(clang::CXXTryStmt* s) { return staged(s, "try", "put it around the whole construct"); }
  bool VisitCXXThrowExpr(clang::CXXThrowExpr* s) {
    return staged(s, "throw", "check with rw::debugging::Assert, or before the construct");
  }
  bool VisitCoroutineSuspendExpr(clang::CoroutineSuspendExpr* s) {
    return staged(s, "a coroutine's co_await or co_yield", "use a function");
  }
  bool VisitCoreturnStmt(clang::CoreturnStmt* s) { return staged(s, "co_return", "use a function"); }
  bool VisitAsmStmt(clang::AsmStmt* s) { return staged(s, "asm", "move it out"); }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* f = call->getDirectCallee();
    if (!f || !f->getIdentifier()) return true;
    const llvm::StringRef name = f->getName();
    if (name == "setjmp" || name == "_setjmp" || name == "longjmp" || name == "sigsetjmp" ||
        name == "__sigsetjmp")
      staged(call, "setjmp and longjmp", "use the condition of a loop");
    return true;
  }

 private:
  // Whether staged code stands around it.
  bool staged(const Stmt* s, const std::string& what, const std::string& cure) {
    const Spot at = source_.spot(s->getBeginLoc());
    for (const Range& r : plan_.regions())
      if (r.valid() && r.contains(at)) {
        refusals_.insert({at, what + " cannot stand under a tensor's condition (line " +
                                  std::to_string(source_.line(r.first())) + "); " + cure});
        break;
      }
    return true;
  }
  bool token(clang::SourceLocation location, std::string_view text) const {
    if (location.isInvalid()) return false;
    const Spot at = source_.spot(location);
    return source_.buffer(at.file).substr(at.offset).starts_with(text);
  }
  std::string macro_at(const Stmt* s) const {
    const clang::SourceLocation at = s->getBeginLoc();
    return at.isMacroID()
               ? "the macro " +
                     clang::Lexer::getImmediateMacroName(at, source_.manager(), source_.options()).str()
               : "a macro";
  }
  void refuse_macro(const Stmt* s, const std::string& what) {
    refusals_.insert({source_.spot(s->getBeginLoc()),
                      macro_at(s) + " writes " + what + "; write it outside of the macro"});
  }
  void check_written(const Stmt* s) {
    bool ok = plan_.region(s, {}).valid() && source_.range(s).valid();
    const clang::Expr* condition = nullptr;
    if (const auto* i = dyn_cast<clang::IfStmt>(s)) {
      ok = ok && token(i->getIfLoc(), "if") && token(i->getLParenLoc(), "(") && token(i->getRParenLoc(), ")");
      condition = i->getCond();
    } else if (const auto* w = dyn_cast<clang::WhileStmt>(s)) {
      ok = ok && token(w->getWhileLoc(), "while") && token(w->getRParenLoc(), ")");
      condition = w->getCond();
    } else if (const auto* d = dyn_cast<clang::DoStmt>(s)) {
      ok = ok && token(d->getDoLoc(), "do") && token(d->getWhileLoc(), "while");
      condition = d->getCond();
    } else if (const auto* f = dyn_cast<clang::ForStmt>(s)) {
      ok = ok && token(f->getForLoc(), "for") && token(f->getRParenLoc(), ")");
      condition = f->getCond();
    } else if (const auto* r = dyn_cast<clang::CXXForRangeStmt>(s)) {
      ok = ok && token(r->getForLoc(), "for") && token(r->getRParenLoc(), ")");
      condition = r->getRangeInit();
    } else if (const auto* sw = dyn_cast<clang::SwitchStmt>(s)) {
      ok = ok && token(sw->getSwitchLoc(), "switch");
    }
    if (!ok || (condition && !source_.range(as_written(condition)).valid()))
      refuse_macro(s, "a condition on a tensor");
  }
  void check_jump(const Stmt* s) {
    const char* word = llvm::isa<clang::ReturnStmt>(s)  ? "return"
                       : llvm::isa<clang::BreakStmt>(s) ? "break"
                                                        : "continue";
    const auto* r = dyn_cast<clang::ReturnStmt>(s);
    if (!token(s->getBeginLoc(), word) || (r && r->getRetValue() && !source_.range(r->getRetValue()).valid()))
      refuse_macro(s, std::string("a ") + word + " under a tensor's condition");
  }

  const Source& source_;
  const Facts& facts_;
  const Plan& plan_;
  std::set<Refusal>& refusals_;
};

}  // namespace

void find_refusals(const Source& source, const Facts& facts, const Function& function, const Plan& plan,
                   std::set<Refusal>& refusals) {
  Checker checker(source, facts, plan, refusals);
  checker.TraverseStmt(const_cast<clang::CompoundStmt*>(function.body));
  if (!plan.has_return_slot()) return;
  if (function.declaration->getReturnType()->isReferenceType())
    for (const Stmt* j : plan.flagged_jumps())
      if (llvm::isa<clang::ReturnStmt>(j))
        refusals.insert(
            {source.spot(j->getBeginLoc()),
             "a function that returns a reference cannot return under a tensor's condition; return a value"});
}

}  // namespace rw::autograph_tool
