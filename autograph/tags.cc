#include "tags.h"

#include <clang/AST/DeclTemplate.h>

#include <set>

namespace rw::autograph_tool {

using llvm::dyn_cast;
using llvm::dyn_cast_or_null;

namespace {

constexpr const char* kTag = "[[gnu::abi_tag(\"autograph\")]] ";

// The function, variable or member that a lambda belongs to for the linker, or the function itself.
const clang::Decl* owner_of(const clang::FunctionDecl* f) {
  for (;;) {
    const auto* method = dyn_cast<clang::CXXMethodDecl>(f);
    if (!method || !(method->getParent()->isLambda() || method->getParent()->isLocalClass())) return f;
    const clang::CXXRecordDecl* record = method->getParent();
    if (record->isLambda())
      if (const clang::Decl* context = record->getLambdaContextDecl()) return context;
    const clang::DeclContext* around = record->getDeclContext();
    while (around && !llvm::isa<clang::FunctionDecl>(around)) around = around->getParent();
    if (!around) return nullptr;
    f = llvm::cast<clang::FunctionDecl>(around);
  }
}

class Tagger {
 public:
  Tagger(const Source& source, std::map<clang::FileID, Edits>& edits) : source_(source), edits_(edits) {}

  void function(const clang::FunctionDecl* f) {
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(f); method && method->isVirtual())
      if (!source_.context().getCurrentKeyFunction(method->getParent())) return record(method->getParent());
    const clang::FunctionDecl* first = f->getFirstDecl();
    const bool in_many_files =
        f->isInlined() || first->isInlined() || f->isTemplated() || first->isTemplated();
    if (in_many_files && f->isExternallyVisible() && !f->isExternC()) tag(first->getInnerLocStart());
  }
  void variable(const clang::VarDecl* v) {
    const bool in_many_files = v->isInline() || v->isTemplated();
    if (in_many_files && v->isExternallyVisible()) tag(v->getFirstDecl()->getInnerLocStart());
  }
  void record(const clang::CXXRecordDecl* record) {
    if (!record->isExternallyVisible()) return;
    for (const clang::TagDecl* d : record->redecls())
      tag(d->getQualifierLoc() ? d->getQualifierLoc().getBeginLoc() : d->getLocation());
  }

 private:
  void tag(clang::SourceLocation at) {
    if (!source_.users(at)) return;
    const Spot spot = source_.spot(at);
    if (done_.insert(spot).second) edits_[spot.file].open(spot.offset, kTag);
  }

  const Source& source_;
  std::map<clang::FileID, Edits>& edits_;
  std::set<Spot> done_;
};

}  // namespace

void tag_functions(const Source& source, const std::vector<Function>& functions,
                   const std::vector<bool>& converted, std::map<clang::FileID, Edits>& edits) {
  Tagger tagger(source, edits);
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!converted[i] || functions[i].range.file == source.manager().getMainFileID()) continue;
    const clang::Decl* owner = owner_of(functions[i].declaration);
    if (const auto* f = dyn_cast_or_null<clang::FunctionDecl>(owner)) tagger.function(f);
    else if (const auto* v = dyn_cast_or_null<clang::VarDecl>(owner)) tagger.variable(v);
    else if (owner)
      if (const auto* record = dyn_cast<clang::CXXRecordDecl>(owner->getDeclContext())) tagger.record(record);
  }
}

}  // namespace rw::autograph_tool
