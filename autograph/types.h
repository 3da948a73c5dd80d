// What the rewriter asks of types and expressions.
#pragma once

#include <clang/AST/Expr.h>
#include <clang/AST/Type.h>

#include <string>

namespace rw::autograph_tool {

// rw::Tensor or rw::Variable, behind references and const.
bool is_tensor(clang::QualType type);
bool is_tensor_array(clang::QualType type);
// A range of the graph's: tensors, tensor arrays, datasets.
bool is_staged_range(clang::QualType type);
// A number or bool of the host's.
bool is_number(clang::QualType type);
// Whether rw::autograph::Local can stand for it: no long double, no 128 bits, no complex number.
bool is_promotable_number(clang::QualType type);
// Whether tensors are among what the type's objects hold themselves, as elements and members; what pointers
// point to is not.
bool holds_tensors(clang::QualType type);
// Pointers, and the standard library's iterators and smart pointers: what they point to, or null.
clang::QualType pointee_of(clang::QualType type);
bool is_iterator(clang::QualType type);
// Lambdas, std::function and what holds such.
bool may_hold_callable(clang::QualType type);
// Streams and mutexes: there is nothing in them that could be put back.
bool has_no_value(clang::QualType type);
// The class, behind references and const, or nullptr.
const clang::CXXRecordDecl* record_of(clang::QualType type);
bool in_namespace(const clang::Decl* declaration, const char* name);  // at the outermost
bool in_library(const clang::Decl* declaration);                      // in Rewind's headers
// Modules and other objects of the library's, whose methods are effects of its own.
bool is_library_object(clang::QualType type);
// As it can be written anywhere in the file; empty if it cannot.
std::string spelled(clang::QualType type, const clang::ASTContext& context);

// Without what nobody wrote: conversions, temporaries. Parentheses stay.
const clang::Expr* as_written(const clang::Expr* e);
// Without parentheses too.
const clang::Expr* stripped(const clang::Expr* e);
// What an explicit conversion converts, or nullptr.
const clang::Expr* converted(const clang::Expr* e);
// A condition that is always true.
bool always_true(const clang::Expr* condition);

}  // namespace rw::autograph_tool
