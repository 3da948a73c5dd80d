// GPT-2's rule for pieces, by hand. In the notation of regular expressions, first that fits:
//   's 't 're 've 'm 'll 'd
//   an optional space and letters | ... and numbers | ... and signs (neither letter, number nor white space)
//   white space up to the end, or up to one before something else | white space
#include <algorithm>
#include <iterator>

#include "rewind/data/byte_pair.h"

namespace rw::data {
namespace {

struct Range {
  uint32_t first, last;
};
#include "rewind/data/unicode_classes.inc"

template <size_t N>
bool inside(const Range (&ranges)[N], uint32_t c) {
  const Range* it = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                     [](uint32_t value, const Range& r) { return value < r.first; });
  return it != std::begin(ranges) && c <= it[-1].last;
}

enum class Kind { kLetter, kNumber, kSpace, kSign };

Kind kind_of(uint32_t c) {
  if (c < 128) {
    if ((c | 32) >= 'a' && (c | 32) <= 'z') return Kind::kLetter;
    if (c >= '0' && c <= '9') return Kind::kNumber;
    return c == ' ' || (c >= 9 && c <= 13) ? Kind::kSpace : Kind::kSign;
  }
  if (c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
      c == 0x202f || c == 0x205f || c == 0x3000)
    return Kind::kSpace;
  return inside(kLetters, c) ? Kind::kLetter : inside(kNumbers, c) ? Kind::kNumber : Kind::kSign;
}

struct Char {
  Kind kind;
  size_t end;  // where the next begins
};

// A byte that is no UTF-8 is a sign of its own.
Char char_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return uint32_t(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(at);
  const int more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : -1;
  if (more < 0 || at + size_t(more) >= text.size()) return {more == 0 ? kind_of(first) : Kind::kSign, at + 1};
  uint32_t c = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 1; i <= more; ++i) {
    const uint32_t next = byte(at + size_t(i));
    if (next >> 6 != 2) return {Kind::kSign, at + 1};
    c = c << 6 | (next & 0x3f);
  }
  return {kind_of(c), at + 1 + size_t(more)};
}

size_t contraction_at(std::string_view text, size_t at) {
  for (const std::string_view s : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(at, s.size()) == s) return s.size();
  return 0;
}

}  // namespace

std::vector<std::string_view> split_gpt2(std::string_view text) {
  std::vector<std::string_view> pieces;
  size_t at = 0;
  auto cut = [&](size_t end) {
    pieces.push_back(text.substr(at, end - at));
    at = end;
  };
  while (at < text.size()) {
    if (const size_t n = contraction_at(text, at)) {
      cut(at + n);
      continue;
    }
    Char here = char_at(text, at);
    const bool space = text[at] == ' ' && here.end < text.size();
    const Char word = space ? char_at(text, here.end) : here;
    if (word.kind != Kind::kSpace) {
      size_t end = word.end;
      while (end < text.size()) {
        const Char next = char_at(text, end);
        if (next.kind != word.kind) break;
        end = next.end;
      }
      cut(end);
      continue;
    }
    size_t last = at;  // where the last white space begins
    size_t end = here.end;
    while (end < text.size()) {
      const Char next = char_at(text, end);
      if (next.kind != Kind::kSpace) break;
      last = end;
      end = next.end;
    }
    cut(end == text.size() || last == at ? end : last);
  }
  return pieces;
}

}  // namespace rw::data
