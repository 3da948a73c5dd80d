// What is known of Unicode's characters: scripts, and cases by the rules of the Unicode standard, without any
// language's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rw::unicode {

// ICU's number of the character's script; -1 where there is no such character.
int32_t script_of(int32_t code);
// Of UTF-8; what is not becomes U+FFFD.
std::string to_lower(const std::string& utf8);
std::string to_upper(const std::string& utf8);

// The next character of UTF-8: its code, or -1 where there is none, and how many bytes it takes. The text
// must not be empty. Of what is no character, the longest part that could have become one counts as one.
struct Read {
  int32_t code;
  size_t bytes;
};
Read read_utf8(std::string_view text);

}  // namespace rw::unicode
