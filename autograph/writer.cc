#include "writer.h"

#include <clang/AST/Attr.h>

#include <algorithm>

#include "types.h"

namespace rw::autograph_tool {

using clang::Stmt;
using llvm::dyn_cast;
using llvm::isa;

std::string Names::numbered(const std::string& stem) {
  std::string name;
  do name = stem + std::to_string(++counts_[stem]);
  while (taken_.count(name));
  taken_.insert(name);
  return name;
}
std::string Names::plain(const std::string& stem) {
  return taken_.insert(stem).second ? stem : numbered(stem);
}

bool needs_parentheses(const clang::Expr* e) {
  e = as_written(e);
  if (const auto* b = dyn_cast<clang::BinaryOperator>(e)) return b->getOpcode() == clang::BO_Comma;
  const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(e);
  return op && op->getOperator() == clang::OO_Comma;
}

static constexpr const char* kSpace = "rw::autograph::";

// Flags, in the order in which they were declared.
std::string Writer::none_of(const Exits& exits) const {
  std::vector<std::string> tests;
  for (const Stmt* s : exits.breaks)
    if (break_flags_.count(s)) tests.push_back("!" + break_flags_.at(s));
  for (const Stmt* s : exits.continues)
    if (continue_flags_.count(s)) tests.push_back("!" + continue_flags_.at(s));
  std::sort(tests.begin(), tests.end());
  if (exits.returns) tests.push_back("!" + result_ + ".done()");
  std::string all = tests.back();
  for (size_t i = tests.size() - 1; i-- > 0;)
    all = kSpace + ("and_(" + tests[i]) + ", [&] { return " + all + "; })";
  return all;
}

std::string Writer::state(const Range& region, const Stmt* switch_of) const {
  std::vector<std::string> names = facts_.names_changed_in(region);
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  bool returns = false;
  if (switch_of && entered_flags_.count(switch_of)) add(entered_flags_.at(switch_of));
  for (const Stmt* j : plan_.flagged_jumps()) {
    const Range at = source_.range(j);
    if (!at.valid() || !region.contains(at)) continue;
    if (isa<clang::ReturnStmt>(j)) {
      returns = true;
      continue;
    }
    const Stmt* target = plan_.target(j);
    const Range whole = source_.range(target);
    if (whole.valid() && region.contains(whole)) continue;
    const bool breaks = isa<clang::BreakStmt>(j);
    const auto& flags = breaks ? break_flags_ : continue_flags_;
    if (!flags.count(target)) continue;
    const Range body = breaks ? Range{} : source_.range(body_of(target));
    if (!breaks && region.contains(body)) continue;  // declared in the body
    add(flags.at(target));
  }
  if (returns) add(result_);
  std::string list, told;
  for (const std::string& n : names) {
    list += (list.empty() ? "" : ", ") + n;
    told += (told.empty() ? "" : ", ") + (is_scratch(region, n) ? "(" + n + ")" : n);
  }
  return kSpace + ("state(" + list) + "), \"" + told + "\"";
}

// `Tensor t;` that nothing outside of a region uses.
bool Writer::is_scratch(const Range& region, const std::string& name) const {
  for (const Change* c : facts_.changed_in(region)) {
    const auto* v = llvm::dyn_cast_or_null<clang::VarDecl>(c->place.variable);
    if (c->place.text != name || !c->place.whole || !v || c->place.root != Place::Root::kVariable) continue;
    const auto* made = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(v->getInit());
    if (!v->isLocalVarDecl() || !is_tensor(v->getType()) || v->getType()->isReferenceType() || !made ||
        made->getNumArgs() > 0)
      return false;
    const auto uses = facts_.uses.find(source_.spot(v->getLocation()));
    return uses != facts_.uses.end() && std::all_of(uses->second.begin(), uses->second.end(),
                                                    [&](const Spot& at) { return region.contains(at); });
  }
  return false;
}

void Writer::write() {
  if (plan_.has_return_slot()) return_slot();
  const std::vector<const Stmt*> all = statements_of(function_.body);
  list(all);
}

void Writer::list(Statements statements) {
  if (statements.empty()) return;
  const Stmt* s = without_attributes(statements.front());
  const Statements rest = statements.subspan(1);
  if (plan_.moves_rest(s)) return branches(llvm::cast<clang::IfStmt>(s), rest);
  statement(statements.front());
  if (rest.empty()) return;
  if (const Exits* exits = plan_.guard_after(s)) guard_rest(*exits, rest);
  list(rest);
}

void Writer::guard_rest(const Exits& exits, Statements rest) {
  const Range span = plan_.span(rest);
  const std::string name = names_.numbered("if");
  edits_.open(span.begin, std::string("for (") + kSpace + "If " + name + "(" + none_of(exits) + ", " +
                              state(span) + "); " + name + ".next();) if (" + name + ".branch()) { ");
  edits_.close(span.end, " }");
}

void Writer::braces(const Stmt* body) {
  if (isa<clang::CompoundStmt>(body)) return;
  const Range r = statement_range(body);
  edits_.open(r.begin, "{ ");
  edits_.close(r.end, " }");
}

void Writer::statement(const Stmt* s) {
  if (const auto* a = dyn_cast<clang::AttributedStmt>(s); a && in_staged_switch_)
    if (clang::hasSpecificAttr<clang::FallThroughAttr>(a->getAttrs())) {
      const Range r = statement_range(s);
      return edits_.remove(r.begin, r.end);
    }
  s = without_attributes(s);
  if (const auto* i = dyn_cast<clang::IfStmt>(s)) return branches(i, {});
  if (isa<clang::CompoundStmt>(s)) {
    const std::vector<const Stmt*> all = statements_of(s);
    return list(all);
  }
  if (const auto* w = dyn_cast<clang::WhileStmt>(s)) return while_loop(w);
  if (const auto* d = dyn_cast<clang::DoStmt>(s)) return do_loop(d);
  if (const auto* f = dyn_cast<clang::ForStmt>(s)) return for_loop(f);
  if (const auto* f = dyn_cast<clang::CXXForRangeStmt>(s)) return range_loop(f);
  if (const auto* sw = dyn_cast<clang::SwitchStmt>(s)) return switched(sw);
  if (isa<clang::BreakStmt>(s) || isa<clang::ContinueStmt>(s) || isa<clang::ReturnStmt>(s)) return jump(s);
  if (const auto* t = dyn_cast<clang::CXXTryStmt>(s)) {
    statement(t->getTryBlock());
    for (unsigned i = 0; i < t->getNumHandlers(); ++i) statement(t->getHandler(i)->getHandlerBlock());
  }
  if (const auto* l = dyn_cast<clang::LabelStmt>(s)) statement(l->getSubStmt());
  if (const auto* c = dyn_cast<clang::SwitchCase>(s)) statement(c->getSubStmt());
}

void Writer::branches(const clang::IfStmt* s, Statements rest) {
  const bool moves = plan_.moves_rest(s);
  const Range whole = statement_range(s);
  const Range then = statement_range(s->getThen());
  const unsigned end = moves ? plan_.span(rest).end : whole.end;
  if (plan_.staged(s)) {
    const std::string name = names_.numbered("if");
    const Range condition = source_.range(as_written(s->getCond()));
    const unsigned head = offset(s->getIfLoc()), paren = offset(s->getLParenLoc()),
                   closing = offset(s->getRParenLoc());
    std::string make = std::string("for (") + kSpace + "If " + name + "(";
    std::string behind =
        ", " + state(plan_.region(s, rest)) + "); " + name + ".next();) if (" + name + ".branch())";
    const Stmt* first = s->getInit();
    if (s->getConditionVariable()) {
      const Range declared = source_.range(s->getConditionVariable()->getSourceRange());
      edits_.replace(head, paren + 1, "{");
      edits_.open(first ? statement_range(first).begin : declared.begin, " ");
      edits_.replace(closing, closing + 1,
                     "; " + make + s->getConditionVariable()->getNameAsString() + behind);
      edits_.close(end, " }");
    } else {
      const bool wraps = needs_parentheses(s->getCond());
      if (wraps) make += "(", behind = ")" + behind;
      if (first) {
        edits_.replace(head, paren + 1, "{ ");
        edits_.open(condition.begin, make);
        edits_.close(end, " }");
      } else {
        edits_.replace(head, paren + 1, make);
      }
      edits_.replace(closing, closing + 1, behind);
    }
  }
  if (!moves) {
    // A jump may become more than one statement, or none.
    if (plan_.staged(s) || plan_.flagged(s->getThen())) braces(s->getThen());
    statement(s->getThen());
    if (s->getElse()) {
      if ((plan_.staged(s) && !isa<clang::IfStmt>(s->getElse())) || plan_.flagged(s->getElse()))
        braces(s->getElse());
      statement(s->getElse());
    }
    return;
  }
  std::vector<const Stmt*> all;
  if (s->getElse()) {
    edits_.open(statement_range(s->getElse()).begin, "{ ");
    all.push_back(s->getElse());
  } else {
    edits_.close(then.end, " else {");
  }
  all.insert(all.end(), rest.begin(), rest.end());
  edits_.close(end, " }");
  braces(s->getThen());
  statement(s->getThen());
  list(all);
}

void Writer::jump(const Stmt* s) {
  if (!plan_.flagged(s)) return;
  if (const auto* r = dyn_cast<clang::ReturnStmt>(s)) return returned(r);
  const bool breaks = isa<clang::BreakStmt>(s);
  const auto& flags = breaks ? break_flags_ : continue_flags_;
  const auto flag = flags.find(plan_.target(s));
  const Range at = source_.range(s), all = statement_range(s);
  if (flag != flags.end()) edits_.replace(at.begin, at.end, flag->second + " = true");
  else edits_.remove(at.begin, all.end);
}

void Writer::returned(const clang::ReturnStmt* s) {
  const unsigned at = offset(s->getReturnLoc());
  const unsigned word = at + unsigned(std::string_view("return").size());
  const clang::Expr* value = s->getRetValue();
  if (!value) return edits_.replace(at, word, result_ + ".set()");
  const Range r = source_.range(value);
  if (value->getType()->isVoidType()) {
    const Range all = statement_range(s);
    edits_.replace(at, r.begin, "{ ");
    edits_.close(all.end, " " + result_ + ".set(); }");
    return;
  }
  edits_.replace(at, r.begin, result_ + ".set(");
  edits_.close(r.end, ")");
}

std::string Writer::return_type() const {
  const auto known = facts_.return_types.find(function_.range.first());
  const clang::FunctionDecl* f = function_.declaration;
  const auto body = [&] { return "decltype([&]() " + on_one_line(source_.text(function_.range)) + "())"; };
  const clang::QualType written = f->getReturnType();
  const bool deduced = written->getContainedDeducedType() != nullptr ||
                       (function_.lambda && !function_.lambda->hasExplicitResultType());
  if (!deduced) {
    if (const clang::FunctionTypeLoc loc = f->getFunctionTypeLoc()) {
      const Range r = source_.range(loc.getReturnLoc().getSourceRange());
      if (r.valid() && r.end > r.begin) return on_one_line(source_.text(r));
    }
    const std::string text = spelled(written, source_.context());
    return text.empty() ? body() : text;
  }
  if (known != facts_.return_types.end() && known->second.size() == 1 && !known->second.begin()->empty())
    return conditions_.result_promoted(function_.range.first())
               ? "rw::autograph::Local<" + *known->second.begin() + ">"
               : *known->second.begin();
  return conditions_.result_promoted(function_.range.first()) ? kSpace + ("Promoted<" + body()) + ">"
                                                              : body();
}

void Writer::return_slot() {
  const std::string name = names_.plain("result");
  result_ = name;
  edits_.open(function_.range.begin + 1,
              std::string(" ") + kSpace + "Return<" + return_type() + "> " + name + ";");
  const std::vector<const Stmt*> all = statements_of(function_.body);
  edits_.close(plan_.span(all).end, " return " + name + ".take();");
}

}  // namespace rw::autograph_tool
