// Headers of the user's whose functions change: they are copied, and the includes of them name the copies. So
// are the headers that include such ones.
#pragma once

#include <clang/Lex/PPCallbacks.h>

#include <memory>
#include <set>

#include "edits.h"
#include "plan.h"

namespace rw::autograph_tool {

// An #include.
struct Directive {
  Spot name;  // what is included, in its quotes
  unsigned name_end = 0;
  const clang::FileEntry* target = nullptr;
  std::string path;
  bool quoted = false;
};
using Directives = std::vector<Directive>;
// Notes all of them.
std::unique_ptr<clang::PPCallbacks> collect_directives(const clang::SourceManager& manager,
                                                       Directives& found);

struct HeaderCopy {
  std::string output, text;
};
// Adds the includes of copies to the edits, and gives the copies, which will lie in a folder. A header that
// the compiler itself is told to include, as a precompiled one is, cannot be copied: those are refused.
std::vector<HeaderCopy> copy_headers(const Source& source, const Directives& directives,
                                     const std::string& folder, std::map<clang::FileID, Edits>& edits,
                                     std::set<Refusal>& refusals);

// "#line 1" of a file.
std::string line_directive(const std::string& file);

}  // namespace rw::autograph_tool
