// Patterns in RE2's syntax as trees.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/regex/char_set.h"

namespace rw::regex {

enum class Kind : uint8_t {
  kEmpty,
  kNothing,
  kSet,
  kAnyByte,
  kAssertion,
  kGroup,
  kRepeat,
  kConcat,
  kAlternate
};

// What holds between two characters; sets of them are numbers.
enum Assertion : uint8_t {
  kBeginText = 1,
  kEndText = 2,
  kBeginLine = 4,
  kEndLine = 8,
  kWordBoundary = 16,
  kNoWordBoundary = 32,
};

struct Node {
  Kind kind = Kind::kEmpty;
  CharSet set;            // kSet
  uint8_t assertion = 0;  // kAssertion
  int group = 0;          // kGroup: its number; 0 where it only holds its part together
  int min = 0, max = -1;  // kRepeat; -1: no end
  bool greedy = true;
  int64_t repeats = 1;  // how often the counted repetitions in it, one in the other, repeat a part
  bool may_be_empty = true;
  std::vector<std::unique_ptr<Node>> parts;
};

struct Syntax {
  std::unique_ptr<Node> root;  // null: the pattern is none, for the reason `error`
  int groups = 0;
  std::string error;
};

Syntax parse(std::string_view pattern);

}  // namespace rw::regex
