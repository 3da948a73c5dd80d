#include "types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

#include <map>
#include <set>

#include "source.h"

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

bool in_library(const clang::Decl* declaration) {
  if (!in_namespace(declaration, "rw")) return false;
  const clang::SourceManager& manager = declaration->getASTContext().getSourceManager();
  const clang::FileID file = manager.getFileID(manager.getFileLoc(declaration->getLocation()));
  // By file; a process reads one source.
  static auto* known = new std::map<clang::FileID, bool>;
  const auto found = known->find(file);
  if (found != known->end()) return found->second;
  return (*known)[file] = !is_users_file(manager, file);
}

bool is_library_object(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record) return false;
  if (in_library(record)) return true;
  if (!record->hasDefinition()) return false;
  for (const auto& base : record->bases())
    if (is_library_object(base.getType())) return true;
  return false;
}

bool is_promotable_number(clang::QualType type) {
  if (!is_number(type)) return false;
  const auto* builtin = type.getNonReferenceType().getCanonicalType()->getAs<clang::BuiltinType>();
  if (!builtin) return false;
  switch (builtin->getKind()) {
    case clang::BuiltinType::LongDouble:
    case clang::BuiltinType::Float128:
    case clang::BuiltinType::Float16:
    case clang::BuiltinType::BFloat16:
    case clang::BuiltinType::Int128:
    case clang::BuiltinType::UInt128: return false;
    default: return true;
  }
}

// Whether `test` holds for a type argument of a class template, or, where `fields`, for what its objects are
// made of.
template <class Test>
static bool any_part(const clang::CXXRecordDecl* record, bool fields, const Test& test) {
  if (const auto* made = dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
    for (const clang::TemplateArgument& a : made->getTemplateArgs().asArray()) {
      if (a.getKind() == clang::TemplateArgument::Type && test(a.getAsType())) return true;
      if (a.getKind() != clang::TemplateArgument::Pack) continue;
      for (const clang::TemplateArgument& one : a.pack_elements())
        if (one.getKind() == clang::TemplateArgument::Type && test(one.getAsType())) return true;
    }
  if (!fields || !record->hasDefinition()) return false;
  for (const auto& base : record->bases())
    if (test(base.getType())) return true;
  for (const clang::FieldDecl* f : record->fields())
    if (!f->getType()->isReferenceType() && test(f->getType())) return true;
  return false;
}

static bool holds_tensors(clang::QualType type, std::set<const clang::CXXRecordDecl*>& visited) {
  if (is_tensor_array(type) || is_named(type, "rw::Tensor")) return true;
  if (type.isNull()) return false;
  if (const auto* array = type.getCanonicalType()->getAsArrayTypeUnsafe())
    return holds_tensors(array->getElementType(), visited);
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record || in_library(record) || !visited.insert(record).second) return false;
  const bool std = in_namespace(record, "std") || in_namespace(record, "__gnu_cxx");
  if (std && (is_iterator(type) || !pointee_of(type).isNull())) return false;
  return any_part(record, !std, [&](clang::QualType part) { return holds_tensors(part, visited); });
}
bool holds_tensors(clang::QualType type) {
  std::set<const clang::CXXRecordDecl*> visited;
  return !type.isNull() && holds_tensors(type.getNonReferenceType(), visited);
}

// A type that a class or a base of it names so.
static clang::QualType member_type(const clang::CXXRecordDecl* record, llvm::StringRef name) {
  if (!record->hasDefinition()) return {};
  const clang::IdentifierInfo& word = record->getASTContext().Idents.get(name);
  for (const clang::NamedDecl* d : record->lookup(&word))
    if (const auto* t = dyn_cast<clang::TypedefNameDecl>(d)) return t->getUnderlyingType();
  for (const auto& base : record->bases())
    if (const clang::CXXRecordDecl* b = record_of(base.getType()))
      if (const clang::QualType found = member_type(b, name); !found.isNull()) return found;
  return {};
}
static bool is_librarys(const clang::CXXRecordDecl* record) {
  return record && (in_namespace(record, "std") || in_namespace(record, "__gnu_cxx"));
}
bool is_iterator(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return is_librarys(record) && !member_type(record, "iterator_category").isNull();
}
clang::QualType pointee_of(clang::QualType type) {
  if (type.isNull()) return {};
  type = type.getNonReferenceType();
  if (type->isPointerType()) return type->getPointeeType();
  const clang::CXXRecordDecl* record = record_of(type);
  if (!is_librarys(record)) return {};
  if (is_iterator(type)) {
    const clang::QualType reference = member_type(record, "reference");
    return reference.isNull() ? reference : reference.getNonReferenceType();
  }
  if (record->getIdentifier() && (record->getName() == "unique_ptr" || record->getName() == "shared_ptr"))
    return member_type(record, "element_type");
  return {};
}

static bool may_hold_callable(clang::QualType type, int depth) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record || depth > 4) return false;
  if (record->isLambda()) return true;
  if (!record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  if (in_library(record)) return name == "FunctionRef";
  if (!in_namespace(record, "std")) return false;
  if (name == "function" || name == "move_only_function" || name == "copyable_function") return true;
  return any_part(record, false, [&](clang::QualType part) { return may_hold_callable(part, depth + 1); });
}
bool may_hold_callable(clang::QualType type) { return may_hold_callable(type, 0); }

bool has_no_value(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (!record || !record->hasDefinition()) return false;
  if (in_namespace(record, "std") && record->getIdentifier()) {
    const llvm::StringRef name = record->getName();
    if (name == "ios_base" || name.ends_with("mutex") || name == "condition_variable") return true;
  }
  for (const auto& base : record->bases())
    if (has_no_value(base.getType())) return true;
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
