// Sets of characters: of classes, of names, and with the other cases of their members.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rw::regex {

inline constexpr uint32_t kLastCode = 0x10ffff;

struct CodeRange {
  uint32_t first, last;
};

class CharSet {
 public:
  CharSet() = default;
  CharSet(uint32_t first, uint32_t last) { add(first, last); }

  void add(uint32_t first, uint32_t last);
  void add(const CharSet& other);
  void negate();
  // The other cases of all members too.
  void add_cases();
  // In order, with gaps between them.
  const std::vector<CodeRange>& ranges() const;

 private:
  mutable std::vector<CodeRange> ranges_;  // put in order when they are asked for
  mutable bool in_order_ = true;
};

// Categories ("Lu", "L", "Any") and scripts ("Greek") of Unicode. False: there is no such name.
bool unicode_set(std::string_view name, CharSet* set);
// "alpha", "digit", ... of ASCII, as in [[:alpha:]].
bool posix_set(std::string_view name, CharSet* set);
// Of \d, \s and \w.
CharSet perl_set(char letter);

}  // namespace rw::regex
