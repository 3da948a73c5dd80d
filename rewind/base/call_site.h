// Where the user's code asked for something: return addresses from the stack, cheap to take. File and line
// are looked up only when somebody reads an error's text, by the debugger's tools where the machine has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewind/base/error.h"

namespace rw {

class CallSite {
 public:
  explicit CallSite(std::vector<uintptr_t> frames) : frames_(std::move(frames)) {}
  // From here out to the frame that holds the address `stack_end`, or a fixed number of frames.
  static CallSite here(const void* stack_end = nullptr);
  // "model.cc:42, in train_step(rw::Tensor)" for the innermost frame that is not the library's; only the
  // function where the program has no debug information; empty where nothing is known. Slow the first time.
  std::string describe() const;
  const std::vector<uintptr_t>& frames() const { return frames_; }

 private:
  std::vector<uintptr_t> frames_;
};

using CallSiteRef = std::shared_ptr<const CallSite>;

// Each place once: thousands of ops come from the same line of a loop.
class CallSites {
 public:
  CallSiteRef here(const void* stack_end);

 private:
  std::unordered_multimap<uint64_t, CallSiteRef> by_hash_;
};

// A line of an error's text: "made at model.cc:42, in ...".
struct ErrorPlace {
  const char* relation;
  CallSiteRef site;
};
// Throws an error of the same class whose text goes on with the places; those without a site are left out. An
// error that has places already is thrown as it is.
[[noreturn]] void throw_with_places(const Error& error, std::vector<ErrorPlace> places);

}  // namespace rw
