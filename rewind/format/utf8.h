// Unicode as bytes: a code point takes one to four.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rw::format {

void append_utf8(std::string* to, uint32_t code_point);
// Whether these bytes are UTF-8 without overlong forms and surrogates.
bool is_utf8(std::string_view bytes);

}  // namespace rw::format
