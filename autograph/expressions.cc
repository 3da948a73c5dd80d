#include "expressions.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "types.h"
#include "uses.h"

namespace rw::autograph_tool {
namespace {

using clang::Expr;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;

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
    // An object with a conversion to bool may be one that cannot be copied.
    const bool object = !conditions_.staged(e->getRHS()) && record_of(stripped(e->getRHS())->getType());
    edits_->replace(left.end, right.begin, object ? ", [&] { return bool(" : ", [&] { return ");
    edits_->close(right.end, (object ? "); }" : "; }") + changed_in({right}) + ")");
    return true;
  }
  bool VisitCXXFoldExpr(clang::CXXFoldExpr* e) {
    const bool logical = e->getOperator() == clang::BO_LAnd || e->getOperator() == clang::BO_LOr;
    if (logical && conditions_.staged(e->getPattern()))
      refusals_.insert({source_.spot(e->getBeginLoc()),
                        "&& and || cannot be folded over tensors; write a loop, or rw::reduce_any and "
                        "rw::reduce_all over a stack of them"});
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
    return cast(e, e->getSubExprAsWritten(), e->getType());
  }
  bool VisitCXXUnresolvedConstructExpr(clang::CXXUnresolvedConstructExpr* e) {
    return e->getNumArgs() != 1 || cast(e, e->getArg(0), e->getTypeAsWritten());
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
    const bool staged = conditions_.staged(e->getCond());
    if (!staged && !mixes_numbers(e)) return true;
    const Range c = source_.range(e->getCond()), a = source_.range(e->getTrueExpr()),
                b = source_.range(e->getFalseExpr());
    if (!c.valid() || !a.valid() || !b.valid()) return refuse(e, "?:");
    if (staged && facts_ && facts_->assigned_selects.count(source_.range(e)))
      refusals_.insert(
          {source_.spot(e->getBeginLoc()),
           "what ?: chooses by a tensor's condition is a value and no variable, but here it is assigned to, "
           "or bound to a reference that is not const; write an if"});
    if (staged && facts_) refuse_stale_reference(e);
    if (e->getType()->isScopedEnumeralType())
      refusals_.insert({source_.spot(e->getBeginLoc()),
                        "?: chooses a value of an enumeration by a tensor's condition; a graph has none: "
                        "choose an int, or write an if around what depends on it"});
    found_ = true;
    if (!edits_ || !first({c.file, c.begin, b.end})) return true;
    edits_->open(c.begin, "rw::autograph::select(");
    edits_->replace(c.end, a.begin, ", [&] { return ");
    edits_->replace(a.end, b.begin, "; }, [&] { return ");
    edits_->close(b.end, "; }" + changed_in({a, b}) + ")");
    return true;
  }

 private:
  // `const Tensor& r = c ? a : b` is a value when c is a tensor: it must not be told from a reference.
  void refuse_stale_reference(const clang::ConditionalOperator* e) {
    const auto bound = facts_->bound_selects.find(source_.range(e));
    if (bound == facts_->bound_selects.end()) return;
    const auto& [name, known, behind] = bound->second;
    for (const Change* c : facts_->changed_in(known))
      if (std::find(behind.begin(), behind.end(), c->place.declared) != behind.end())
        refusals_.insert({source_.spot(e->getBeginLoc()),
                          "what ?: chooses by a tensor's condition is a value, and '" + name +
                              "' is a reference to a variable that changes later ('" + c->place.text +
                              "', line " + std::to_string(source_.line(c->at)) +
                              "); declare it as a value, or write an if"});
  }
  // int(k) becomes Local<int>(k).
  bool cast(const Expr* e, const Expr* operand, clang::QualType to) {
    if (!promotion_ || !promotion_->converts_local(e)) return true;
    const Range all = source_.range(e), inner = source_.range(operand);
    if (!all.valid() || !inner.valid() || !first(all)) return true;
    const std::string type = spelled(to.getUnqualifiedType(), source_.context());
    edits_->replace(all.begin, inner.begin, "rw::autograph::Local<" + type + ">(");
    if (inner.end == all.end) edits_->close(inner.end, ")");
    return true;
  }
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
  // Whether the arms are numbers of two types, one of them a Local: select() gives them the type that both
  // have in common in C++, where ?: would convert the one to the other.
  bool mixes_numbers(const clang::ConditionalOperator* e) const {
    const Expr *a = as_written(e->getTrueExpr()), *b = as_written(e->getFalseExpr());
    if (!conditions_.local(a) && !conditions_.local(b)) return false;
    if (facts_ && facts_->assigned_selects.count(source_.range(e))) return false;
    for (const Expr* arm : {a, b})
      if (!arm->isTypeDependent() && (conditions_.tensor(arm) || !is_number(arm->getType()))) return false;
    return a->isTypeDependent() || b->isTypeDependent() ||
           !source_.context().hasSameUnqualifiedType(a->getType(), b->getType());
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
  if (function.declaration->getReturnType()->isReferenceType())
    for (const clang::ReturnStmt* r : returns_of(function.body)) {
      const auto* select = dyn_cast_or_null<clang::ConditionalOperator>(stripped(r->getRetValue()));
      if (select && conditions.staged(select->getCond()))
        here.insert({source.spot(select->getBeginLoc()),
                     "a function that returns a reference cannot choose what to return by a tensor's "
                     "condition; return a value"});
    }
  refusals.insert(here.begin(), here.end());
  return writer.found() || !here.empty();
}

}  // namespace rw::autograph_tool
