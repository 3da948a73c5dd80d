#include "expressions.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "types.h"

namespace rw::autograph_tool {
namespace {

using clang::Expr;
using llvm::dyn_cast;

class ExpressionWriter : public clang::RecursiveASTVisitor<ExpressionWriter> {
 public:
  ExpressionWriter(const Source& source, const Facts* facts, const Conditions& conditions,
                   const Promotion* promotion, Edits* edits, std::set<Refusal>& refusals)
      : source_(source),
        facts_(facts),
        conditions_(conditions),
        promotion_(promotion),
        edits_(edits),
        refusals_(refusals) {}

  bool found() const { return found_; }

  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    for (unsigned i = 0; i < lambda->capture_size(); ++i)
      if (lambda->isInitCapture(lambda->capture_begin() + i)) TraverseStmt(lambda->capture_init_begin()[i]);
    return true;
  }
  bool TraverseTypeLoc(clang::TypeLoc) { return true; }  // decltype
  bool TraverseCXXRecordDecl(clang::CXXRecordDecl*) { return true; }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr*) { return true; }

  bool VisitBinaryOperator(clang::BinaryOperator* e) {
    if (!e->isLogicalOp() || !(conditions_.staged(e->getLHS()) || conditions_.staged(e->getRHS())))
      return true;
    const Range left = source_.range(e->getLHS()), right = source_.range(e->getRHS()), all = source_.range(e);
    if (!left.valid() || !right.valid() || !all.valid())
      return refuse(e, e->isLogicalOp() ? e->getOpcodeStr().str() : "");
    found_ = true;
    if (!edits_ || !first(all)) return true;
    edits_->open(left.begin,
                 e->getOpcode() == clang::BO_LAnd ? "rw::autograph::and_(" : "rw::autograph::or_(");
    edits_->replace(left.end, right.begin, ", [&] { return ");
    edits_->close(right.end, "; }" + changed_in({right}) + ")");
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* e) {
    if (e->getOpcode() != clang::UO_LNot || !conditions_.staged(e->getSubExpr())) return true;
    const Range inner = source_.range(e->getSubExpr()), all = source_.range(e);
    if (!inner.valid() || !all.valid()) return refuse(e, "!");
    found_ = true;
    if (!edits_ || !first(all)) return true;
    edits_->replace(all.begin, inner.begin, "rw::autograph::not_(");
    edits_->close(inner.end, ")");
    return true;
  }
  bool VisitExplicitCastExpr(clang::ExplicitCastExpr* e) {
    if (!promotion_ || !promotion_->converts_local(e)) return true;
    const Range all = source_.range(e), inner = source_.range(e->getSubExprAsWritten());
    if (!all.valid() || !inner.valid() || !first(all)) return true;
    const std::string type = spelled(e->getType().getUnqualifiedType(), source_.context());
    edits_->replace(all.begin, inner.begin, "rw::autograph::Local<" + type + ">(");
    if (inner.end == all.end) edits_->close(inner.end, ")");
    return true;
  }
  bool VisitConditionalOperator(clang::ConditionalOperator* e) {
    if (const auto assertion = asserted(e)) {
      if (!conditions_.staged(assertion->second)) return true;
      found_ = true;
      const auto [call, condition] = *assertion;
      const Range r = source_.range(condition);
      if (!edits_ || !first(call) || !r.valid()) return true;
      edits_->replace(call.begin, r.begin, "rw::debugging::Assert(");
      edits_->replace(r.end, call.end, ", {\"assertion failed: " + quoted(source_.text(r)) + "\"})");
      return true;
    }
    if (!conditions_.staged(e->getCond())) return true;
    const Range c = source_.range(e->getCond()), a = source_.range(e->getTrueExpr()),
                b = source_.range(e->getFalseExpr());
    if (!c.valid() || !a.valid() || !b.valid()) return refuse(e, "?:");
    if (facts_ && facts_->assigned_selects.count(source_.range(e)))
      refusals_.insert(
          {source_.spot(e->getBeginLoc()),
           "what ?: chooses by a tensor's condition is a value and no variable, but here it is assigned to, "
           "or bound to a reference that is not const; write an if"});
    found_ = true;
    if (!edits_ || !first({c.file, c.begin, b.end})) return true;
    edits_->open(c.begin, "rw::autograph::select(");
    edits_->replace(c.end, a.begin, ", [&] { return ");
    edits_->replace(a.end, b.begin, "; }, [&] { return ");
    edits_->close(b.end, "; }" + changed_in({a, b}) + ")");
    return true;
  }

 private:
  // `, "x, y", x, y` of what operands change.
  std::string changed_in(std::initializer_list<Range> operands) const {
    std::vector<std::string> names;
    for (const Range& r : operands)
      for (const std::string& n : facts_->names_changed_in(r))
        if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
    std::string list;
    for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
    return list.empty() ? list : ", \"" + list + "\", " + list;
  }
  bool first(const Range& r) { return done_.insert(r).second; }
  bool refuse(const Expr* e, const std::string& what) {
    refusals_.insert(
        {source_.spot(e->getBeginLoc()),
         "a macro writes the operator " + what + " on a tensor; write the condition outside of the macro"});
    return true;
  }
  static std::string quoted(std::string_view text) {
    std::string result;
    for (const char c : on_one_line(text)) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  }
  // assert(c) of <cassert>: the macro as it stands in the file, and c.
  std::optional<std::pair<Range, const Expr*>> asserted(const clang::ConditionalOperator* e) const {
    const clang::SourceLocation at = e->getQuestionLoc();
    if (!at.isMacroID()) return {};
    const clang::SourceManager& manager = source_.manager();
    if (clang::Lexer::getImmediateMacroName(at, manager, source_.options()) != "assert") return {};
    const auto* cast = dyn_cast<clang::ExplicitCastExpr>(stripped(e->getCond()));
    const clang::CharSourceRange whole = manager.getImmediateExpansionRange(at);
    if (!cast || !whole.getBegin().isFileID()) return {};
    const Spot begin = source_.spot(whole.getBegin()), end = source_.spot(whole.getEnd());
    return std::pair{Range{begin.file, begin.offset, source_.token_end(end)}, as_written(cast->getSubExpr())};
  }

  const Source& source_;
  const Facts* facts_;
  const Conditions& conditions_;
  const Promotion* promotion_;
  Edits* edits_;
  std::set<Refusal>& refusals_;
  std::set<Range> done_;
  bool found_ = false;
};

class OperandFinder : public clang::RecursiveASTVisitor<OperandFinder> {
 public:
  OperandFinder(const Source& source, const Conditions& conditions, std::vector<Range>& found)
      : source_(source), conditions_(conditions), found_(found) {}

  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool TraverseTypeLoc(clang::TypeLoc) { return true; }
  bool TraverseCXXRecordDecl(clang::CXXRecordDecl*) { return true; }
  bool VisitBinaryOperator(clang::BinaryOperator* e) {
    if (e->isLogicalOp() && conditions_.staged(e->getLHS())) found_.push_back(source_.range(e->getRHS()));
    return true;
  }
  bool VisitConditionalOperator(clang::ConditionalOperator* e) {
    if (!conditions_.staged(e->getCond())) return true;
    for (const Expr* arm : {e->getTrueExpr(), e->getFalseExpr()}) found_.push_back(source_.range(arm));
    return true;
  }

 private:
  const Source& source_;
  const Conditions& conditions_;
  std::vector<Range>& found_;
};

}  // namespace

std::vector<Range> staged_operands(const Source& source, const Conditions& conditions,
                                   const Function& function) {
  std::vector<Range> found;
  OperandFinder finder(source, conditions, found);
  finder.TraverseStmt(const_cast<clang::CompoundStmt*>(function.body));
  return found;
}

void write_expressions(const Source& source, const Facts& facts, const Conditions& conditions,
                       const Promotion& promotion, const Function& function, Edits& edits,
                       std::set<Refusal>& refusals) {
  ExpressionWriter writer(source, &facts, conditions, &promotion, &edits, refusals);
  writer.TraverseStmt(const_cast<clang::CompoundStmt*>(function.body));
}

bool check_expressions(const Source& source, const Facts& facts, const Conditions& conditions,
                       const Function& function, std::set<Refusal>& refusals) {
  std::set<Refusal> here;
  ExpressionWriter writer(source, &facts, conditions, nullptr, nullptr, here);
  writer.TraverseStmt(const_cast<clang::CompoundStmt*>(function.body));
  refusals.insert(here.begin(), here.end());
  return writer.found() || !here.empty();
}

}  // namespace rw::autograph_tool
