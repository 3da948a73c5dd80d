// Patterns as programs over bytes: what runs is the program, as threads (threads.cc) or as an automaton
// (dfa.h).
#pragma once

#include <cstdint>
#include <vector>

#include "rewind/base/ascii.h"
#include "rewind/base/regex/syntax.h"

namespace rw::regex {

struct ByteRange {
  uint8_t first, last;
  int32_t next;
};

struct Instruction {
  enum Op : uint8_t { kBytes, kFork, kAssert, kMark, kMatch, kFail };
  Op op = kFail;
  uint8_t assertion = 0;     // kAssert
  int32_t next = -1;         // kFork: the one that is preferred
  int32_t other = -1;        // kFork
  int32_t from = 0, to = 0;  // kBytes: its ranges; kMark: `from` is the number of the mark
};

struct Program {
  std::vector<Instruction> code;
  std::vector<ByteRange> ranges;
  int32_t start = 0;
  int32_t start_anywhere = 0;  // behind any bytes, as few as can be
  bool has_assertions = false;
  // Bytes that no instruction tells apart have one class.
  uint8_t class_of[256] = {};
  int classes = 0;
};

// Of \b and \w.
constexpr bool is_word(unsigned char c) { return ascii::is_letter_or_digit(char(c)) || c == '_'; }

// Instructions that a pattern may take, about as RE2 limits them.
inline constexpr size_t kMostInstructions = 100'000;

// backwards: matches what the pattern matches, from its last byte to its first, and marks no groups. False:
// the pattern is too large.
bool compile(const Node& root, bool backwards, Program* program);

}  // namespace rw::regex
