#include "types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

namespace rw::autograph_tool {

using llvm::dyn_cast;

const clang::CXXRecordDecl* record_of(clang::QualType type) {
  if (type.isNull()) return nullptr;
  return type.getNonReferenceType().getCanonicalType()->getAsCXXRecordDecl();
}

static bool is_named(clang::QualType type, llvm::StringRef name) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record && record->getIdentifier() && name.ends_with(record->getName()) &&
         record->getQualifiedNameAsString() == name;
}

bool is_tensor(clang::QualType type) {
  return is_named(type, "rw::Tensor") || is_named(type, "rw::Variable");
}
bool is_tensor_array(clang::QualType type) { return is_named(type, "rw::TensorArray"); }

bool is_staged_range(clang::QualType type) {
  if (is_tensor(type) || is_tensor_array(type) || is_named(type, "rw::data::Dataset") ||
      is_named(type, "rw::data::DatasetOf"))
    return true;
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record || !record->hasDefinition()) return false;
  for (const auto& base : record->bases())
    if (is_named(base.getType(), "rw::data::Dataset") || is_named(base.getType(), "rw::data::DatasetOf"))
      return true;
  return false;
}

bool is_number(clang::QualType type) {
  return !type.isNull() && type.getNonReferenceType()->isArithmeticType() &&
         !type.getNonReferenceType()->isEnumeralType();
}

bool in_namespace(const clang::Decl* declaration, const char* name) {
  const clang::NamespaceDecl* outermost = nullptr;
  for (const clang::DeclContext* c = declaration->getDeclContext(); c; c = c->getParent())
    if (const auto* n = dyn_cast<clang::NamespaceDecl>(c)) outermost = n;
  return outermost && outermost->getName() == name;
}

bool is_library_object(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record) return false;
  if (in_namespace(record, "rw")) return true;
  if (!record->hasDefinition()) return false;
  for (const auto& base : record->bases())
    if (is_library_object(base.getType())) return true;
  return false;
}

std::string spelled(clang::QualType type, const clang::ASTContext& context) {
  if (type.isNull() || type->isDependentType() || type->getContainedDeducedType()) {
    if (type.isNull() || type->isDependentType()) return {};
    type = type.getCanonicalType();
    if (type->getContainedDeducedType()) return {};
  }
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.FullyQualifiedName = true;
  policy.SuppressTagKeyword = true;
  policy.SuppressInlineNamespace = true;
  policy.SuppressDefaultTemplateArgs = true;
  policy.Bool = true;
  std::string text = type.getCanonicalType().getAsString(policy);
  for (const char* nameless : {"(lambda", "(unnamed", "(anonymous", "()::"})
    if (text.find(nameless) != std::string::npos) return {};
  return text;
}

const clang::Expr* as_written(const clang::Expr* e) {
  while (e) {
    const clang::Expr* inner = e;
    if (const auto* c = dyn_cast<clang::ImplicitCastExpr>(e)) inner = c->getSubExpr();
    else if (const auto* c = dyn_cast<clang::FullExpr>(e)) inner = c->getSubExpr();
    else if (const auto* c = dyn_cast<clang::MaterializeTemporaryExpr>(e)) inner = c->getSubExpr();
    else if (const auto* c = dyn_cast<clang::CXXBindTemporaryExpr>(e)) inner = c->getSubExpr();
    else if (const auto* c = dyn_cast<clang::SubstNonTypeTemplateParmExpr>(e)) inner = c->getReplacement();
    else if (const auto* c = dyn_cast<clang::CXXMemberCallExpr>(e)) {
      const auto* to = llvm::dyn_cast_or_null<clang::CXXConversionDecl>(c->getMethodDecl());
      if (to && c->getImplicitObjectArgument()->getEndLoc() == c->getEndLoc())
        inner = c->getImplicitObjectArgument();
    } else if (const auto* c = dyn_cast<clang::CXXConstructExpr>(e)) {
      // A conversion by a constructor.
      if (c->getNumArgs() >= 1 && !llvm::isa<clang::CXXTemporaryObjectExpr>(c) &&
          !c->isListInitialization() && c->getParenOrBraceRange().isInvalid() &&
          c->getArg(0)->getSourceRange() == c->getSourceRange())
        inner = c->getArg(0);
    }
    if (inner == e) return e;
    e = inner;
  }
  return e;
}

const clang::Expr* stripped(const clang::Expr* e) {
  for (;;) {
    e = as_written(e);
    const auto* p = llvm::dyn_cast_or_null<clang::ParenExpr>(e);
    if (!p) return e;
    e = p->getSubExpr();
  }
}

const clang::Expr* converted(const clang::Expr* e) {
  if (const auto* cast = dyn_cast<clang::ExplicitCastExpr>(e)) return stripped(cast->getSubExprAsWritten());
  const auto* dependent = dyn_cast<clang::CXXUnresolvedConstructExpr>(e);
  return dependent && dependent->getNumArgs() == 1 ? stripped(dependent->getArg(0)) : nullptr;
}

bool always_true(const clang::Expr* condition) {
  if (!condition) return true;
  const clang::Expr* e = stripped(condition);
  if (const auto* b = dyn_cast<clang::CXXBoolLiteralExpr>(e)) return b->getValue();
  if (const auto* n = dyn_cast<clang::IntegerLiteral>(e)) return n->getValue() != 0;
  return false;
}

}  // namespace rw::autograph_tool
