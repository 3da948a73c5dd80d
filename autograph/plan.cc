#include "plan.h"

#include "expressions.h"
#include "types.h"

namespace rw::autograph_tool {

using clang::Stmt;
using llvm::dyn_cast;
using llvm::isa;

void Exits::add(const Exits& other) {
  breaks.insert(other.breaks.begin(), other.breaks.end());
  continues.insert(other.continues.begin(), other.continues.end());
  returns |= other.returns;
}

const Stmt* without_attributes(const Stmt* s) {
  while (const auto* a = llvm::dyn_cast_or_null<clang::AttributedStmt>(s)) s = a->getSubStmt();
  return s;
}

std::vector<const Stmt*> statements_of(const Stmt* body) {
  body = without_attributes(body);
  if (!body) return {};
  if (const auto* block = dyn_cast<clang::CompoundStmt>(body))
    return {block->body_begin(), block->body_end()};
  return {body};
}

const Stmt* body_of(const Stmt* loop) {
  if (const auto* s = dyn_cast<clang::WhileStmt>(loop)) return s->getBody();
  if (const auto* s = dyn_cast<clang::DoStmt>(loop)) return s->getBody();
  if (const auto* s = dyn_cast<clang::ForStmt>(loop)) return s->getBody();
  return llvm::cast<clang::CXXForRangeStmt>(loop)->getBody();
}
const clang::Expr* condition_of(const Stmt* loop) {
  if (const auto* s = dyn_cast<clang::WhileStmt>(loop)) return s->getCond();
  if (const auto* s = dyn_cast<clang::DoStmt>(loop)) return s->getCond();
  if (const auto* s = dyn_cast<clang::ForStmt>(loop)) return s->getCond();
  return nullptr;
}

void Plan::make() {
  size_t before;
  do {
    before = flagged_.size();
    staged_.clear(), moves_rest_.clear(), guards_.clear(), guarded_bodies_.clear(), loop_exits_.clear();
    switches_.clear(), regions_.clear(), refusals_.clear();
    read_ = {};
    return_slot_ = false;
    const std::vector<const Stmt*> all = statements_of(function_.body);
    return_slot_ = list(all, {}).returns;
  } while (flagged_.size() != before);
  for (const Range& operand : staged_operands(source_, conditions_, function_)) regions_.push_back(operand);
}

const Stmt* Plan::target(const Stmt* jump) const {
  const auto it = targets_.find(jump);
  return it == targets_.end() ? nullptr : it->second;
}

void Plan::read(const Exits& exits) { read_.add(exits); }
void Plan::refuse(const Stmt* s, std::string text) {
  refusals_.insert({source_.spot(s->getBeginLoc()), std::move(text)});
}

Range Plan::span(Statements list) const {
  const Range first = source_.statement(list.front()), last = source_.statement(list.back());
  if (!first.valid() || !last.valid() || first.file != last.file) return {};
  return {first.file, first.begin, last.end};
}

Range Plan::region(const Stmt* s, Statements rest) const {
  const auto from_to = [&](clang::SourceRange a, const Stmt* b) {
    const Range first = source_.range(a), last = source_.statement(b);
    return first.valid() && last.valid() ? Range{first.file, first.begin, last.end} : Range{};
  };
  if (const auto* i = dyn_cast<clang::IfStmt>(s))
    return from_to(i->getThen()->getSourceRange(), !rest.empty()  ? rest.back()
                                                   : i->getElse() ? i->getElse()
                                                                  : i->getThen());
  if (const auto* w = dyn_cast<clang::WhileStmt>(s))
    return from_to(w->getCond()->getSourceRange(), w->getBody());
  if (const auto* d = dyn_cast<clang::DoStmt>(s))
    return from_to(d->getBody()->getSourceRange(), d->getCond());
  if (const auto* f = dyn_cast<clang::ForStmt>(s)) {
    const Stmt* first = f->getCond() ? f->getCond() : f->getInc() ? f->getInc() : f->getBody();
    return from_to(first->getSourceRange(), f->getBody());
  }
  // Behind the `for`, so that the loop itself is not a part of it, and its flags are from outside.
  if (const auto* r = dyn_cast<clang::CXXForRangeStmt>(s))
    return from_to(r->getLoopVariable()->getSourceRange(), r->getBody());
  return from_to(s->getSourceRange(), s);
}

Exits Plan::list(Statements statements, const Context& context) {
  if (statements.empty()) return {};
  const Stmt* s = without_attributes(statements.front());
  const Statements rest = statements.subspan(1);
  const auto* branching = dyn_cast<clang::IfStmt>(s);
  Exits exits = branching ? branches(branching, rest, context) : statement(s, context);
  if (rest.empty() || moves_rest(s)) return exits;
  Exits behind;
  if (exits.any()) {
    guards_[s] = exits;
    read(exits);
    regions_.push_back(span(rest));
    if (!regions_.back().valid())
      refuse(rest.front(),
             "a macro begins or ends among the statements behind a jump under a tensor's condition; write "
             "them outside of the macro");
    behind = list(rest, context.deeper());
  } else {
    behind = list(rest, context);
  }
  exits.definite |= behind.definite;
  exits.add(behind);
  return exits;
}

// With what stands behind it in its block, which goes along if the first branch always jumps.
Exits Plan::branches(const clang::IfStmt* s, Statements rest, const Context& context) {
  const bool ordinary = !s->isConstexpr() && !s->isConsteval();
  const bool staged = ordinary && conditions_.staged(s->getCond());
  const Context inner = staged ? context.deeper() : context;
  Exits exits = statement(s->getThen(), inner);
  const bool scopes = s->getInit() || s->getConditionVariable();
  const bool moves = ordinary && !rest.empty() && !scopes && exits.definite && exits.any();
  if (moves) moves_rest_.insert(s);
  else rest = {};
  if (staged) {
    staged_.insert(s);
    regions_.push_back(region(s, rest));
  }
  Exits other;
  if (moves) {
    std::vector<const Stmt*> all;
    if (s->getElse()) all.push_back(s->getElse());
    all.insert(all.end(), rest.begin(), rest.end());
    other = list(all, inner);
  } else if (s->getElse()) {
    other = statement(s->getElse(), inner);
  }
  exits.definite &= other.definite;
  exits.add(other);
  return exits;
}

Exits Plan::jump(const Stmt* s, const Stmt* target, int depth, const Context& context) {
  Exits exits;
  exits.definite = true;
  targets_[s] = target;
  if (context.depth > depth && flagged_.insert(s).second) flagged_order_.push_back(s);
  if (!flagged_.count(s)) return exits;
  if (isa<clang::BreakStmt>(s)) exits.breaks.insert(target);
  else if (isa<clang::ContinueStmt>(s)) exits.continues.insert(target);
  else exits.returns = true;
  return exits;
}

Exits Plan::statement(const Stmt* s, const Context& context) {
  s = without_attributes(s);
  if (const auto* i = dyn_cast<clang::IfStmt>(s)) return branches(i, {}, context);
  if (isa<clang::CompoundStmt>(s)) {
    const std::vector<const Stmt*> all = statements_of(s);
    return list(all, context);
  }
  if (isa<clang::WhileStmt>(s) || isa<clang::DoStmt>(s) || isa<clang::ForStmt>(s) ||
      isa<clang::CXXForRangeStmt>(s))
    return loop(s, context);
  if (const auto* sw = dyn_cast<clang::SwitchStmt>(s)) return switched(sw, context);
  if (isa<clang::BreakStmt>(s)) return jump(s, context.break_target, context.break_depth, context);
  if (isa<clang::ContinueStmt>(s)) return jump(s, context.continue_target, context.continue_depth, context);
  if (isa<clang::ReturnStmt>(s)) return jump(s, nullptr, 0, context);
  if (const auto* t = dyn_cast<clang::CXXTryStmt>(s)) {
    Exits exits = statement(t->getTryBlock(), context);
    for (unsigned i = 0; i < t->getNumHandlers(); ++i)
      exits.add(statement(t->getHandler(i)->getHandlerBlock(), context));
    exits.definite = false;
    return exits;
  }
  if (const auto* l = dyn_cast<clang::LabelStmt>(s)) return statement(l->getSubStmt(), context);
  if (const auto* c = dyn_cast<clang::SwitchCase>(s)) return statement(c->getSubStmt(), context);
  return {};
}

// Whether the condition or the increment of a loop changes something from outside of it: a loop that is left
// by a flag must not go on doing that.
bool Plan::head_is_seen_behind(const Stmt* loop) const {
  const Range whole = source_.range(loop);
  const auto* counted = dyn_cast<clang::ForStmt>(loop);
  for (const clang::Expr* e : {condition_of(loop), counted ? counted->getInc() : nullptr}) {
    const Range r = e ? source_.range(e) : Range();
    if (!r.valid()) continue;
    for (const Change* c : facts_.changed_in(r))
      if (!whole.contains(c->place.declared)) return true;
  }
  return false;
}

Exits Plan::loop(const Stmt* s, const Context& context) {
  const auto* range = dyn_cast<clang::CXXForRangeStmt>(s);
  const clang::Expr* condition = condition_of(s);
  const bool endless = !range && always_true(condition);
  bool staged = range ? conditions_.staged_range(range) : conditions_.staged(condition);
  const auto body_context = [&](bool deeper) {
    Context c = context;
    c.break_target = c.continue_target = s;
    c.break_depth = c.continue_depth = context.depth;
    if (deeper) ++c.depth;
    return c;
  };
  const auto leaves = [&](const Exits& e) { return e.returns || e.breaks.count(s) > 0; };
  Exits exits = statement(body_of(s), body_context(staged));
  if (!staged && leaves(exits)) {
    staged = endless || head_is_seen_behind(s);
    exits = statement(body_of(s), body_context(true));  // under a guard, or staged
    if (!staged) {
      Exits own;
      own.returns = exits.returns;
      if (exits.breaks.count(s)) own.breaks.insert(s);
      guarded_bodies_[s] = own;
      read(own);
      const std::vector<const Stmt*> body{body_of(s)};
      regions_.push_back(span(body));
    }
  }
  if (staged) {
    staged_.insert(s);
    regions_.push_back(region(s, {}));
    Exits own;
    own.returns = exits.returns;
    if (exits.breaks.count(s)) own.breaks.insert(s);
    read(own);
    loop_exits_[s] = own;
  }
  if (const auto* w = dyn_cast<clang::WhileStmt>(s); w && staged && w->getConditionVariable())
    refuse(s,
           "a loop under a tensor's condition cannot declare a variable in it; declare it before the loop");
  if (const auto* f = dyn_cast<clang::ForStmt>(s); f && staged && f->getConditionVariable())
    refuse(s,
           "a loop under a tensor's condition cannot declare a variable in it; declare it before the loop");
  exits.breaks.erase(s);
  exits.continues.erase(s);
  exits.definite = false;
  return exits;
}

}  // namespace rw::autograph_tool
