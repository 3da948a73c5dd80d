#include "rewind/format/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/utf8.h"

namespace rw::format {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxNpyHeader = uint64_t{1} << 20;  // a shape of 254 sizes takes five kilobytes

// The Python literal of a header.
class Literal {
 public:
  Literal(const ByteSource& bytes, std::string_view text, uint64_t begin)
      : bytes_(bytes), text_(text), begin_(begin) {}

  [[noreturn]] void fail(const std::string& what) const {
    bytes_.fail(begin_ + at_, "the header of an array: " + what);
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  std::string string() {
    space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string without an end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    if (value.find('\\') != std::string::npos) fail("a string with escapes");
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("expected True or False");
  }
  int64_t number() {
    space();
    int64_t n = 0;
    const size_t first = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[at_] - '0', &n))
        fail("a size beyond int64");
    if (at_ == first) fail("expected a number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // of Python 2
    return n;
  }
  bool at_list() {
    space();
    return at_ < text_.size() && text_[at_] == '[';
  }
  bool at_end() {
    space();
    return at_ == text_.size();
  }

 private:
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  const ByteSource& bytes_;
  std::string_view text_;
  uint64_t begin_;
  size_t at_ = 0;
};

struct NumberType {
  std::string_view text;  // without the order of bytes
  DType dtype;
};
constexpr NumberType kNumberTypes[] = {
    {"b1", DType::kBool},      {"i1", DType::kInt8},        {"i2", DType::kInt16},   {"i4", DType::kInt32},
    {"i8", DType::kInt64},     {"u1", DType::kUint8},       {"u2", DType::kUint16},  {"u4", DType::kUint32},
    {"u8", DType::kUint64},    {"f2", DType::kFloat16},     {"f4", DType::kFloat32}, {"f8", DType::kFloat64},
    {"c8", DType::kComplex64}, {"c16", DType::kComplex128}, {"V2", DType::kBfloat16}};

void set_type(const ByteSource& bytes, const Literal& at, const std::string& descr, NpyHeader* h) {
  std::string_view text = descr;
  const char order = text.empty() ? '\0' : text[0];
  if (order == '<' || order == '>' || order == '|' || order == '=') text.remove_prefix(1);
  const std::string_view digits = text.substr(std::min<size_t>(1, text.size()));
  uint64_t count = 0;
  for (const char c : digits)
    if (c < '0' || c > '9' || (count = 10 * count + uint64_t(c - '0')) > (uint64_t{1} << 31))
      at.fail("unknown type '" + descr + "'");
  h->kind = text.empty() ? '\0' : text[0];
  h->item = count;
  if (h->kind == 'S' || h->kind == 'a' || h->kind == 'U') {
    h->dtype = DType::kString;
    if (h->kind == 'U') h->item *= 4, h->swapped = order == '>' ? 4 : 0;
    return;
  }
  for (const NumberType& type : kNumberTypes)
    if (type.text == text) h->dtype = type.dtype;
  if (h->dtype == DType::kInvalid)
    bytes.refuse("an array of numpy type '" + descr + "' is not read" +
                 (h->kind == 'O' ? ": pickled objects run code" : ""));
  if (order == '>') h->swapped = h->kind == 'c' ? count / 2 : count;
}

template <class Copy>
void from_fortran(const Shape& shape, const Copy& copy) {
  const int rank = shape.rank();
  std::vector<int64_t> index(size_t(rank), 0), strides(size_t(rank), 1);
  for (int i = rank - 2; i >= 0; --i) strides[size_t(i)] = strides[size_t(i) + 1] * shape[i + 1];
  const int64_t count = shape.num_elements();
  for (int64_t from = 0, to = 0; from < count; ++from) {
    copy(from, to);
    for (int i = 0; i < rank; ++i) {
      const auto axis = size_t(i);
      to += strides[axis];
      if (++index[axis] < shape[i]) break;
      to -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

void swap_bytes(char* data, uint64_t size, uint64_t each) {
  if (each < 2) return;
  for (uint64_t i = 0; i + each <= size; i += each) std::reverse(data + i, data + i + each);
}

std::string header_with(const std::string& descr, const Shape& shape) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  text += shape.rank() == 1 ? ",), }" : "), }";
  const bool is_long = text.size() + 64 > 0xffff;
  const uint64_t front = kNpyMagic.size() + 2 + (is_long ? 4 : 2);
  text.resize((front + text.size() + 1 + 63) / 64 * 64 - front, ' ');
  text.back() = '\n';
  std::string out(kNpyMagic);
  out += char(is_long ? 2 : 1);
  out += '\0';
  if (is_long) put_fixed<uint32_t>(out, uint32_t(text.size()));
  else put_fixed<uint16_t>(out, uint16_t(text.size()));
  return out + text;
}

}  // namespace

NpyHeader read_npy_header(const ByteSource& bytes) {
  const std::string front = bytes.read(0, 8);
  if (std::string_view(front).substr(0, 6) != kNpyMagic)
    bytes.fail(0, "it is no array of numpy: the magic is missing");
  const int major = front[6];
  if (major < 1 || major > 3) bytes.fail(6, "unknown version " + std::to_string(major));
  const uint64_t wide = major == 1 ? 2 : 4;
  const std::string number = bytes.read(8, wide);
  const uint64_t length = wide == 2 ? get_fixed<uint16_t>(number.data()) : get_fixed<uint32_t>(number.data());
  if (length > kMaxNpyHeader) bytes.fail(8, "a header of " + std::to_string(length) + " bytes");
  const std::string text = bytes.read(8 + wide, length);
  NpyHeader h;
  h.begin = 8 + wide + length;
  Literal literal(bytes, text, 8 + wide);
  std::vector<int64_t> dims;
  bool has_type = false, has_order = false, has_shape = false;
  literal.expect('{');
  while (!literal.take('}')) {
    const std::string key = literal.string();
    literal.expect(':');
    if (key == "descr" && !has_type) {
      has_type = true;
      if (literal.at_list()) bytes.refuse("arrays of structures are not read");
      set_type(bytes, literal, literal.string(), &h);
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      h.fortran = literal.boolean();
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      literal.expect('(');
      while (!literal.take(')')) {
        dims.push_back(literal.number());
        if (dims.size() > size_t(Shape::kMaxRank)) literal.fail("too many axes");
        if (!literal.take(',')) {
          literal.expect(')');
          break;
        }
      }
    } else {
      literal.fail("unexpected key '" + key + "'");
    }
    if (!literal.take(',')) {
      literal.expect('}');
      break;
    }
  }
  if (!literal.at_end()) literal.fail("something follows the dict");
  if (!has_type || !has_order || !has_shape) literal.fail("descr, fortran_order and shape are needed");
  h.shape = Shape(dims);
  int64_t count = 0;
  uint64_t size = 0;
  if (!h.shape.checked_num_elements(&count) || __builtin_mul_overflow(uint64_t(count), h.item, &size))
    bytes.fail(8 + wide, "the shape " + h.shape.to_string() + " has too many elements");
  if (size > bytes.size() - h.begin)
    bytes.fail(bytes.size(), "an array of shape " + h.shape.to_string() + " takes " + std::to_string(size) +
                                 " bytes, " + std::to_string(bytes.size() - h.begin) + " follow the header");
  return h;
}

void read_npy(const ByteSource& bytes, const NpyHeader& h, void* to) {
  const uint64_t size = uint64_t(h.shape.num_elements()) * h.item;
  auto* out = static_cast<char*>(to);
  if (!h.fortran || h.shape.rank() < 2) {
    bytes.read(h.begin, to, size);
  } else {
    const std::string all = bytes.read(h.begin, size);
    from_fortran(h.shape, [&](int64_t from, int64_t into) {
      std::memcpy(out + uint64_t(into) * h.item, all.data() + uint64_t(from) * h.item, h.item);
    });
  }
  swap_bytes(out, size, h.swapped);
}

std::vector<std::string> read_npy_strings(const ByteSource& bytes, const NpyHeader& h) {
  const auto count = uint64_t(h.shape.num_elements());
  // Strings of no bytes take none of the file.
  if (count > bytes.size()) bytes.fail(h.begin, "more strings than the file has bytes");
  std::string all = bytes.read(h.begin, count * h.item);
  swap_bytes(all.data(), all.size(), h.swapped);
  std::vector<std::string> list(count);
  const auto decode = [&](uint64_t i, std::string* out) {
    const std::string_view item = std::string_view(all).substr(i * h.item, h.item);
    if (h.kind != 'U') {
      *out = item.substr(0, item.find_last_not_of('\0') + 1);
      return;
    }
    uint64_t end = item.size() / 4;
    while (end > 0 && get_fixed<uint32_t>(item.data() + 4 * (end - 1)) == 0) --end;
    for (uint64_t c = 0; c < end; ++c) {
      const auto code = get_fixed<uint32_t>(item.data() + 4 * c);
      if (code > 0x10ffff) bytes.fail(h.begin + i * h.item + 4 * c, "a character beyond Unicode");
      append_utf8(out, code);
    }
  };
  if (h.fortran)
    from_fortran(h.shape, [&](int64_t from, int64_t to) { decode(uint64_t(from), &list[size_t(to)]); });
  else
    for (uint64_t i = 0; i < count; ++i) decode(i, &list[i]);
  return list;
}

std::string npy_header(DType dtype, const Shape& shape) {
  for (const NumberType& type : kNumberTypes)
    if (type.dtype == dtype)
      return header_with((size_of(dtype) == 1 ? "|" : "<") + std::string(type.text), shape);
  return {};
}

std::string npy_strings(const std::vector<std::string>& strings, const Shape& shape, const char* tag) {
  size_t longest = 1;
  for (const std::string& s : strings) {
    longest = std::max(longest, s.size());
    if (s.ends_with('\0'))
      fail_invalid(tag, "numpy's strings cannot end with a zero byte: got one of " +
                            std::to_string(s.size()) + " bytes that does");
  }
  std::string out = header_with("|S" + std::to_string(longest), shape);
  for (std::string s : strings) {
    s.resize(longest, '\0');
    out += s;
  }
  return out;
}

}  // namespace rw::format
