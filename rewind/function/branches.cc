#include "rewind/function/branches.h"

namespace rw {

BranchRow row_of(const Op& op) {
  if (op.name.ends_with("If")) return BranchRow::kIf;
  return op.name.ends_with("Case") ? BranchRow::kCase : BranchRow::kCall;
}

std::vector<BodyRef> branches_of(const Op& op, const Attrs& attrs) {
  switch (row_of(op)) {
    case BranchRow::kIf:
      return {attr_as<BodyRef>(op, attrs, "then_branch"), attr_as<BodyRef>(op, attrs, "else_branch")};
    case BranchRow::kCase: return attr_as<std::vector<BodyRef>>(op, attrs, "branches");
    case BranchRow::kCall: return {attr_as<BodyRef>(op, attrs, "f")};
  }
  return {};
}

Attrs with_branches(const Op& op, const Attrs& attrs, const std::vector<BodyRef>& branches,
                    const std::vector<DType>& types) {
  const Attrs out = attrs.with("Tout", types);
  switch (row_of(op)) {
    case BranchRow::kIf: return out.with("then_branch", branches[0]).with("else_branch", branches[1]);
    case BranchRow::kCase: return out.with("branches", branches);
    case BranchRow::kCall: return out.with("f", branches[0]);
  }
  return out;
}

}  // namespace rw
