#include <algorithm>

#include "types.h"
#include "writer.h"

namespace rw::autograph_tool {

using clang::Stmt;
using llvm::dyn_cast;
using llvm::isa;

static constexpr const char* kSpace = "rw::autograph::";

// Text in front of the loop: a brace and the flag, if it has one.
std::string Writer::declare_break(const Stmt* target) {
  if (!plan_.break_is_read(target)) return {};
  const std::string name = names_.numbered("broke");
  break_flags_[target] = name;
  return std::string("{ ") + kSpace + "Local<bool> " + name + " = false; ";
}

// At the beginning of a body in braces.
void Writer::declare_continue(const Stmt* loop) {
  if (!plan_.continue_is_read(loop)) return;
  const std::string name = names_.numbered("continued");
  continue_flags_[loop] = name;
  const Range body = statement_range(body_of(loop));
  const std::string text = std::string(kSpace) + "Local<bool> " + name + " = false;";
  if (isa<clang::CompoundStmt>(body_of(loop))) edits_.open(body.begin + 1, " " + text);
  else edits_.open(body.begin, text + " ");
}

std::string Writer::condition_head(const Stmt* loop, const Exits& exits, std::string& tail) const {
  const clang::Expr* condition = condition_of(loop);
  std::string head;
  tail.clear();
  if (exits.any()) {
    head = std::string(kSpace) + "and_(" + none_of(exits) + ", [&] { return ";
    std::string changed;
    if (condition)
      for (const std::string& n : facts_.names_changed_in(source_.range(condition)))
        changed += (changed.empty() ? "" : ", ") + n;
    tail = changed.empty() ? "; })" : "; }, \"" + changed + "\", " + changed + ")";
  }
  if (!exits.any() && condition && needs_parentheses(condition)) head += "(", tail = ")" + tail;
  return head;
}

void Writer::while_loop(const clang::WhileStmt* s) {
  if (!plan_.staged(s)) return host_loop_body(s);
  const unsigned head = offset(s->getWhileLoc()), paren = offset(s->getLParenLoc()),
                 closing = offset(s->getRParenLoc());
  const Exits& exits = *plan_.loop_exits(s);
  const std::string flag = declare_break(s), name = names_.numbered("while");
  edits_.open(head, flag);
  if (!flag.empty()) edits_.close(statement_range(s).end, " }");
  braces(s->getBody());
  declare_continue(s);
  std::string tail;
  const std::string before = condition_head(s, exits, tail);
  const std::string make = std::string("for (") + kSpace + "While " + name + "(" +
                           state(plan_.region(s, {})) + "); " + name + ".open() && " + name + ".condition(";
  if (always_true(s->getCond())) {
    edits_.replace(head, closing + 1, make + none_of(exits) + "); " + name + ".step())");
  } else {
    edits_.replace(head, paren + 1, make + before);
    edits_.replace(closing, closing + 1, tail + "); " + name + ".step())");
  }
  statement(s->getBody());
}

void Writer::do_loop(const clang::DoStmt* s) {
  if (!plan_.staged(s)) return host_loop_body(s);
  const unsigned head = offset(s->getDoLoc());
  const Exits& exits = *plan_.loop_exits(s);
  const std::string flag = declare_break(s), name = names_.numbered("do");
  const Range all = statement_range(s), condition = source_.range(s->getCond());
  edits_.open(head, flag);
  if (!flag.empty()) edits_.close(all.end, " }");
  std::string tail;
  const std::string before = condition_head(s, exits, tail);
  const std::string make = std::string("for (") + kSpace + "DoWhile " + name + "(" +
                           state(plan_.region(s, {})) + "); " + name + ".open(); " + name +
                           ".step([&] { return ";
  if (always_true(s->getCond())) edits_.replace(head, head + 2, make + none_of(exits) + "; }))");
  else edits_.replace_with(head, head + 2, make + before, {condition.begin, condition.end}, tail + "; }))");
  braces(s->getBody());
  declare_continue(s);
  edits_.replace(offset(s->getWhileLoc()), all.end, "");
  statement(s->getBody());
}

// The increment at the end of the body; not behind a break, if it can be seen behind the loop.
void Writer::increment_behind(const clang::ForStmt* s, const std::string& not_left) {
  const Range body = statement_range(s->getBody());
  edits_.open(body.begin, "{ ");
  if (!s->getInc()) return edits_.close(body.end, " }");
  const Range r = source_.range(s->getInc());
  std::string before = " ", after = "; }";
  if (!not_left.empty()) {
    const std::string name = names_.numbered("if");
    before = std::string(" for (") + kSpace + "If " + name + "(" + not_left + ", " + state(r) + "); " + name +
             ".next();) if (" + name + ".branch()) { ";
    after = "; } }";
  }
  edits_.close_with(body.end, before, {r.begin, r.end}, after);
}

void Writer::for_loop(const clang::ForStmt* s) {
  if (!plan_.staged(s)) return host_loop_body(s);
  const unsigned head = offset(s->getForLoc()), paren = offset(s->getLParenLoc()),
                 closing = offset(s->getRParenLoc());
  const Range all = statement_range(s);
  const Exits& exits = *plan_.loop_exits(s);
  unsigned first = source_.next_token(all.file, paren + 1);  // the first semicolon, or what is before it
  if (s->getInit()) first = statement_range(s->getInit()).end - 1;
  const std::string flag = declare_break(s), name = names_.numbered("while");
  edits_.replace(head, paren + 1, flag.empty() ? "{ " : flag);
  edits_.close(all.end, " }");
  if (!s->getInit()) edits_.remove(first, first + 1);
  std::string tail;
  const std::string before = condition_head(s, exits, tail);
  const std::string make = std::string("for (") + kSpace + "While " + name + "(" +
                           state(plan_.region(s, {})) + "); " + name + ".open() && " + name + ".condition(";
  if (always_true(s->getCond())) {
    edits_.replace(first + 1, closing + 1,
                   (s->getInit() ? " " : "") + make + none_of(exits) + "); " + name + ".step())");
  } else {
    const Range condition = source_.range(s->getCond());
    const unsigned second = source_.next_token(all.file, condition.end);
    edits_.open(condition.begin, make + before);
    edits_.replace(second, closing + 1, tail + "); " + name + ".step())");
  }
  const bool visible_behind =
      s->getInc() && std::any_of(plan_.regions().begin(), plan_.regions().end(), [&](const Range&) {
        if (!exits.any()) return false;
        const Range whole = source_.range(s);
        for (const Change* c : facts_.changed_in(source_.range(s->getInc())))
          if (!whole.contains(c->place.declared)) return true;
        return false;
      });
  increment_behind(s, visible_behind ? none_of(exits) : std::string());
  braces(s->getBody());
  declare_continue(s);
  statement(s->getBody());
}

void Writer::range_loop(const clang::CXXForRangeStmt* s) {
  if (!plan_.staged(s)) return host_loop_body(s);
  const unsigned head = offset(s->getForLoc()), closing = offset(s->getRParenLoc());
  const Exits& exits = *plan_.loop_exits(s);
  const Range all = statement_range(s), range = source_.range(as_written(s->getRangeInit()));
  Range declared = source_.range(s->getLoopVarStmt()->getSourceRange());
  declared = {all.file, source_.range(s->getLoopVariable()->getSourceRange()).begin,
              offset(s->getColonLoc())};
  std::string_view text = source_.text(declared);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1), --declared.end;
  const std::string flag = declare_break(s), name = names_.numbered("for");
  const std::string make = std::string("for (") + kSpace + "For " + name + "(";
  if (s->getInit()) {
    const Range init = statement_range(s->getInit());
    edits_.replace(head, init.begin, flag.empty() ? "{ " : flag);
    edits_.replace(init.end, range.begin, " " + make);
    edits_.close(all.end, " }");
  } else {
    edits_.replace(head, range.begin, flag + make);
    if (!flag.empty()) edits_.close(all.end, " }");
  }
  std::string test = name + ".open()";
  if (exits.any()) test += " && " + name + ".condition(" + none_of(exits) + ")";
  edits_.replace(closing, closing + 1,
                 ", " + state(plan_.region(s, {})) + "); " + test + "; " + name + ".step())");
  const Range body = statement_range(s->getBody());
  const std::string element = " = " + name + ".element();";
  if (isa<clang::CompoundStmt>(s->getBody())) {
    edits_.open_with(body.begin + 1, " ", {declared.begin, declared.end}, element);
  } else {
    edits_.open_with(body.begin, "{ ", {declared.begin, declared.end}, element + " ");
    edits_.close(body.end, " }");
  }
  declare_continue(s);
  statement(s->getBody());
}

// A loop of the host's that may be left under a flag.
void Writer::host_loop_body(const Stmt* s) {
  const Exits* exits = plan_.guarded_body(s);
  const Stmt* body = body_of(s);
  const Range whole = statement_range(s), r = statement_range(body);
  if (!exits) {
    if (plan_.continue_is_read(s)) braces(body);
    declare_continue(s);
    return statement(body);
  }
  const std::string flag = declare_break(s);
  edits_.open(whole.begin, flag);
  if (!flag.empty()) edits_.close(whole.end, " }");
  const std::string name = names_.numbered("if");
  edits_.open(r.begin, std::string("{ for (") + kSpace + "If " + name + "(" + none_of(*exits) + ", " +
                           state(r) + "); " + name + ".next();) if (" + name + ".branch()) ");
  std::string leave = " ";
  if (break_flags_.count(s)) leave += "if (" + break_flags_.at(s) + ".is_true_on_host()) break; ";
  if (exits->returns) leave += "if (" + result_ + ".done().is_true_on_host()) break; ";
  edits_.close(r.end, leave + "}");
  braces(body);
  declare_continue(s);
  statement(body);
}

void Writer::switched(const clang::SwitchStmt* s) {
  const SwitchPlan* plan = plan_.switch_plan(s);
  const bool around = std::exchange(in_staged_switch_, plan_.staged(s) && plan);
  write_switch(s, plan);
  in_staged_switch_ = around;
}

void Writer::write_switch(const clang::SwitchStmt* s, const SwitchPlan* plan) {
  if (!in_staged_switch_) return statement(s->getBody());
  const clang::Expr* value = stripped(s->getCond());
  bool tensor = false;
  for (;;) {
    tensor = conditions_.tensor(value);
    const clang::Expr* inner = converted(value);
    if (tensor || !inner || !conditions_.staged(inner)) break;
    value = inner;
  }
  const Range all = statement_range(s), inner = source_.range(value), body = source_.range(s->getBody());
  const std::string name = names_.numbered("switch");
  const std::string broke = plan->chain && !plan_.break_is_read(s) ? "{" : declare_break(s);
  std::string head = (broke.empty() ? "{" : broke) + " const auto " + name + " = ";
  std::string tail = ";";
  if (tensor) head += std::string(kSpace) + "switch_on(", tail = ");";
  if (!plan->chain) {
    entered_flags_[s] = names_.numbered("entered");
    tail += std::string(" ") + kSpace + "Local<bool> " + entered_flags_[s] + " = false;";
  }
  if (s->getInit()) {
    const Range init = statement_range(s->getInit());
    edits_.replace(all.begin, init.begin, broke.empty() ? "{ " : broke);
    edits_.replace(init.end, inner.begin, head.substr(broke.empty() ? 1 : broke.size()));
    edits_.replace(inner.end, body.begin + 1, tail);
  } else {
    edits_.replace_with(all.begin, body.begin + 1, head, {inner.begin, inner.end}, tail);
  }
  const auto equals = [&](const clang::Expr* label) {
    const std::string text = on_one_line(source_.text(source_.range(label)));
    return tensor ? "rw::equal(" + name + ", int64_t(" + text + "))" : name + " == " + text;
  };
  const auto any_of = [&](const std::vector<std::string>& tests, bool negated) {
    const auto one = [&](const std::string& t) { return negated ? kSpace + ("not_(" + t) + ")" : t; };
    std::string text = one(tests.back());
    for (size_t i = tests.size() - 1; i-- > 0;)
      text = kSpace + std::string(negated ? "and_(" : "or_(") + one(tests[i]) + ", [&] { return " + text +
             "; })";
    return text;
  };
  std::vector<std::string> every;
  for (const SwitchGroup& g : plan->groups)
    for (const clang::Expr* e : g.cases) every.push_back(equals(e));
  for (size_t i = 0; i < plan->groups.size(); ++i) {
    const SwitchGroup& g = plan->groups[i];
    const bool last = i + 1 == plan->groups.size();
    const unsigned end = g.statements.empty() ? g.label_end : plan_.span(g.statements).end;
    // As a chain, what follows stands in the else.
    const Range region{all.file, g.label_end, plan->chain ? body.end : end};
    std::string match;
    std::vector<std::string> own;
    for (const clang::Expr* e : g.cases) own.push_back(equals(e));
    if (!g.is_default) match = any_of(own, false);
    else if (!every.empty() && !plan->chain) {
      std::vector<std::string> others = every;
      std::erase_if(others,
                    [&](const std::string& t) { return std::find(own.begin(), own.end(), t) != own.end(); });
      match = others.empty() ? "true" : any_of(others, true);
    }
    std::string open, close = "}";
    if (plan->chain && g.is_default) {
      open = "{";
    } else {
      const std::string test = names_.numbered("if");
      if (!plan->chain) {
        match = kSpace + ("or_(" + entered_flags_.at(s)) + ", [&] { return " +
                (match.empty() ? "true" : match) + "; })";
        if (g.before.any())
          match = kSpace + ("and_(" + none_of(g.before)) + ", [&] { return " + match + "; })";
      }
      open = std::string("for (") + kSpace + "If " + test + "(" + match + ", " + state(region, s) + "); " +
             test + ".next();) if (" + test + ".branch()) {";
      if (!plan->chain) open += " " + entered_flags_.at(s) + " = true;";
      else if (!last) close = "} else";
    }
    edits_.replace(g.label_begin, g.label_end, open);
    edits_.close(end, " " + close);
    list(g.statements);
  }
}

}  // namespace rw::autograph_tool
