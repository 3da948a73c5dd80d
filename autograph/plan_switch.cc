#include "plan.h"
#include "types.h"

namespace rw::autograph_tool {

using clang::Stmt;
using llvm::dyn_cast;
using llvm::isa;

// What a switch decides by: the tensor under the explicit conversion to an integer.
static const clang::Expr* switch_value(const clang::SwitchStmt* s) {
  const clang::Expr* e = stripped(s->getCond());
  while (const clang::Expr* inner = converted(e)) e = inner;
  return e;
}

std::optional<SwitchPlan> Plan::groups_of(const clang::SwitchStmt* s) {
  SwitchPlan plan;
  const auto* body = dyn_cast<clang::CompoundStmt>(s->getBody());
  if (!body) return {};
  for (const Stmt* child : body->body()) {
    const Stmt* c = child;
    bool labelled = false;
    while (const auto* label = llvm::dyn_cast_or_null<clang::SwitchCase>(c)) {
      if (!labelled) {
        plan.groups.emplace_back();
        plan.groups.back().label_begin = source_.spot(label->getKeywordLoc()).offset;
      }
      labelled = true;
      SwitchGroup& group = plan.groups.back();
      if (const auto* k = dyn_cast<clang::CaseStmt>(label)) {
        if (k->getRHS()) return {};
        group.cases.push_back(k->getLHS());
      } else {
        group.is_default = true;
      }
      group.label_end = source_.spot(label->getColonLoc()).offset + 1;
      c = label->getSubStmt();
    }
    if (plan.groups.empty()) return {};
    if (c) plan.groups.back().statements.push_back(c);
  }
  return plan;
}

Exits Plan::switched(const clang::SwitchStmt* s, const Context& context) {
  const bool staged = conditions_.staged(s->getCond()) || conditions_.staged(switch_value(s));
  Context inner = context;
  inner.break_target = s;
  inner.break_depth = context.depth;
  if (!staged) {
    // The host's, unless it is left under a flag.
    const Exits exits = statement(s->getBody(), inner);
    if (!exits.any()) return {};
  }
  std::optional<SwitchPlan> plan = groups_of(s);
  if (!plan) {
    refuse(s, "a switch under a tensor's condition takes plain cases at the top of its block");
    return {};
  }
  if (s->getConditionVariable())
    refuse(
        s,
        "a switch under a tensor's condition cannot declare a variable in it; declare it before the switch");
  staged_.insert(s);
  ++inner.depth;
  Exits all;
  bool chain = true, definite = true, has_default = false;
  for (size_t i = 0; i < plan->groups.size(); ++i) {
    SwitchGroup& group = plan->groups[i];
    group.before = all;
    const bool last = i + 1 == plan->groups.size();
    Exits exits;
    if (!group.statements.empty()) {
      regions_.push_back(span(group.statements));
      exits = list(group.statements, inner);
    }
    chain &= last || exits.definite;
    chain &= last || !group.is_default;
    has_default |= group.is_default;
    definite &= exits.definite && !exits.breaks.count(s);
    if (!last)
      for (const Stmt* inside : group.statements)
        if (isa<clang::DeclStmt>(inside))
          refuse(inside,
                 "a variable of a switch under a tensor's condition needs a block of its own: put braces "
                 "around the case");
    all.add(exits);
  }
  plan->chain = chain;
  if (!chain)
    for (const SwitchGroup& group : plan->groups) read(group.before);
  switches_[s] = std::move(*plan);
  all.breaks.erase(s);
  all.definite = definite && has_default;
  return all;
}

}  // namespace rw::autograph_tool
