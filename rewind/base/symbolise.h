// File, line and function of addresses in this process. Debug information is read by llvm-symbolizer or
// addr2line, run as a program of their own; REWIND_SYMBOLIZER names another one, or "none". Without any,
// names come from the dynamic linker, where it knows them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rw {

// Of the innermost frame that is not in the library or the standard library: "model.cc:42, in
// step(rw::Tensor)". Kept, so asking again is cheap. Any thread.
std::string symbolise(std::span<const uintptr_t> frames);

// Looks up all of these with one run of the tool, which takes as long as one of them; symbolise() then has
// them.
void symbolise_ahead(std::span<const uintptr_t> addresses);

// Whether a function or the file it is written in belongs to the library or to C++ itself.
bool is_library_frame(const std::string& function, const std::string& file);

}  // namespace rw
