// Generated code for people: whole functions, formatted, with their comments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "edits.h"
#include "functions.h"

namespace rw::autograph_tool {

class Printer {
 public:
  Printer(const Source& source, const std::vector<Function>& functions,
          const std::map<clang::FileID, Edits>& edits)
      : source_(source), functions_(functions), edits_(edits) {}

  // "sum_even", "Net::call"; of a lambda the variable that it is assigned to, or "".
  std::string name(const Function& f) const;
  // From the signature, or a lambda's variable, to the end of the body.
  std::string code(const Function& f) const;

 private:
  Range whole(const Function& f) const;
  const Source& source_;
  const std::vector<Function>& functions_;
  const std::map<clang::FileID, Edits>& edits_;
};

// Calls of rw::autograph::to_code become the code of their argument, a function or a lambda of the user's
// files, or what rw::function made of one.
void write_code_texts(const Source& source, const std::vector<Function>& functions,
                      std::map<clang::FileID, Edits>& edits);

}  // namespace rw::autograph_tool
