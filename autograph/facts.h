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
  enum class Root {
    kVariable,
    kMember,
    kGlobal,
    kCopy,       // a lambda's copy of a variable
    kPointer,    // what a pointer points to
    kElsewhere,  // `text` says in words what it is
  };
  Root root = Root::kVariable;
  Spot declared;            // the variable, or the member of *this
  std::string text;         // what a state lists: the variable, as far as its members are named one by one
  clang::QualType type;     // of that
  clang::QualType changed;  // of what changes: an element of it, perhaps
  const clang::ValueDecl* variable = nullptr;
  bool whole = true;  // the variable itself, no member or element
  // Changes by a reference, which counts where that is declared inside of the code that is looked at: in
  // code around it the change is the reference's.
  std::optional<Spot> through;
  // Of what a lambda keeps, its body: kCopy is seen from inside of it, kElsewhere by who calls it.
  std::optional<Range> keeper;
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
  std::set<Range> numbers;        // operations whose results are numbers of the host's
  std::vector<Change> changes;
  // Of variables, members, parameters and results of functions, by declaration: the bodies of the lambdas
  // that they may be.
  std::map<Spot, std::set<Range>> lambdas;
  std::map<Range, Range> parameters;  // of lambdas, by body: where they are declared
  struct Use {
    Spot at, variable;
  };
  std::vector<Use> lambda_uses;
  struct Call {
    Spot at;
    Range body;
    bool own;  // of a method of *this
  };
  std::vector<Call> calls;
  std::map<Spot, std::set<std::string>> return_types;  // of functions with a deduced one, by body
  std::set<Spot> number_results;                       // those with tensors that return numbers, by body
  std::set<Spot>
      others_declared;  // variables that are no numbers, in an instantiation of a template at least
  bool is_number_throughout(Spot declared) const { return !others_declared.count(declared); }
  std::set<Range> typed_lambdas;     // bodies of lambdas that become std::function or a pointer to a function
  std::set<Range> assigned_selects;  // c ? a : b that are assigned to, or bound to references
  // c ? a : b that constant references are bound to: where such a name is known behind its declaration, and
  // the variables behind a and b.
  struct BoundSelect {
    std::string name;
    Range known;
    std::vector<Spot> behind;
  };
  std::map<Range, BoundSelect> bound_selects;
  std::map<Spot, std::vector<Spot>> uses;  // of variables
  // A reference to an element of a variable, or an iterator, and what moves elements.
  struct Reference {
    std::string name;
    Spot container;
  };
  std::map<Spot, Reference> references;
  struct Resize {
    Spot at, container;
    std::string method;
  };
  std::vector<Resize> resizes;

  // Local variables by name, and the blocks that they are in; for a name that stands for another one.
  struct Named {
    Spot declared;
    Range scope;
  };
  std::map<std::string, std::vector<Named>> locals;
  // Whether the name of what is declared somewhere means a local variable instead in a region.
  bool hidden(const std::string& name, const Spot& declared, const Range& region) const;

  // What the code in a region may change of what is declared outside of it, in order of declaration.
  std::vector<const Change*> changed_in(const Range& region) const;
  // What a state lists of them, each once.
  std::vector<std::string> names_changed_in(const Range& region) const;
  // Whether a change that a call makes is one of tensors; numbers and files are effects that a call may hide.
  bool changes_tensors(const Change& c) const { return changes_tensors(c, 0); }
  // Changes of members of *this that the body of a method makes, by other methods too.
  std::vector<const Change*> members_changed_in(const Range& body) const;

 private:
  bool is_parameter(const Range& body, Spot declared) const;
  bool changes_tensors(const Change& c, int depth) const;
  bool takes_effect(const Change& c, int depth) const;
  void collect(const Range& region, std::set<Range>& visited, std::vector<const Change*>& found) const;
  // Whether the body of a method changes members of *this, by other methods too.
  bool changes_members(const Range& body) const;
  bool changes_members(const Range& body, std::set<Range>& visited) const;
  void collect_members(const Range& body, std::set<Range>& visited, std::vector<const Change*>& found) const;
  void collect_globals(const Range& region, std::set<Range>& visited,
                       std::vector<const Change*>& found) const;
};

Facts collect_facts(const Source& source);

// The declarations that the user wrote.
std::vector<clang::Decl*> users_declarations(const Source& source);

}  // namespace rw::autograph_tool
