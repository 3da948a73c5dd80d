// A file of the user's, rewritten.
#pragma once

#include <map>
#include <memory>

#include "conditions.h"
#include "edits.h"
#include "functions.h"
#include "headers.h"
#include "plan.h"
#include "promotion.h"

namespace rw::autograph_tool {

class Rewriter {
 public:
  explicit Rewriter(clang::ASTContext& context);

  // False, and messages of the compiler's kind, if something cannot be rewritten.
  bool run();
  // Behind run(): copies of the headers that change.
  std::vector<HeaderCopy> copy_headers(const Directives& directives, const std::string& folder);
  bool ok() const { return refusals_.empty(); }
  // Files that change.
  const std::map<clang::FileID, Edits>& edits() const { return edits_; }
  const Source& source() const { return source_; }
  const std::vector<Function>& functions() const { return functions_; }
  bool converted(size_t function) const { return converted_[function]; }

 private:
  void plan();
  bool report();
  std::set<std::string> identifiers() const;

  Source source_;
  Facts facts_;
  Conditions conditions_;
  std::vector<Function> functions_;
  Promotion promotion_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<bool> converted_;
  std::map<clang::FileID, Edits> edits_;
  std::set<Refusal> refusals_;
};

}  // namespace rw::autograph_tool
