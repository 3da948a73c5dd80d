#include "promotion.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include "types.h"
#include "uses.h"

namespace rw::autograph_tool {

using llvm::dyn_cast;

bool Promotion::promote(const clang::VarDecl* v) {
  const Spot declared = source_.spot(v->getLocation());
  if (!conditions_.promote(declared)) return false;
  variables_[declared] = v;
  return true;
}

// A local variable of the host's that may become a Local, or nullptr.
static const clang::VarDecl* promotable(const Place& p) {
  const auto* v = llvm::dyn_cast_or_null<clang::VarDecl>(p.variable);
  if (!v || !p.whole || !is_number(p.changed) || v->getType()->isReferenceType()) return nullptr;
  if (llvm::isa<clang::ParmVarDecl>(v) || !v->isLocalVarDecl() || v->isStaticLocal() || v->isInitCapture())
    return nullptr;
  return p.root == Place::Root::kVariable || p.root == Place::Root::kCopy ? v : nullptr;
}

bool Promotion::promote_changed(const Plans& plans) {
  bool more = false;
  for (const auto& plan : plans)
    for (const Range& region : plan->regions()) {
      if (!region.valid()) continue;
      for (const Change* c : facts_.changed_in(region))
        if (const clang::VarDecl* v = promotable(c->place)) {
          more |= promote(v);
          lines_.try_emplace(source_.spot(v->getLocation()), source_.line(region.first()));
        }
    }
  return more;
}

bool Promotion::promote(const Plans& plans) {
  bool more = promote_changed(plans);
  for (bool again = true; again;) {
    again = false;
    for (const Value& v : find_values(source_, conditions_, functions_))
      follow(v.expression, v.of_variable, again, nullptr);
    more |= again;
  }
  return more;
}

std::string Promotion::reason(Spot declared) const {
  const auto line = lines_.find(declared);
  if (line == lines_.end()) return "takes a value that a tensor decides";
  return "changes under a tensor's condition (line " + std::to_string(line->second) + ")";
}

void Promotion::check_changed(const Range& region, std::set<Refusal>& refusals) const {
  for (const Change* c : facts_.changed_in(region)) {
    const Place& p = c->place;
    const std::string name = "'" + p.text + "'";
    const std::string under =
        " changes under a tensor's condition (line " + std::to_string(source_.line(region.first())) + ")";
    if (p.root == Place::Root::kPointer) {
      refusals.insert({c->at, "what the pointer " + name + " points to" + under +
                                  ", where it cannot be put back; use a variable or a reference"});
    } else if (p.changed->isPointerType()) {
      refusals.insert({c->at, "the pointer " + name + under +
                                  "; a graph has no pointers: select tensors with the condition instead"});
    } else if (p.root == Place::Root::kGlobal) {
      refusals.insert({c->at, "the global variable " + name + under +
                                  "; make it a rw::Variable, or pass it in and return it"});
    } else if (is_number(p.changed) && !promotable(p)) {
      std::string what = "the element or member " + name;
      std::string cure = "make it a rw::Tensor";
      if (llvm::isa_and_nonnull<clang::ParmVarDecl>(p.variable) && p.whole)
        what = "the parameter " + name, cure = "copy it into a local variable, or make it a rw::Tensor";
      else if (p.root == Place::Root::kMember)
        what = "the member " + name, cure = "make it a rw::Tensor or a rw::Variable";
      else if (p.whole && p.variable)
        what = "the variable " + name, cure = "declare it as a plain local variable, or make it a rw::Tensor";
      refusals.insert({c->at, what + " is the host's and" + under + "; " + cure});
    }
  }
}

void Promotion::check(const Plans& plans, std::set<Refusal>& refusals) {
  for (const auto& plan : plans)
    for (const Range& region : plan->regions())
      if (region.valid()) check_changed(region, refusals);
  bool more = false;
  for (const Value& v : find_values(source_, conditions_, functions_))
    follow(v.expression, v.of_variable, more, &refusals);
}

void Promotion::write_declaration(const clang::VarDecl* v, Edits& edits) const {
  const clang::TypeLoc type = v->getTypeSourceInfo()->getTypeLoc();
  const Range r = source_.range(type.getUnqualifiedLoc().getSourceRange());
  if (!r.valid()) return;
  if (v->getType()->getContainedDeducedType()) {
    if (v->getInit() && conditions_.local(v->getInit())) return;  // as it is
    edits.replace(
        r.begin, r.end,
        "rw::autograph::Local<" + spelled(v->getType().getUnqualifiedType(), source_.context()) + ">");
    return;
  }
  edits.open(r.begin, "rw::autograph::Local<");
  edits.close(r.end, ">");
}

// A function that says its type converts; one whose type is deduced returns Locals throughout.
void Promotion::write_returns(const Function& function, Edits& edits) const {
  const std::vector<const clang::ReturnStmt*> returns = returns_of(function.body);
  const clang::FunctionDecl* f = function.declaration;
  const bool deduced = f->getReturnType()->getContainedDeducedType() ||
                       (function.lambda && !function.lambda->hasExplicitResultType());
  bool any = false;
  for (const clang::ReturnStmt* r : returns) any |= r->getRetValue() && conditions_.local(r->getRetValue());
  if (!any) return;
  for (const clang::ReturnStmt* r : returns) {
    const clang::Expr* value = r->getRetValue();
    if (!value || !is_number(as_written(value)->getType())) continue;
    const bool local = conditions_.local(value);
    const Range range = source_.range(value);
    if (!range.valid() || local == deduced) continue;
    if (!deduced && !is_number(f->getReturnType())) continue;
    const std::string type =
        spelled((deduced ? as_written(value)->getType() : f->getReturnType()).getUnqualifiedType(),
                source_.context());
    edits.open(range.begin, deduced ? "rw::autograph::Local<" + type + ">(" : "static_cast<" + type + ">(");
    edits.close(range.end, ")");
  }
}

void Promotion::write(std::map<clang::FileID, Edits>& edits) const {
  std::set<Spot> groups;
  for (const auto& [declared, v] : variables_) {
    const Range type =
        source_.range(v->getTypeSourceInfo()->getTypeLoc().getUnqualifiedLoc().getSourceRange());
    if (!type.valid() || !groups.insert(type.first()).second) continue;
    write_declaration(v, edits[declared.file]);
  }
  for (const Function& f : functions_) write_returns(f, edits[f.range.file]);
}

}  // namespace rw::autograph_tool
