#include "tags.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <set>

#include "facts.h"

namespace rw::autograph_tool {

using clang::Decl;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;

namespace {

constexpr const char* kTag = "[[gnu::abi_tag(\"autograph\")]] ";

// The function, variable or member that a lambda belongs to for the linker, or the function itself.
const Decl* owner_of(const clang::FunctionDecl* f) {
  for (;;) {
    const auto* method = dyn_cast<clang::CXXMethodDecl>(f);
    if (!method || !(method->getParent()->isLambda() || method->getParent()->isLocalClass())) return f;
    const clang::CXXRecordDecl* record = method->getParent();
    if (record->isLambda())
      if (const Decl* context = record->getLambdaContextDecl()) return context;
    const clang::DeclContext* around = record->getDeclContext();
    while (around && !llvm::isa<clang::FunctionDecl>(around)) around = around->getParent();
    if (!around) return nullptr;
    f = llvm::cast<clang::FunctionDecl>(around);
  }
}

// One declaration for all of an entity and its instantiations.
const Decl* key_of(const Decl* d) {
  if (const auto* f = dyn_cast_or_null<clang::FunctionDecl>(d)) {
    if (const clang::FunctionDecl* pattern = f->getTemplateInstantiationPattern()) f = pattern;
    return f->getCanonicalDecl();
  }
  if (const auto* v = dyn_cast_or_null<clang::VarDecl>(d)) {
    if (const clang::VarDecl* pattern = v->getTemplateInstantiationPattern()) v = pattern;
    return v->getCanonicalDecl();
  }
  if (const auto* r = dyn_cast_or_null<clang::CXXRecordDecl>(d)) {
    if (const clang::CXXRecordDecl* pattern = r->getTemplateInstantiationPattern()) r = pattern;
    return r->getCanonicalDecl();
  }
  return nullptr;
}

// Which functions, variables and classes of the user's name which others.
class Naming : public clang::RecursiveASTVisitor<Naming> {
 public:
  explicit Naming(const Source& source) : source_(source) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool TraverseDecl(Decl* d) {
    const Decl* outer = owner_;
    const bool inside = owner_ && !llvm::isa<clang::CXXRecordDecl>(owner_);
    if (!inside && (llvm::isa_and_nonnull<clang::FunctionDecl, clang::VarDecl, clang::CXXRecordDecl>(d)))
      owner_ = key_of(d);
    const bool more = RecursiveASTVisitor::TraverseDecl(d);
    owner_ = outer;
    return more;
  }
  bool VisitCXXRecordDecl(clang::CXXRecordDecl* record) {
    if (!record->isThisDeclarationADefinition()) return true;
    for (const auto& base : record->bases()) name(base.getType()->getAsCXXRecordDecl());
    for (const auto* field : record->fields())
      name(field->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl());
    return true;
  }
  bool VisitExpr(clang::Expr* e) {
    if (!e->getType().isNull()) name(e->getType(), 0);
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    name_entity(e->getDecl());
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* e) {
    name_entity(e->getMemberDecl());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* e) {
    name_entity(e->getConstructor());
    return true;
  }

  // By what is named.
  const std::map<const Decl*, std::set<const Decl*>>& users() const { return users_; }

 private:
  void name(const Decl* d) {
    const Decl* key = key_of(d);
    if (key && owner_ && key != owner_ && source_.users(key->getLocation())) users_[key].insert(owner_);
  }
  void name_entity(const clang::ValueDecl* d) {
    if (const auto* f = dyn_cast<clang::FunctionDecl>(d)) {
      name(owner_of(f));
      if (const auto* arguments = f->getTemplateSpecializationArgs())
        for (const auto& a : arguments->asArray()) name(a, 0);
      if (const auto* method = dyn_cast<clang::CXXMethodDecl>(f))
        name(source_.context().getRecordType(method->getParent()), 0);
    } else if (const auto* v = dyn_cast<clang::VarDecl>(d); v && !v->isLocalVarDeclOrParm()) {
      name(v);
    }
  }
  void name(clang::QualType type, int depth) {
    if (depth > 8) return;
    for (;;) {
      type = type.getNonReferenceType();
      if (type->isAnyPointerType()) type = type->getPointeeType();
      else if (type->isArrayType()) type = type->getAsArrayTypeUnsafe()->getElementType();
      else break;
    }
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (!record) return;
    name(record);
    if (const auto* made = dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
      for (const auto& a : made->getTemplateArgs().asArray()) name(a, depth + 1);
  }
  void name(const clang::TemplateArgument& a, int depth) {
    if (a.getKind() == clang::TemplateArgument::Type) name(a.getAsType(), depth);
    else if (a.getKind() == clang::TemplateArgument::Pack)
      for (const auto& part : a.pack_elements()) name(part, depth);
    else if (a.getKind() == clang::TemplateArgument::Declaration) name_entity(a.getAsDecl());
  }

  const Source& source_;
  const Decl* owner_ = nullptr;
  std::map<const Decl*, std::set<const Decl*>> users_;
};

class Tagger {
 public:
  Tagger(const Source& source, std::map<clang::FileID, Edits>& edits) : source_(source), edits_(edits) {}

  // What is declared here, in every file that has the header.
  void add(const Decl* d) {
    if (!d || source_.manager().isInMainFile(source_.manager().getFileLoc(d->getLocation()))) return;
    if (const auto* f = dyn_cast<clang::FunctionDecl>(d)) function(f);
    else if (const auto* v = dyn_cast<clang::VarDecl>(d)) variable(v);
    else if (const auto* r = dyn_cast<clang::CXXRecordDecl>(d)) record(r);
    else if (const auto* around = dyn_cast<clang::CXXRecordDecl>(d->getDeclContext())) record(around);
  }
  // And what names it, through and through.
  void add_users() {
    if (tagged_.empty()) return;
    Naming naming(source_);
    for (Decl* d : users_declarations(source_)) naming.TraverseDecl(d);
    while (!tagged_.empty()) {
      const Decl* d = tagged_.back();
      tagged_.pop_back();
      const auto found = naming.users().find(d);
      if (found == naming.users().end()) continue;
      for (const Decl* user : found->second) add(user);
    }
  }

 private:
  bool has_a_table_elsewhere(const clang::CXXRecordDecl* r) const {
    return r->hasDefinition() && r->isDynamicClass() && !r->isDependentType() &&
           source_.context().getCurrentKeyFunction(r);
  }
  void function(const clang::FunctionDecl* f) {
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(f); method && method->isVirtual())
      if (!has_a_table_elsewhere(method->getParent())) return record(method->getParent());
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(f); method && method->isImplicit()) return;
    bool in_many_files = f->isTemplated();
    for (const clang::FunctionDecl* d : f->redecls()) in_many_files |= d->isInlined();
    if (!in_many_files || !f->isExternallyVisible() || f->isExternC()) return;
    tag(f, f->getFirstDecl()->getInnerLocStart());
    // What templates of others make of an object, std::function say, calls its operators. Which of a
    // template's are converted differs from file to file, so its classes keep their names.
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(f);
        method && method->isOverloadedOperator() && !method->isStatic() && !f->isTemplated())
      record(method->getParent());
  }
  void variable(const clang::VarDecl* v) {
    const bool in_many_files = v->isInline() || v->isTemplated();
    if (in_many_files && v->isExternallyVisible()) tag(v, v->getFirstDecl()->getInnerLocStart());
  }
  void record(const clang::CXXRecordDecl* record) {
    if (!record->isExternallyVisible() || has_a_table_elsewhere(record)) return;
    for (const clang::TagDecl* d : record->redecls())
      tag(record, d->getQualifierLoc() ? d->getQualifierLoc().getBeginLoc() : d->getLocation());
  }
  void tag(const Decl* d, clang::SourceLocation at) {
    if (!source_.users(at)) return;
    const Spot spot = source_.spot(at);
    if (!done_.insert(spot).second) return;
    edits_[spot.file].open(spot.offset, kTag);
    tagged_.push_back(key_of(d));
  }

  const Source& source_;
  std::map<clang::FileID, Edits>& edits_;
  std::set<Spot> done_;
  std::vector<const Decl*> tagged_;  // whose users are to be found
};

}  // namespace

void tag_functions(const Source& source, const std::vector<Function>& functions,
                   const std::vector<bool>& converted, std::map<clang::FileID, Edits>& edits) {
  Tagger tagger(source, edits);
  for (size_t i = 0; i < functions.size(); ++i)
    if (converted[i] && functions[i].range.file != source.manager().getMainFileID())
      tagger.add(owner_of(functions[i].declaration));
  tagger.add_users();
}

}  // namespace rw::autograph_tool
