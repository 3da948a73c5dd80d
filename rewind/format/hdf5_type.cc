#include "rewind/format/hdf5_type.h"

#include <algorithm>
#include <array>

namespace rw::format::hdf5 {
namespace {

enum TypeClass : uint8_t {
  kFixed = 0,
  kFloat = 1,
  kString = 3,
  kBitfield = 4,
  kOpaque = 5,
  kCompound = 6,
  kReference = 7,
  kEnum = 8,
  kVariable = 9,
  kArray = 10,
  kComplex = 11,
};
constexpr int kMaxDepth = 32;  // of types in types
constexpr int kMaxRank = 32;   // HDF5's own

Hdf5Type read_nested(Cursor& c, int depth);

void name_number(Hdf5Type* type, DType dtype) {
  type->kind = Hdf5Type::Class::kNumber;
  type->dtype = dtype;
  type->text = name_of(dtype);
}

void read_fixed(Cursor& c, uint32_t bits, Hdf5Type* type) {
  const uint16_t offset = c.u16(), precision = c.u16();
  constexpr std::array<std::pair<DType, DType>, 4> kBySize{{{DType::kUint8, DType::kInt8},
                                                            {DType::kUint16, DType::kInt16},
                                                            {DType::kUint32, DType::kInt32},
                                                            {DType::kUint64, DType::kInt64}}};
  for (size_t i = 0; i < kBySize.size(); ++i)
    if (type->size == uint64_t{1} << i && offset == 0 && precision == 8 * type->size)
      name_number(type, bits & 8 ? kBySize[i].second : kBySize[i].first);
  if (type->dtype == DType::kInvalid) type->text = "integers of " + std::to_string(precision) + " bits";
  if (bits & 1) type->swapped = type->size;
}

void read_float(Cursor& c, uint32_t bits, Hdf5Type* type) {
  struct Layout {
    DType dtype;
    uint8_t precision, exponent_at, exponent_bits, mantissa_bits;
    uint32_t bias;
  };
  constexpr Layout kLayouts[] = {{DType::kFloat16, 16, 10, 5, 10, 15},
                                 {DType::kBfloat16, 16, 7, 8, 7, 127},
                                 {DType::kFloat32, 32, 23, 8, 23, 127},
                                 {DType::kFloat64, 64, 52, 11, 52, 1023}};
  const uint16_t offset = c.u16(), precision = c.u16();
  const uint8_t exponent_at = c.u8(), exponent_bits = c.u8(), mantissa_at = c.u8(), mantissa_bits = c.u8();
  const uint32_t bias = c.u32();
  const uint32_t sign_at = (bits >> 8) & 0xff, normalised = (bits >> 4) & 3;
  const bool vax_order = (bits & 0x41) == 0x41;
  for (const Layout& l : kLayouts)
    if (type->size * 8 == l.precision && offset == 0 && precision == l.precision && !vax_order &&
        exponent_at == l.exponent_at && exponent_bits == l.exponent_bits && mantissa_at == 0 &&
        mantissa_bits == l.mantissa_bits && bias == l.bias && sign_at + 1u == l.precision && normalised == 2)
      name_number(type, l.dtype);
  if (type->dtype == DType::kInvalid)
    type->text = "floating-point numbers of " + std::to_string(precision) + " bits";
  if (bits & 1) type->swapped = type->size;
}

// h5py stores complex numbers as {r, i}.
void read_compound(Cursor& c, uint8_t version, uint32_t members, int depth, Hdf5Type* type) {
  type->text = "compounds of " + std::to_string(members) + " members";
  Hdf5Type parts[2];
  bool complex = members == 2;
  for (uint32_t i = 0; i < members; ++i) {
    const uint64_t begin = c.at();
    const std::string name = c.text();
    if (version < 3) c.pad_to(8, begin);
    int offset_bytes = 4;
    if (version >= 3)
      for (offset_bytes = 1; offset_bytes < 8 && type->size >> (8 * offset_bytes); ++offset_bytes) {}
    const uint64_t offset = c.number(offset_bytes);
    if (version == 1) c.skip(28);
    const Hdf5Type member = read_nested(c, depth + 1);
    if (i >= 2) continue;
    parts[i] = member;
    complex = complex && name == (i ? "i" : "r") && offset == i * member.size;
  }
  if (!complex || parts[0].dtype != parts[1].dtype || parts[0].swapped != parts[1].swapped) return;
  if (type->size != 2 * parts[0].size) return;
  if (parts[0].dtype == DType::kFloat32) name_number(type, DType::kComplex64);
  else if (parts[0].dtype == DType::kFloat64) name_number(type, DType::kComplex128);
  type->swapped = parts[0].swapped;
}

// h5py stores booleans as an enumeration of FALSE and TRUE.
void read_enum(Cursor& c, uint8_t version, uint32_t members, int depth, Hdf5Type* type) {
  const Hdf5Type base = read_nested(c, depth + 1);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < members; ++i) {
    const uint64_t begin = c.at();
    names.push_back(c.text());
    if (version < 3) c.pad_to(8, begin);
  }
  std::string_view values = c.take(base.size * members);
  const bool booleans = members == 2 && base.size == 1 && names[0] == "FALSE" && names[1] == "TRUE" &&
                        values[0] == 0 && values[1] == 1;
  if (booleans && type->size == 1) {
    name_number(type, DType::kBool);
  } else {  // the numbers that it has
    const uint64_t size = type->size;
    *type = base;
    type->size = size;
    type->text = "enumeration of " + base.text;
    if (base.size != size) c.fail("an enumeration of " + std::to_string(size) + " bytes over " + base.text);
  }
}

void read_other(Cursor& c, uint8_t type_class, uint8_t version, uint32_t bits, int depth, Hdf5Type* type) {
  switch (type_class) {
    case kVariable: {
      const Hdf5Type base = read_nested(c, depth + 1);
      if ((bits & 15) == 1) type->kind = Hdf5Type::Class::kVariableString;
      type->text = (bits & 15) == 1 ? "strings" : "sequences of " + base.text;
      return;
    }
    case kArray: {
      const uint8_t rank = c.u8();
      if (version < 3) c.skip(3);
      c.skip(uint64_t{4} * rank * (version < 3 ? 2 : 1));
      type->text = "arrays of " + read_nested(c, depth + 1).text;
      return;
    }
    case kComplex: {
      const Hdf5Type base = read_nested(c, depth + 1);
      type->text = "complex numbers of " + base.text;
      if (type->size != 2 * base.size) return;
      if (base.dtype == DType::kFloat32) name_number(type, DType::kComplex64);
      else if (base.dtype == DType::kFloat64) name_number(type, DType::kComplex128);
      type->swapped = base.swapped;
      return;
    }
    case 2:
      c.skip(2);
      type->text = "times";
      return;
    case kBitfield:
      c.skip(4);
      type->text = "bit fields";
      return;
    case kReference: type->text = "references"; return;
    default: c.fail("unknown type class " + std::to_string(type_class));
  }
}

Hdf5Type read_nested(Cursor& c, int depth) {
  if (depth > kMaxDepth) c.fail("types are nested deeper than " + std::to_string(kMaxDepth));
  const uint8_t first = c.u8();
  const uint8_t type_class = first & 15, version = first >> 4;
  if (version < 1 || version > 5) c.fail("unknown version " + std::to_string(version) + " of a type");
  const auto bits = uint32_t(c.number(3));
  Hdf5Type type;
  type.size = c.u32();
  if (type.size == 0 && type_class != kString) c.fail("a type of 0 bytes");
  switch (type_class) {
    case kFixed: read_fixed(c, bits, &type); break;
    case kFloat: read_float(c, bits, &type); break;
    case kString:
      type.kind = Hdf5Type::Class::kString;
      type.padding = (bits & 15) == 2 ? ' ' : (bits & 15) == 1 ? '\0' : 't';
      type.text = "strings of " + std::to_string(type.size) + " bytes";
      break;
    case kOpaque:
      c.skip(bits & 0xff);
      type.kind = Hdf5Type::Class::kOpaque;
      type.text = "opaque elements of " + std::to_string(type.size) + " bytes";
      break;
    case kCompound: read_compound(c, version, bits & 0xffff, depth, &type); break;
    case kEnum: read_enum(c, version, bits & 0xffff, depth, &type); break;
    default: read_other(c, type_class, version, bits, depth, &type);
  }
  return type;
}

}  // namespace

Hdf5Type read_type(Cursor& c) { return read_nested(c, 0); }

Space read_space(Cursor& c) {
  const uint8_t version = c.u8(), rank = c.u8(), flags = c.u8();
  if (version < 1 || version > 2) c.fail("unknown version " + std::to_string(version));
  if (rank > kMaxRank) c.fail("there are " + std::to_string(rank) + " axes, HDF5 has at most 32");
  uint8_t kind = rank > 0 ? 1 : 0;
  if (version == 1) c.skip(5);
  else kind = c.u8();
  if (kind == 2) return {{0}, {0}};
  if (kind > 2) c.fail("unknown kind " + std::to_string(kind));
  std::vector<int64_t> dims;
  Space space;
  for (int i = 0; i < rank; ++i) {
    const uint64_t n = c.length();
    if (n > uint64_t(INT64_MAX)) c.fail("a size is beyond int64");
    dims.push_back(int64_t(n));
    space.largest.push_back(n);
  }
  const int bits = 8 * c.image().length_size;
  if (flags & 1)
    for (int i = 0; i < rank; ++i) {
      space.largest[size_t(i)] = c.length();
      if (space.largest[size_t(i)] == ~uint64_t{0} >> (64 - bits)) space.largest[size_t(i)] = ~uint64_t{0};
      if (space.largest[size_t(i)] < uint64_t(dims[size_t(i)])) c.fail("a size above the largest one");
    }
  space.shape = Shape(dims);
  return space;
}

uint64_t bytes_of(const Image& image, uint64_t address, const Shape& shape, uint64_t element) {
  int64_t count = 0, bytes = 0;
  if (!shape.checked_num_elements(&count) || element > uint64_t(INT64_MAX) ||
      __builtin_mul_overflow(count, int64_t(element), &bytes))
    image.fail(address, "the shape " + shape.to_string() + " has too many elements");
  return uint64_t(bytes);
}

void to_native_order(void* data, uint64_t bytes, const Hdf5Type& type) {
  if (type.swapped < 2) return;
  char* at = static_cast<char*>(data);
  for (uint64_t i = 0; i + type.swapped <= bytes; i += type.swapped)
    std::reverse(at + i, at + i + type.swapped);
}

std::vector<std::string> fixed_strings(std::string_view bytes, const Hdf5Type& type) {
  std::vector<std::string> list;
  if (type.size == 0) return list;
  for (uint64_t i = 0; i + type.size <= bytes.size(); i += type.size) {
    std::string_view one = bytes.substr(i, type.size);
    if (type.padding == 't') one = one.substr(0, one.find('\0'));
    else one = one.substr(0, one.find_last_not_of(type.padding) + 1);
    list.emplace_back(one);
  }
  return list;
}

}  // namespace rw::format::hdf5
