// How the statements of a function become constructs of rw::autograph: which of them are staged, which jumps
// become flags, and what stands under a test of them.
//
// A jump out of a staged construct is a flag. What stands behind a statement that may set one, in the same
// block, moves into the branch that does not jump, where the statement is an `if` one of whose branches
// always does, and stands under a guard otherwise. A host loop that may be left by a flag has its body under
// a guard.
#pragma once

#include <clang/AST/StmtCXX.h>

#include <span>

#include "conditions.h"
#include "functions.h"

namespace rw::autograph_tool {

using Statements = std::span<const clang::Stmt* const>;

// Flags that a statement may set.
struct Exits {
  std::set<const clang::Stmt*> breaks, continues;  // by loop, or switch
  bool returns = false;
  bool definite = false;  // it never comes to its end
  bool any() const { return returns || !breaks.empty() || !continues.empty(); }
  void add(const Exits& other);
};

struct SwitchGroup {
  std::vector<const clang::Expr*> cases;
  bool is_default = false;
  unsigned label_begin = 0, label_end = 0;  // in the file
  std::vector<const clang::Stmt*> statements;
  Exits before;  // flags that keep it from being reached
};
struct SwitchPlan {
  std::vector<SwitchGroup> groups;
  bool chain = false;  // as if and else
};

struct Refusal {
  Spot at;
  std::string text;
  bool operator<(const Refusal& o) const { return std::tie(at, text) < std::tie(o.at, o.text); }
};

class Plan {
 public:
  Plan(const Source& source, const Facts& facts, const Conditions& conditions, const Function& function)
      : source_(source), facts_(facts), conditions_(conditions), function_(function) {}

  // Made anew with what is known now; until nothing changes, for conditions become staged by promotions.
  void make();

  bool staged(const clang::Stmt* s) const { return staged_.count(s) > 0; }
  const std::set<const clang::Stmt*>& all_staged() const { return staged_; }
  bool flagged(const clang::Stmt* jump) const { return flagged_.count(jump) > 0; }
  bool moves_rest(const clang::Stmt* s) const { return moves_rest_.count(s) > 0; }
  const Exits* guard_after(const clang::Stmt* s) const { return find(guards_, s); }
  const Exits* guarded_body(const clang::Stmt* loop) const { return find(guarded_bodies_, loop); }
  const Exits* loop_exits(const clang::Stmt* loop) const { return find(loop_exits_, loop); }
  const SwitchPlan* switch_plan(const clang::Stmt* s) const { return find(switches_, s); }
  const clang::Stmt* target(const clang::Stmt* jump) const;
  bool break_is_read(const clang::Stmt* target) const { return read_.breaks.count(target) > 0; }
  bool continue_is_read(const clang::Stmt* loop) const { return read_.continues.count(loop) > 0; }
  bool has_return_slot() const { return return_slot_; }
  const std::vector<Range>& regions() const { return regions_; }
  const std::vector<const clang::Stmt*>& flagged_jumps() const { return flagged_order_; }
  const std::set<Refusal>& refusals() const { return refusals_; }
  bool empty() const { return staged_.empty(); }

  // What a construct runs more than once, or perhaps not at all.
  Range region(const clang::Stmt* construct, Statements rest) const;
  Range span(Statements list) const;

 private:
  struct Context {
    int depth = 0;  // generated constructs around
    const clang::Stmt* break_target = nullptr;
    const clang::Stmt* continue_target = nullptr;
    int break_depth = 0, continue_depth = 0;
    Context deeper() const {
      Context c = *this;
      ++c.depth;
      return c;
    }
  };
  template <class Map>
  static const typename Map::mapped_type* find(const Map& map, const clang::Stmt* s) {
    const auto it = map.find(s);
    return it == map.end() ? nullptr : &it->second;
  }
  Exits list(Statements statements, const Context& context);
  Exits statement(const clang::Stmt* s, const Context& context);
  Exits branches(const clang::IfStmt* s, Statements rest, const Context& context);
  Exits loop(const clang::Stmt* s, const Context& context);
  Exits switched(const clang::SwitchStmt* s, const Context& context);
  std::optional<SwitchPlan> groups_of(const clang::SwitchStmt* s);
  Exits jump(const clang::Stmt* s, const clang::Stmt* target, int depth, const Context& context);
  bool head_is_seen_behind(const clang::Stmt* loop) const;
  void read(const Exits& exits);
  void refuse(const clang::Stmt* s, std::string text);

  const Source& source_;
  const Facts& facts_;
  const Conditions& conditions_;
  const Function& function_;
  std::set<const clang::Stmt*> flagged_;
  std::vector<const clang::Stmt*> flagged_order_;
  std::map<const clang::Stmt*, const clang::Stmt*> targets_;
  std::set<const clang::Stmt*> staged_, moves_rest_;
  std::map<const clang::Stmt*, Exits> guards_, guarded_bodies_, loop_exits_;
  std::map<const clang::Stmt*, SwitchPlan> switches_;
  std::vector<Range> regions_;
  Exits read_;
  bool return_slot_ = false;
  std::set<Refusal> refusals_;
};

std::vector<const clang::Stmt*> statements_of(const clang::Stmt* body);
const clang::Stmt* without_attributes(const clang::Stmt* s);
const clang::Stmt* body_of(const clang::Stmt* loop);
const clang::Expr* condition_of(const clang::Stmt* loop);

}  // namespace rw::autograph_tool
