// Writes the constructs of a plan into the text of a function.
#pragma once

#include "edits.h"
#include "facts.h"
#include "plan.h"

namespace rw::autograph_tool {

// Names that no identifier of the file has: if1, if2, while1, ...
class Names {
 public:
  explicit Names(std::set<std::string> taken) : taken_(std::move(taken)) {}
  std::string numbered(const std::string& stem);
  std::string plain(const std::string& stem);  // without a number, if it is free

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> counts_;
};

class Writer {
 public:
  Writer(const Source& source, const Facts& facts, const Conditions& conditions, const Function& function,
         const Plan& plan, Names& names, Edits& edits)
      : source_(source),
        facts_(facts),
        conditions_(conditions),
        function_(function),
        plan_(plan),
        names_(names),
        edits_(edits) {}

  void write();

 private:
  using Stmt = clang::Stmt;
  void list(Statements statements);
  void statement(const Stmt* s);
  void branches(const clang::IfStmt* s, Statements rest);
  void while_loop(const clang::WhileStmt* s);
  void do_loop(const clang::DoStmt* s);
  void for_loop(const clang::ForStmt* s);
  void range_loop(const clang::CXXForRangeStmt* s);
  void switched(const clang::SwitchStmt* s);
  void write_switch(const clang::SwitchStmt* s, const SwitchPlan* plan);
  void jump(const Stmt* s);
  void returned(const clang::ReturnStmt* s);

  void guard_rest(const Exits& exits, Statements rest);
  void host_loop_body(const Stmt* loop);
  void increment_behind(const clang::ForStmt* s, const std::string& not_left);
  void return_slot();
  std::string return_type() const;
  // Braces around a statement that has none; a loop's flags inside and in front of it.
  void braces(const Stmt* body);
  std::string declare_break(const Stmt* target);
  void declare_continue(const Stmt* loop);
  // "!broke1", or all of them joined.
  std::string none_of(const Exits& exits) const;
  std::string condition_head(const Stmt* loop, const Exits& exits, std::string& tail) const;
  bool is_scratch(const Range& region, const std::string& name) const;
  // "rw::autograph::state(x, t), \"x, (t)\"" of what a region changes.
  std::string state(const Range& region, const Stmt* switch_of = nullptr) const;

  unsigned offset(clang::SourceLocation location) const { return source_.spot(location).offset; }
  Range statement_range(const Stmt* s) const { return source_.statement(s); }

  const Source& source_;
  const Facts& facts_;
  const Conditions& conditions_;
  const Function& function_;
  const Plan& plan_;
  Names& names_;
  Edits& edits_;
  std::map<const Stmt*, std::string> break_flags_, continue_flags_;
  std::map<const Stmt*, std::string> entered_flags_;
  std::string result_;
  bool in_staged_switch_ = false;
};

// What stands in front of and behind a condition that becomes an argument.
bool needs_parentheses(const clang::Expr* e);

}  // namespace rw::autograph_tool
