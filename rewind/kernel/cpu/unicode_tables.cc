#include "rewind/kernel/cpu/unicode_tables.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "rewind/format/utf8.h"

namespace rw::unicode {
namespace {

struct ScriptRun {
  int32_t first;
  int32_t script;
};
struct CaseRun {
  int32_t first, last, step, distance;
};
struct CaseText {
  int32_t code;
  int32_t to[3];  // zeros behind the end
};
struct CodeRange {
  int32_t first, last;
};

#include "rewind/kernel/cpu/unicode_tables.inc"

// The last entry that begins at or before the code; null: none.
template <class Entry, size_t kCount>
const Entry* entry_of(const Entry (&table)[kCount], int32_t code, int32_t Entry::* first) {
  const auto* it = std::upper_bound(std::begin(table), std::end(table), code,
                                    [&](int32_t c, const Entry& e) { return c < e.*first; });
  return it == std::begin(table) ? nullptr : it - 1;
}

template <size_t kCount>
bool in_ranges(const CodeRange (&table)[kCount], int32_t code) {
  const CodeRange* range = entry_of(table, code, &CodeRange::first);
  return range && code <= range->last;
}

std::vector<int32_t> characters_of(std::string_view text) {
  std::vector<int32_t> codes;
  for (size_t at = 0; at < text.size();) {
    const Read r = read_utf8(text.substr(at));
    codes.push_back(r.code < 0 ? 0xfffd : r.code);
    at += r.bytes;
  }
  return codes;
}

template <size_t kRuns, size_t kTexts>
void append_case(const CaseRun (&runs)[kRuns], const CaseText (&texts)[kTexts], int32_t code,
                 std::string* to) {
  if (const CaseText* t = entry_of(texts, code, &CaseText::code); t && t->code == code) {
    for (const int32_t c : t->to)
      if (c) format::append_utf8(to, uint32_t(c));
    return;
  }
  const CaseRun* run = entry_of(runs, code, &CaseRun::first);
  const bool changes = run && code <= run->last && (code - run->first) % run->step == 0;
  format::append_utf8(to, uint32_t(changes ? code + run->distance : code));
}

// Behind a letter with case and in front of none, where characters that stand in words do not count.
bool is_final(const std::vector<int32_t>& codes, size_t at) {
  const auto cased_from = [&](auto begin, auto end) {
    const auto it = std::find_if(begin, end, [](int32_t c) { return !in_ranges(kIgnorable, c); });
    return it != end && in_ranges(kCased, *it);
  };
  const auto place = std::ptrdiff_t(at);
  return cased_from(codes.rend() - place, codes.rend()) &&
         !cased_from(codes.begin() + place + 1, codes.end());
}

}  // namespace

Read read_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xc2 && first < 0xe0   ? 2
                        : first >> 4 == 14              ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 1;
  if (length == 1) return {-1, 1};
  // The second byte excludes overlong forms, surrogates and what lies behind the last character.
  const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  int32_t code = first & (0x7f >> length);
  for (size_t k = 1; k < length; ++k) {
    if (k >= text.size()) return {-1, k};
    const uint8_t next = byte(k);
    if (next < (k == 1 ? least : 0x80) || next > (k == 1 ? most : 0xbf)) return {-1, k};
    code = code << 6 | (next & 0x3f);
  }
  return {code, length};
}

int32_t script_of(int32_t code) {
  if (code < 0 || code > 0x10ffff) return -1;
  return entry_of(kScripts, code, &ScriptRun::first)->script;
}

std::string to_lower(const std::string& utf8) {
  const std::vector<int32_t> codes = characters_of(utf8);
  std::string out;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == 0x3a3) format::append_utf8(&out, is_final(codes, i) ? 0x3c2 : 0x3c3);
    else append_case(kLower, kLowerText, codes[i], &out);
  }
  return out;
}

std::string to_upper(const std::string& utf8) {
  std::string out;
  for (const int32_t code : characters_of(utf8)) append_case(kUpper, kUpperText, code, &out);
  return out;
}

}  // namespace rw::unicode
