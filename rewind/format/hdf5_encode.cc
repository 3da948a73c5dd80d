#include "rewind/format/hdf5_encode.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/format/little_endian.h"

namespace rw::format::hdf5 {
namespace {

constexpr uint64_t kHeapFront = 16, kObjectFront = 16, kLeastHeap = 4096;
constexpr uint32_t kMostObjects = 0xfff0;  // of a heap: indexes have 16 bits

std::string type_front(uint8_t type_class, uint32_t bits, uint32_t size) {
  std::string out;
  put_fixed<uint8_t>(out, uint8_t(1 << 4 | type_class));  // version 1
  put_fixed<uint8_t>(out, uint8_t(bits));
  put_fixed<uint16_t>(out, uint16_t(bits >> 8));
  put_fixed<uint32_t>(out, size);
  return out;
}

std::string fixed_type(uint32_t size, bool is_signed) {
  std::string out = type_front(0, is_signed ? 8 : 0, size);
  put_fixed<uint16_t>(out, 0);
  put_fixed<uint16_t>(out, uint16_t(8 * size));
  return out;
}

std::string float_type(uint32_t size) {
  const int mantissa = size == 2 ? 10 : size == 4 ? 23 : 52, exponent = size == 2 ? 5 : size == 4 ? 8 : 11;
  std::string out = type_front(1, 0x20 | (8 * size - 1) << 8, size);
  put_fixed<uint16_t>(out, 0);
  put_fixed<uint16_t>(out, uint16_t(8 * size));
  for (const int n : {mantissa, exponent, 0, mantissa}) put_fixed<uint8_t>(out, uint8_t(n));
  put_fixed<uint32_t>(out, (1u << (exponent - 1)) - 1);
  return out;
}

std::string complex_type(uint32_t part) {
  std::string out = type_front(6, 2, 2 * part);
  for (uint32_t i = 0; i < 2; ++i) {
    out += i ? 'i' : 'r';
    out.append(7, '\0');
    put_fixed<uint32_t>(out, i * part);
    out.append(28, '\0');  // it is no array
    out += float_type(part);
  }
  return out;
}

std::string bool_type() {
  std::string out = type_front(8, 2, 1) + fixed_type(1, true);
  out.append("FALSE\0\0\0TRUE\0\0\0\0\0\1", 18);
  return out;
}

constexpr uint32_t kUtf8 = 1;
std::string variable_string_type() {
  return type_front(9, 1 | kUtf8 << 8, 16) + type_front(3, kUtf8 << 4, 1);
}
std::string fixed_string_type(uint32_t size) { return type_front(3, 1, size); }  // padded by zeros

struct Encoded {
  std::string type, shape, data;
};

struct Encoder {
  const StringHeap& heap;
  Encoded operator()(const std::string& text) const {
    return {variable_string_type(), encode_shape({}), heap.reference(text)};
  }
  Encoded operator()(const std::vector<std::string>& list) const {
    if (list.empty()) return {float_type(8), encode_shape({0}), {}};  // as h5py stores an empty list
    Encoded e{variable_string_type(), encode_shape({int64_t(list.size())}), {}};
    for (const std::string& text : list) e.data += heap.reference(text);
    return e;
  }
  Encoded operator()(const Hdf5FixedStrings& list) const {
    size_t longest = 1;
    for (const std::string& text : list.strings) longest = std::max(longest, text.size());
    Encoded e{fixed_string_type(uint32_t(longest)), encode_shape({int64_t(list.strings.size())}), {}};
    for (std::string text : list.strings) {
      text.resize(longest, '\0');
      e.data += text;
    }
    return e;
  }
  Encoded operator()(int64_t value) const {
    Encoded e{fixed_type(8, true), encode_shape({}), {}};
    put_fixed(e.data, value);
    return e;
  }
  Encoded operator()(double value) const {
    Encoded e{float_type(8), encode_shape({}), {}};
    put_fixed(e.data, value);
    return e;
  }
};

}  // namespace

// ---- strings ----------------------------------------------------------------------------------------------

void StringHeap::write(std::string* out) {
  auto next = strings_.begin();
  while (next != strings_.end()) {
    const uint64_t heap = out->size();
    out->append("GCOL\1\0\0\0", 8);
    out->append(8, '\0');  // its size
    for (uint32_t index = 1; index <= kMostObjects && next != strings_.end(); ++index, ++next) {
      places_[*next] = {heap, index};
      put_fixed<uint16_t>(*out, uint16_t(index));
      put_fixed<uint16_t>(*out, 1);
      put_fixed<uint32_t>(*out, 0);
      put_fixed<uint64_t>(*out, next->size());
      *out += *next;
      pad8(out);
    }
    const uint64_t used = out->size() - heap, size = std::max(kLeastHeap, used + kObjectFront);
    put_fixed<uint64_t>(*out, 0);  // free space is object 0
    put_fixed<uint64_t>(*out, size - used);
    out->resize(heap + size, '\0');
    std::memcpy(out->data() + heap + 8, &size, sizeof size);
  }
}

std::string StringHeap::reference(const std::string& text) const {
  const Place& place = places_.at(text);
  std::string out;
  put_fixed<uint32_t>(out, uint32_t(text.size()));
  put_fixed<uint64_t>(out, place.heap);
  put_fixed<uint32_t>(out, place.index);
  return out;
}

void collect_strings(const Hdf5Attributes& attributes, StringHeap* heap) {
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) heap->add(*text);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value))
      for (const std::string& text : *list) heap->add(text);
  }
}

// ---- messages ---------------------------------------------------------------------------------------------

std::string encode_shape(const Shape& shape) {
  std::string out;
  put_fixed<uint8_t>(out, 1);
  put_fixed<uint8_t>(out, uint8_t(shape.rank()));
  out.append(6, '\0');
  for (const int64_t n : shape.dims()) put_fixed<int64_t>(out, n);
  return out;
}

std::string encode_type(DType dtype) {
  const auto size = uint32_t(size_of(dtype));
  if (dtype == DType::kBool) return bool_type();
  if (dtype == DType::kBfloat16) return type_front(5, 0, 2);  // opaque, without a tag
  if (contains(kIntTypes, dtype)) return fixed_type(size, !is_unsigned(dtype));
  if (contains(kComplexTypes, dtype)) return complex_type(size / 2);
  if (is_floating(dtype)) return float_type(size);
  return {};
}

std::string encode_attribute(const std::string& name, const Hdf5Value& value, const StringHeap& heap) {
  Encoded e = std::visit(Encoder{heap}, value);
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
  std::string out;
  put_fixed<uint8_t>(out, ascii ? 1 : 3);
  put_fixed<uint8_t>(out, 0);
  put_fixed<uint16_t>(out, uint16_t(name.size() + 1));
  put_fixed<uint16_t>(out, uint16_t(e.type.size()));
  put_fixed<uint16_t>(out, uint16_t(e.shape.size()));
  if (!ascii) put_fixed<uint8_t>(out, kUtf8);
  for (const std::string& part : {name + '\0', e.type, e.shape}) {
    out += part;
    if (ascii) out.append((8 - part.size() % 8) % 8, '\0');
  }
  return out + e.data;
}

std::string encode_message(uint16_t type, std::string body, const char* tag, const std::string& what) {
  pad8(&body);
  constexpr size_t kMost = 0xfff8;
  if (body.size() > kMost)
    fail_invalid(tag, what + " takes " + std::to_string(body.size()) + " bytes, HDF5 has room for " +
                          std::to_string(kMost));
  std::string out;
  put_fixed<uint16_t>(out, type);
  put_fixed<uint16_t>(out, uint16_t(body.size()));
  put_fixed<uint32_t>(out, 0);  // flags
  return out + body;
}

}  // namespace rw::format::hdf5
