// Characters of encoded strings. What is no character of its encoding becomes the replacement, is left out or
// is an error; in UTF-8, each longest part that could have become one counts once.
#include <algorithm>
#include <cstring>
#include <optional>

#include "rewind/base/ascii.h"
#include "rewind/format/utf8.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/cpu/unicode_tables.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int32_t kBad = -1;
constexpr bool is_surrogate(uint32_t c) { return c >= 0xd800 && c < 0xe000; }
constexpr bool is_character(int64_t c) { return c >= 0 && c <= 0x10ffff && !is_surrogate(uint32_t(c)); }

using unicode::Read;
using unicode::read_utf8;
using Reader = Read (*)(std::string_view rest);

uint8_t byte(std::string_view s, size_t i) { return static_cast<uint8_t>(s[i]); }

template <bool kBig>
uint32_t unit16(std::string_view s, size_t at) {
  return kBig ? uint32_t(byte(s, at) << 8 | byte(s, at + 1)) : uint32_t(byte(s, at + 1) << 8 | byte(s, at));
}
template <bool kBig>
Read read_utf16(std::string_view s) {
  if (s.size() < 2) return {kBad, s.size()};
  const uint32_t first = unit16<kBig>(s, 0);
  if (!is_surrogate(first)) return {int32_t(first), 2};
  if (first >= 0xdc00) return {kBad, 2};
  if (s.size() < 4) return {kBad, s.size()};
  const uint32_t second = unit16<kBig>(s, 2);
  if (second < 0xdc00 || second > 0xdfff) return {kBad, 2};
  return {int32_t(0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff))), 4};
}
template <bool kBig>
Read read_utf32(std::string_view s) {
  if (s.size() < 4) return {kBad, s.size()};
  uint32_t code = 0;
  for (size_t k = 0; k < 4; ++k) code |= uint32_t(byte(s, k)) << 8 * (kBig ? 3 - k : k);
  return {is_character(code) ? int32_t(code) : kBad, 4};
}
Read read_ascii(std::string_view s) { return {byte(s, 0) < 0x80 ? byte(s, 0) : kBad, 1}; }
Read read_latin1(std::string_view s) { return {byte(s, 0), 1}; }

// Encodings by their names in any case, with or without hyphens and underscores.
Reader reader_of(KernelContext& ctx) {
  const std::string name = ctx.attr<std::string>("input_encoding");
  std::string plain;
  for (const char c : name)
    if (ascii::is_letter_or_digit(c)) plain += ascii::to_lower(c);
  struct Encoding {
    std::string_view name;
    Reader read;
  };
  static constexpr Encoding kEncodings[] = {
      {"utf8", read_utf8},           {"utf16be", read_utf16<true>},  {"utf16le", read_utf16<false>},
      {"utf32be", read_utf32<true>}, {"utf32le", read_utf32<false>}, {"usascii", read_ascii},
      {"ascii", read_ascii},         {"iso88591", read_latin1},      {"latin1", read_latin1}};
  for (const Encoding& e : kEncodings)
    if (e.name == plain) return e.read;
  ctx.fail("unknown input_encoding '" + name +
           "'; available: UTF-8, UTF-16-BE, UTF-16-LE, UTF-32-BE, UTF-32-LE, US-ASCII, ISO-8859-1");
}

// What happens to what is no character.
class Policy {
 public:
  explicit Policy(KernelContext& ctx, bool reads)
      : ctx_(ctx),
        strict_(ctx.attr<std::string>("errors") == "strict"),
        ignore_(ctx.attr<std::string>("errors") == "ignore"),
        controls_(reads && ctx.attr<bool>("replace_control_characters")),
        replacement_(ctx.attr<int64_t>("replacement_char")) {
    if (!is_character(replacement_))
      ctx.fail("replacement_char must be a Unicode character: got " + std::to_string(replacement_));
  }
  // The character to take, or none.
  std::optional<int32_t> of(int32_t code) const {
    if (code == kBad) {
      if (strict_) ctx_.fail("the string is not valid in its encoding");
    } else if (!controls_ || code > 0x1f) {
      return code;
    }
    if (ignore_) return std::nullopt;
    return int32_t(replacement_);
  }

 private:
  KernelContext& ctx_;
  bool strict_, ignore_, controls_;
  int64_t replacement_;
};

// Calls put(character, offset) for what stands in the string.
template <class Put>
void each_character(std::string_view text, Reader read, const Policy& policy, Put put) {
  for (size_t at = 0; at < text.size();) {
    const Read r = read(text.substr(at));
    if (const auto code = policy.of(r.code)) put(*code, at);
    at += r.bytes;
  }
}

void decode(KernelContext& ctx) {
  const Reader read = reader_of(ctx);
  const Policy policy(ctx, true);
  const View& in = ctx.in(0);
  const View& splits = ctx.out(0);
  std::vector<int32_t> codes;
  std::vector<int64_t> starts;
  const auto put_split = [&](int64_t i) {
    if (splits.dtype == DType::kInt64) splits.as<int64_t>()[i] = int64_t(codes.size());
    else if (codes.size() > INT32_MAX) ctx.fail("the splits do not fit int32: ask for Tsplits int64");
    else splits.as<int32_t>()[i] = int32_t(codes.size());
  };
  put_split(0);
  for (int64_t i = 0; i < in.size; ++i) {
    each_character(in.as<std::string>()[i], read, policy, [&](int32_t code, size_t at) {
      codes.push_back(code);
      starts.push_back(int64_t(at));
    });
    put_split(i + 1);
  }
  const auto count = int64_t(codes.size());
  std::copy(codes.begin(), codes.end(), ctx.allocate_output(1, {count}).as<int32_t>());
  if (ctx.num_outputs() > 2)
    std::copy(starts.begin(), starts.end(), ctx.allocate_output(2, {count}).as<int64_t>());
}

using Append = void (*)(std::string* to, uint32_t code);

void append_utf16(std::string* to, uint32_t code) {
  const auto unit = [&](uint32_t u) {
    to->push_back(char(u >> 8));
    to->push_back(char(u));
  };
  if (code < 0x10000) return unit(code);
  unit(0xd800 + ((code - 0x10000) >> 10));
  unit(0xdc00 + (code & 0x3ff));
}
void append_utf32(std::string* to, uint32_t code) {
  for (int shift = 24; shift >= 0; shift -= 8) to->push_back(char(code >> shift));
}
Append append_of(const KernelContext& ctx) {
  const std::string name = ctx.attr<std::string>("output_encoding");
  return name == "UTF-8" ? format::append_utf8 : name == "UTF-16-BE" ? append_utf16 : append_utf32;
}

void encode(KernelContext& ctx) {
  const Append append = append_of(ctx);
  const Policy policy(ctx, false);
  const View& values = ctx.in(0);
  const int64_t* splits = widened(ctx, ctx.in(1));
  const int64_t count = ctx.in(1).size;
  for (int64_t i = 0; i < count; ++i)
    if (splits[i] < (i == 0 ? 0 : splits[i - 1]) || splits[i] > values.size || (i == 0 && splits[0] != 0))
      ctx.fail("input_splits must rise from 0 to the number of characters, " + std::to_string(values.size) +
               ": " + place_of(ctx, 1, i) + " = " + std::to_string(splits[i]));
  if (splits[count - 1] != values.size)
    ctx.fail("input_splits must end with the number of characters, " + std::to_string(values.size) +
             ": got " + std::to_string(splits[count - 1]));
  for (int64_t i = 0; i + 1 < count; ++i)
    for (int64_t k = splits[i]; k < splits[i + 1]; ++k) {
      const int32_t code = values.as<int32_t>()[k];
      if (const auto taken = policy.of(is_character(code) ? code : kBad))
        append(&ctx.out(0).as<std::string>()[i], uint32_t(*taken));
    }
}

void transcode(KernelContext& ctx) {
  const Reader read = reader_of(ctx);
  const Append append = append_of(ctx);
  const Policy policy(ctx, true);
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    std::string* out = &ctx.out(0).as<std::string>()[i];
    each_character(ctx.in(0).as<std::string>()[i], read, policy,
                   [&](int32_t code, size_t) { append(out, uint32_t(code)); });
  }
}

void script(KernelContext& ctx) {
  for (int64_t i = 0; i < ctx.in(0).size; ++i)
    ctx.out(0).as<int32_t>()[i] = unicode::script_of(ctx.in(0).as<int32_t>()[i]);
}

// ---- bytes

// Elements of `size` bytes, each made of numbers of `width` bytes, in the machine's order from the other one.
void swap_bytes(char* data, size_t bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes; at += width) std::reverse(data + at, data + at + width);
}

size_t number_width(DType dtype) { return size_of(dtype) / (contains(kComplexTypes, dtype) ? 2 : 1); }

void decode_raw(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const DType type = ctx.attr<DType>("out_type");
  const size_t width = size_of(type);
  const size_t bytes = in.size > 0 ? in.as<std::string>()[0].size() : 0;
  for (int64_t i = 0; i < in.size; ++i)
    if (in.as<std::string>()[i].size() != bytes)
      ctx.fail("all strings must have one size: got " + std::to_string(bytes) + " and " +
               std::to_string(in.as<std::string>()[i].size()) + " bytes");
  if (bytes % width != 0)
    ctx.fail("a string of " + std::to_string(bytes) + " bytes holds no whole number of " +
             std::string(name_of(type)));
  Shape shape = *in.shape;
  shape.append(int64_t(bytes / width));
  char* out = ctx.allocate_output(0, std::move(shape)).as<char>();
  for (int64_t i = 0; i < in.size && bytes > 0; ++i)
    std::memcpy(out + size_t(i) * bytes, in.as<std::string>()[i].data(), bytes);
  if (type == DType::kBool)
    for (size_t i = 0; i < size_t(in.size) * bytes; ++i) out[i] = out[i] != 0;
  if (!ctx.attr<bool>("little_endian")) swap_bytes(out, size_t(in.size) * bytes, number_width(type));
}

void decode_padded_raw(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const DType type = ctx.attr<DType>("out_type");
  const auto bytes = size_t(*ctx.in(1).as<int32_t>());
  if (ctx.out(0).size == 0) return;
  char* out = ctx.out(0).as<char>();
  for (int64_t i = 0; i < in.size; ++i) {
    const std::string& s = in.as<std::string>()[i];
    const size_t taken = std::min(s.size(), bytes);
    std::memcpy(out + size_t(i) * bytes, s.data(), taken);
    std::memset(out + size_t(i) * bytes + taken, 0, bytes - taken);
  }
  if (!ctx.attr<bool>("little_endian")) swap_bytes(out, size_t(in.size) * bytes, number_width(type));
}

// ---- base64, in the alphabet that web addresses and file names can hold

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int digit_of(char c) {
  if (ascii::is_upper(c)) return c - 'A';
  if (ascii::is_lower(c)) return c - 'a' + 26;
  if (ascii::is_digit(c)) return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

void encode_base64(KernelContext& ctx) {
  const bool pad = ctx.attr<bool>("pad");
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    const std::string_view s = ctx.in(0).as<std::string>()[i];
    std::string& out = ctx.out(0).as<std::string>()[i];
    for (size_t at = 0; at < s.size(); at += 3) {
      const size_t n = std::min<size_t>(3, s.size() - at);
      uint32_t bits = 0;
      for (size_t k = 0; k < n; ++k) bits |= uint32_t(byte(s, at + k)) << (16 - 8 * k);
      for (size_t k = 0; k <= n; ++k) out += kDigits[bits >> (18 - 6 * k) & 63];
      if (pad) out.append(3 - n, '=');
    }
  }
}

void decode_base64(KernelContext& ctx) {
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    const std::string& whole = ctx.in(0).as<std::string>()[i];
    std::string_view s = whole;
    const size_t padding = s.size() % 4 == 0 ? (s.ends_with("==") ? 2u : s.ends_with("=") ? 1u : 0u) : 0u;
    s.remove_suffix(padding);
    bool ok = s.size() % 4 != 1;
    std::string& out = ctx.out(0).as<std::string>()[i];
    uint32_t bits = 0;
    int count = 0;
    for (const char c : s) {
      const int digit = digit_of(c);
      ok = ok && digit >= 0;
      bits = bits << 6 | uint32_t(digit & 63);
      if ((count += 6) >= 8) out += char(bits >> (count -= 8));
    }
    if (!ok) ctx.fail("'" + whole + "' is no base64 text of A-Z, a-z, 0-9, - and _");
  }
}

}  // namespace

void register_unicode_cpu_kernels() {
  register_kernel("UnicodeDecode", DeviceType::kCpu, decode);
  register_kernel("UnicodeDecodeWithOffsets", DeviceType::kCpu, decode);
  register_kernel("UnicodeEncode", DeviceType::kCpu, encode);
  register_kernel("UnicodeTranscode", DeviceType::kCpu, transcode);
  register_kernel("UnicodeScript", DeviceType::kCpu, script);
  register_kernel("DecodeRaw", DeviceType::kCpu, decode_raw);
  register_kernel("DecodePaddedRaw", DeviceType::kCpu, decode_padded_raw);
  register_kernel("EncodeBase64", DeviceType::kCpu, encode_base64);
  register_kernel("DecodeBase64", DeviceType::kCpu, decode_base64);
}

}  // namespace rw
