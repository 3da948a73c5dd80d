// What Clang knows of the user's code, by place in the file, so that what holds in an instantiation of a
// template is found again in the template: which expressions are tensors, and what statements change.
#pragma once

#include <clang/AST/DeclCXX.h>

#include <set>
#include <vector>

#include "source.h"

namespace rw::autograph_tool {

// Something that can be assigned to: a variable, or a member or element of one.
struct Place {
  enum class Root { kVariable, kMember, kGlobal, kCopy, kPointer };  // kCopy: a lambda's copy of a variable
  Root root = Root::kVariable;
  Spot declared;            // the variable, or the member of *this
  std::string text;         // what a state lists: the variable, as far as its members are named one by one
  clang::QualType type;     // of that
  clang::QualType changed;  // of what changes: an element of it, perhaps
  const clang::ValueDecl* variable = nullptr;
  bool whole = true;  // the variable itself, no member or element
};

struct Change {
  Spot at;
  Place place;
  std::optional<Range> method;    // by this method, if it changes a member
  std::optional<Spot> parameter;  // by a function, if that changes this parameter
};

struct Facts {
  std::set<Range> tensors;        // expressions of type Tensor or Variable
  std::set<Range> staged_ranges;  // of range-for
  std::set<Range> numbers;        // expressions that are numbers of the host's
  std::vector<Change> changes;
  std::map<Spot, Range> lambdas;      // of variables that are lambdas: their bodies
  std::map<Range, Range> parameters;  // of lambdas, by body: where they are declared
  struct Use {
    Spot at, variable;
  };
  std::vector<Use> lambda_uses;
  struct Call {
    Spot at;
    Range body;
  };
  std::vector<Call> own_calls;                         // of methods of *this
  std::map<Spot, std::set<std::string>> return_types;  // of functions with a deduced one, by body

  // What the code in a region may change of what is declared outside of it, in order of declaration.
  std::vector<const Change*> changed_in(const Range& region) const;
  // What a state lists of them, each once.
  std::vector<std::string> names_changed_in(const Range& region) const;

 private:
  bool is_parameter(const Range& body, Spot declared) const;
  void collect(const Range& region, std::set<Range>& visited, std::vector<const Change*>& found) const;
  bool changes_members(const Range& body, std::set<Range>& visited) const;
};

Facts collect_facts(const Source& source);

// The declarations that the user wrote.
std::vector<clang::Decl*> users_declarations(const Source& source);

}  // namespace rw::autograph_tool
