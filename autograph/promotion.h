// Variables of the host's that staged code changes: which become rw::autograph::Local, and whether they can.
#pragma once

#include <clang/AST/ParentMapContext.h>

#include <memory>

#include "edits.h"
#include "functions.h"
#include "plan.h"

namespace rw::autograph_tool {

using Plans = std::vector<std::unique_ptr<Plan>>;

class Promotion {
 public:
  Promotion(const Source& source, const Facts& facts, Conditions& conditions,
            const std::vector<Function>& functions)
      : source_(source), facts_(facts), conditions_(conditions), functions_(functions) {}

  // Whether more variables had to be promoted.
  bool promote(const Plans& plans);
  // What cannot be.
  void check(const Plans& plans, std::set<Refusal>& refusals);
  // Their declarations, and conversions of what functions return.
  void write(std::map<clang::FileID, Edits>& edits) const;
  // Whether a conversion's operand is a Local, so that its result is to be one.
  bool converts_local(const clang::Expr* cast) const { return casts_.count(source_.range(cast)) > 0; }

 private:
  bool promote_changed(const Plans& plans);
  void check_changed(const Range& region, std::set<Refusal>& refusals) const;
  void check_references(const Range& region, std::set<Refusal>& refusals) const;
  bool promote(const clang::VarDecl* v);
  const clang::DeclStmt* shared_declaration(const clang::VarDecl* v) const;
  // Follows the value of a generated Local to where it goes; false at the first use that takes none.
  void follow(const clang::Expr* e, bool of_variable, bool& more, std::set<Refusal>* refusals);
  void refuse_use(const clang::Expr* e, const clang::Stmt* user, const std::string& use,
                  const std::string& cure, std::set<Refusal>* refusals) const;
  void write_declaration(const clang::VarDecl* v, Edits& edits) const;
  void split_declaration(const clang::DeclStmt* s, Edits& edits) const;
  bool promote_results(const Plans& plans);
  bool deduces_result(const Function& function) const;
  bool may_be_number(const Function& function, const clang::Expr* value) const;
  void write_returns(const Function& function, Edits& edits) const;
  std::string reason(Spot declared) const;  // "changes under the tensor's condition of line 3"

  const Source& source_;
  const Facts& facts_;
  Conditions& conditions_;
  const std::vector<Function>& functions_;
  std::map<Spot, const clang::VarDecl*> variables_;
  std::map<Spot, std::string> shares_;  // of a variable: the one in whose declaration it stands
  std::map<Spot, unsigned> lines_;      // of the region that changes a variable
  std::set<Range> casts_;
};

}  // namespace rw::autograph_tool
