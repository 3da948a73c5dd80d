#include "functions.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include "facts.h"

namespace rw::autograph_tool {
namespace {

using llvm::dyn_cast;

class Finder : public clang::RecursiveASTVisitor<Finder> {
 public:
  Finder(const Source& source, std::vector<Function>& found) : source_(source), found_(found) {}
  static constexpr size_t kNone = size_t(-1);

  bool TraverseFunctionBody(const clang::FunctionDecl* f) {
    if (!f->doesThisDeclarationHaveABody()) return true;
    const size_t outer = std::exchange(outermost_, kNone);
    if (!kept_as_it_is(f) && !llvm::isa<clang::CXXConstructorDecl>(f) &&
        !llvm::isa<clang::CXXDestructorDecl>(f) && !f->isMain())
      add_bodies(f);
    if (!kept_as_it_is(f)) inside(f->getBody());
    if (const auto* made = dyn_cast<clang::CXXConstructorDecl>(f))
      for (const auto* init : made->inits())
        if (init->isWritten()) inside(init->getInit());
    outermost_ = outer;
    return true;
  }
  bool TraverseFunctionDecl(clang::FunctionDecl* f) { return TraverseFunctionBody(f); }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* f) { return TraverseFunctionBody(f); }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* f) { return TraverseFunctionBody(f); }
  bool TraverseCXXDestructorDecl(clang::CXXDestructorDecl* f) { return TraverseFunctionBody(f); }
  bool TraverseCXXConversionDecl(clang::CXXConversionDecl* f) { return TraverseFunctionBody(f); }

  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    for (unsigned i = 0; i < lambda->capture_size(); ++i)
      if (lambda->isInitCapture(lambda->capture_begin() + i)) TraverseStmt(lambda->capture_init_begin()[i]);
    const size_t outer = outermost_;
    if (!is_constexpr(lambda)) {
      add(lambda->getCallOperator(), written_body(lambda->getBody()), lambda);
      TraverseStmt(lambda->getBody());
    }
    outermost_ = outer;
    return true;
  }
  bool TraverseTypeLoc(clang::TypeLoc) { return true; }  // decltype
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }

 private:
  static bool kept_as_it_is(const clang::FunctionDecl* f) {
    if (f->isConstexpr() || f->isImplicit() || f->isDefaulted() || f->isDeleted()) return true;
    for (const clang::FunctionDecl* d : f->redecls())
      for (const auto* a : d->specific_attrs<clang::AnnotateAttr>())
        if (a->getAnnotation() == "rw::autograph::do_not_convert") return true;
    return false;
  }
  bool is_constexpr(const clang::LambdaExpr* lambda) const {
    for (const auto* a : lambda->getCallOperator()->specific_attrs<clang::AnnotateAttr>())
      if (a->getAnnotation() == "rw::autograph::do_not_convert") return true;
    const Range all = source_.range(lambda), body = source_.range(lambda->getBody());
    if (!all.valid() || !body.valid()) return true;
    const std::string_view head = source_.text({all.file, all.begin, body.begin});
    return head.find("constexpr") != head.npos || head.find("consteval") != head.npos;
  }
  void add_bodies(const clang::FunctionDecl* f) {
    const auto* all = dyn_cast<clang::CXXTryStmt>(f->getBody());  // of a function with a try for a body
    if (!all) return add(f, written_body(f->getBody()), nullptr);
    add(f, all->getTryBlock(), nullptr);
    for (unsigned i = 0; i < all->getNumHandlers(); ++i)
      add(f, dyn_cast<clang::CompoundStmt>(all->getHandler(i)->getHandlerBlock()), nullptr);
  }
  static const clang::CompoundStmt* written_body(const clang::Stmt* body) {
    if (const auto* coroutine = dyn_cast<clang::CoroutineBodyStmt>(body)) body = coroutine->getBody();
    return dyn_cast<clang::CompoundStmt>(body);
  }
  void inside(const clang::Stmt* s) {
    if (s) TraverseStmt(const_cast<clang::Stmt*>(s));
  }
  void add(const clang::FunctionDecl* f, const clang::CompoundStmt* body, const clang::LambdaExpr* lambda) {
    if (!body) return;
    const Range range = source_.range(body);
    if (!range.valid()) return;
    if (outermost_ == kNone) outermost_ = found_.size();
    for (const Function& other : found_)  // a macro's argument that stands twice
      if (other.range.file == range.file && other.range.begin == range.begin) return;
    found_.push_back({f, body, lambda, outermost_, range});
  }

  const Source& source_;
  std::vector<Function>& found_;
  size_t outermost_ = kNone;
};

}  // namespace

std::vector<Function> find_functions(const Source& source) {
  std::vector<Function> found;
  Finder finder(source, found);
  for (clang::Decl* d : users_declarations(source)) finder.TraverseDecl(d);
  return found;
}

}  // namespace rw::autograph_tool
