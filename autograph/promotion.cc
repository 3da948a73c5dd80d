#include "promotion.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

#include "places.h"
#include "types.h"
#include "uses.h"

namespace rw::autograph_tool {

using llvm::dyn_cast;

// Whether a declaration stands in the head of a for or an if, where there can be only one.
static bool in_head(const Source& source, const clang::DeclStmt* s) {
  const auto above = source.context().getParentMapContext().getParents(*s);
  return !above.empty() && (above[0].get<clang::ForStmt>() || above[0].get<clang::IfStmt>() ||
                            above[0].get<clang::SwitchStmt>() || above[0].get<clang::CXXForRangeStmt>());
}
// The declaration of a variable, if it declares others too.
const clang::DeclStmt* Promotion::shared_declaration(const clang::VarDecl* v) const {
  const auto above = source_.context().getParentMapContext().getParents(*v);
  const auto* s = above.empty() ? nullptr : above[0].get<clang::DeclStmt>();
  return s && !s->isSingleDecl() ? s : nullptr;
}

bool Promotion::promote(const clang::VarDecl* v) {
  const Spot declared = source_.spot(v->getLocation());
  if (!conditions_.promote(declared)) return false;
  variables_[declared] = v;
  // `for (int i = 0, n = 9; ...)` has one type for both.
  const clang::DeclStmt* together = shared_declaration(v);
  if (together && in_head(source_, together))
    for (const clang::Decl* d : together->decls())
      if (const auto* other = dyn_cast<clang::VarDecl>(d); other && other != v) {
        shares_.try_emplace(source_.spot(other->getLocation()), v->getNameAsString());
        promote(other);
      }
  return true;
}

// A local variable of the host's that may become a Local, or nullptr.
static const clang::VarDecl* promotable(const Place& p) {
  const auto* v = llvm::dyn_cast_or_null<clang::VarDecl>(p.variable);
  if (!v || !p.whole || !is_promotable_number(p.changed) || v->getType()->isReferenceType()) return nullptr;
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
        if (const clang::VarDecl* v = promotable(c->place);
            v && facts_.is_number_throughout(source_.spot(v->getLocation()))) {
          more |= promote(v);
          lines_.try_emplace(source_.spot(v->getLocation()), source_.line(region.first()));
        }
    }
  return more;
}

bool Promotion::promote(const Plans& plans) {
  bool more = promote_changed(plans);
  more |= promote_results(plans);
  for (bool again = true; again;) {
    again = false;
    for (const Value& v : find_values(source_, conditions_, functions_)) {
      again |= conditions_.note_local(v.expression);
      follow(v.expression, v.of_variable, again, nullptr);
    }
    more |= again;
  }
  return more;
}

// Whether the type of what a function returns follows from its returns, so that it may become a Local's.
bool Promotion::deduces_result(const Function& function) const {
  if (facts_.typed_lambdas.count(function.range)) return false;
  return function.declaration->getReturnType()->getContainedDeducedType() ||
         (function.lambda && !function.lambda->hasExplicitResultType());
}
// In a template: in an instantiation.
bool Promotion::may_be_number(const Function& function, const clang::Expr* value) const {
  value = as_written(value);
  return value->isTypeDependent() ? facts_.number_results.count(function.range.first()) > 0
                                  : is_promotable_number(value->getType());
}
// Of functions some of whose returns are Locals, or stand under a tensor's condition.
bool Promotion::promote_results(const Plans& plans) {
  bool more = false;
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function& f = functions_[i];
    if (!deduces_result(f)) continue;
    for (const clang::ReturnStmt* r : returns_of(f.body))
      if (r->getRetValue() && may_be_number(f, r->getRetValue()) &&
          (plans[i]->has_return_slot() || conditions_.local(r->getRetValue())))
        more |= conditions_.promote_result(f.range.first());
  }
  return more;
}

std::string Promotion::reason(Spot declared) const {
  if (const auto other = shares_.find(declared); other != shares_.end() && !lines_.count(declared))
    return "is declared together with '" + other->second + "', which a tensor decides";
  const auto line = lines_.find(declared);
  if (line == lines_.end()) return "takes a value that a tensor decides";
  return "changes under a tensor's condition (line " + std::to_string(line->second) + ")";
}

// Whether a name of one function's can stand in a state there.
static bool in_scope(const Source& source, const clang::ValueDecl* v, const Range& region) {
  const auto* local = llvm::dyn_cast_or_null<clang::VarDecl>(v);
  if (!local || !(local->isLocalVarDeclOrParm() || local->isInitCapture())) return true;
  const auto* f = llvm::dyn_cast_or_null<clang::FunctionDecl>(local->getParentFunctionOrMethod());
  if (!f) return true;
  const clang::FunctionDecl* defined = visible_definition(source, f);
  const Range all = source.range((defined ? defined : f)->getSourceRange());
  return !all.valid() || all.contains(region);
}

void Promotion::check_changed(const Range& region, std::set<Refusal>& refusals) const {
  for (const Change* c : facts_.changed_in(region)) {
    const Place& p = c->place;
    const std::string name = "'" + p.text + "'";
    const std::string under =
        " changes under a tensor's condition (line " + std::to_string(source_.line(region.first())) + ")";
    if (p.root == Place::Root::kPointer) {
      if (facts_.changes_tensors(*c))
        refusals.insert({c->at, "what the pointer " + name + " points to" + under +
                                    ", where it cannot be put back; use a variable or a reference"});
    } else if (p.root == Place::Root::kElsewhere) {
      refusals.insert(
          {c->at, p.text + under + ", where it cannot be put back; use a variable of this function"});
    } else if (p.whole && (p.changed->isPointerType() || !pointee_of(p.changed).isNull())) {
      refusals.insert({c->at, (is_iterator(p.changed) ? "the iterator " : "the pointer ") + name + under +
                                  "; a graph has none: select tensors with the condition instead"});
    } else if (p.root == Place::Root::kGlobal) {
      if ((c->method || c->parameter) && !facts_.changes_tensors(*c)) continue;
      refusals.insert({c->at, "the global variable " + name + under +
                                  "; make it a rw::Variable, or pass it in and return it"});
    } else if (!in_scope(source_, p.variable, region)) {
      refusals.insert(
          {c->at, name + " of another function" + under +
                      ", by a lambda that is called there, and cannot be put back; return its new "
                      "value from the lambda"});
    } else if (p.root != Place::Root::kMember && p.variable &&
               facts_.hidden(p.text, source_.spot(p.variable->getLocation()), region)) {
      refusals.insert({c->at, name + " (line " + std::to_string(source_.line(p.declared)) + ")" + under +
                                  ", where its name means another variable; rename one of them"});
    } else if (const clang::CXXRecordDecl* record = record_of(p.type);
               record && record->hasDefinition() && record->isPolymorphic() && (c->method || c->parameter)) {
      if (facts_.changes_tensors(*c))
        refusals.insert(
            {c->at, "a tensor in the object " + name + under +
                        ", where it cannot be put back; keep it in a rw::Variable, or return it"});
    } else if (is_number(p.changed) && !promotable(p) &&
               !(p.whole && p.variable && !facts_.is_number_throughout(p.declared))) {
      std::string what = "the element or member " + name;
      std::string cure = "make it a rw::Tensor";
      if (p.whole && p.variable && !is_promotable_number(p.changed))
        what = "the variable " + name, cure = "there are no tensors of its type: make it a double or int64_t";
      else if (llvm::isa_and_nonnull<clang::ParmVarDecl>(p.variable) && p.whole)
        what = "the parameter " + name, cure = "copy it into a local variable, or make it a rw::Tensor";
      else if (p.root == Place::Root::kMember)
        what = "the member " + name, cure = "make it a rw::Tensor or a rw::Variable";
      else if (p.whole && p.variable)
        what = "the variable " + name, cure = "declare it as a plain local variable, or make it a rw::Tensor";
      refusals.insert({c->at, what + " is the host's and" + under + "; " + cure});
    }
  }
  check_references(region, refusals);
}

// References to elements, and iterators, that what a region does to their container leaves behind.
void Promotion::check_references(const Range& region, std::set<Refusal>& refusals) const {
  for (const Facts::Resize& resize : facts_.resizes) {
    if (!region.contains(resize.at)) continue;
    for (const auto& [declared, reference] : facts_.references) {
      if (!(reference.container == resize.container) || region.contains(declared)) continue;
      const auto uses = facts_.uses.find(declared);
      if (uses == facts_.uses.end()) continue;
      if (std::none_of(uses->second.begin(), uses->second.end(),
                       [&](const Spot& at) { return at.file == region.file && at.offset >= region.begin; }))
        continue;
      refusals.insert({resize.at, resize.method + " moves the elements under a tensor's condition (line " +
                                      std::to_string(source_.line(region.first())) + "), and '" +
                                      reference.name + "' (line " + std::to_string(source_.line(declared)) +
                                      ") refers to one; take the element by its index instead, or copy it"});
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
  const bool deduced = deduces_result(function);
  bool any = conditions_.result_promoted(function.range.first());
  for (const clang::ReturnStmt* r : returns) any |= r->getRetValue() && conditions_.local(r->getRetValue());
  if (!any) return;
  for (const clang::ReturnStmt* r : returns) {
    const clang::Expr* value = r->getRetValue();
    if (!value || !may_be_number(function, value)) continue;
    const Range range = source_.range(value);
    if (as_written(value)->isTypeDependent()) {
      if (!range.valid() || !deduced) continue;
      edits.open(range.begin, "rw::autograph::promoted(");
      edits.close(range.end, ")");
      continue;
    }
    const bool local = conditions_.local(value);
    if (!range.valid() || local == deduced) continue;
    if (!deduced && !is_number(f->getReturnType())) continue;
    const std::string type =
        spelled((deduced ? as_written(value)->getType() : f->getReturnType()).getUnqualifiedType(),
                source_.context());
    edits.open(range.begin, deduced ? "rw::autograph::Local<" + type + ">(" : "static_cast<" + type + ">(");
    edits.close(range.end, ")");
  }
}

// `int a = 1, b = 2;` of which not all become Locals: `int a = 1; rw::autograph::Local<int> b = 2;`.
void Promotion::split_declaration(const clang::DeclStmt* s, Edits& edits) const {
  const clang::VarDecl* before = nullptr;
  for (const clang::Decl* d : s->decls()) {
    const auto* v = dyn_cast<clang::VarDecl>(d);
    if (!v) return;
    const Range type =
        source_.range(v->getTypeSourceInfo()->getTypeLoc().getUnqualifiedLoc().getSourceRange());
    const bool local = conditions_.promoted(v);
    if (!before) {
      if (local) write_declaration(v, edits);
    } else {
      const Range written = source_.range(before->getSourceRange()), all = source_.range(s);
      if (!written.valid() || !all.valid() || !type.valid()) return;
      const unsigned comma = source_.next_token(all.file, written.end);
      const std::string specifiers(source_.text({all.file, all.begin, type.begin}));
      const std::string name(source_.text(type));
      edits.replace(comma, comma + 1,
                    "; " + on_one_line(specifiers + (local ? "rw::autograph::Local<" + name + ">" : name)));
    }
    before = v;
  }
}

void Promotion::write(std::map<clang::FileID, Edits>& edits) const {
  std::set<Spot> done;
  for (const auto& [declared, v] : variables_) {
    const Range type =
        source_.range(v->getTypeSourceInfo()->getTypeLoc().getUnqualifiedLoc().getSourceRange());
    if (!type.valid() || !done.insert(type.first()).second) continue;
    const clang::DeclStmt* together = shared_declaration(v);
    const bool all_alike =
        !together || in_head(source_, together) ||
        std::all_of(together->decl_begin(), together->decl_end(), [&](const clang::Decl* d) {
          const auto* other = dyn_cast<clang::VarDecl>(d);
          return other && conditions_.promoted(other);
        });
    if (all_alike) write_declaration(v, edits[declared.file]);
    else split_declaration(together, edits[declared.file]);
  }
  for (const Function& f : functions_) write_returns(f, edits[f.range.file]);
}

}  // namespace rw::autograph_tool
