// Attributes of HDF5's groups and arrays.
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/format/hdf5_file.h"
#include "rewind/format/hdf5_tree.h"

namespace rw::format::hdf5 {
namespace {

// The part in front of the elements: u8 version, u8 flags, u16 sizes of name, type and dataspace.
struct Front {
  uint8_t version = 0, flags = 0;
  uint16_t name = 0, type = 0, space = 0;
};

Front read_front(Cursor& c) {
  Front f;
  f.version = c.u8();
  if (f.version < 1 || f.version > 3) c.fail("unknown version " + std::to_string(f.version));
  f.flags = c.u8();
  f.name = c.u16();
  f.type = c.u16();
  f.space = c.u16();
  if (f.version == 3) c.skip(1);  // character set
  return f;
}

std::string_view take_part(Cursor& c, const Front& f, uint16_t size, uint64_t* address) {
  *address = c.file_address();
  const std::string_view part = c.take(size);
  if (f.version == 1) c.skip((8 - size % 8) % 8);
  return part;
}

std::string read_name(const Image& image, const Message& message) {
  Cursor c = message.cursor(image, "attribute");
  const Front f = read_front(c);
  uint64_t address = 0;
  const std::string_view name = take_part(c, f, f.name, &address);
  return std::string(name.substr(0, name.find('\0')));
}

}  // namespace

std::vector<std::pair<std::string, Message>> list_attributes(const Image& image, const Header& header) {
  std::vector<std::pair<std::string, Message>> list;
  for (const Message& m : header.messages) {
    if (m.type == kAttribute) {
      if (m.shared) image.refuse("attributes shared in a heap of the file are not supported");
      list.emplace_back(read_name(image, m), m);
    } else if (m.type == kAttributeInfo) {
      Cursor info = m.cursor(image, "attributes");
      info.expect_version(0, 0);
      const uint8_t flags = info.u8();
      if (flags & 1) info.skip(2);
      const uint64_t heap_address = info.address(), tree = info.address();
      if (heap_address == kNoAddress || tree == kNoAddress) continue;
      FractalHeap heap(image, heap_address);
      walk_tree2(image, tree, [&](Cursor& record) {
        Cursor id = record.part(heap.id_size(), "attribute");
        if (record.u8() & 2) image.refuse("attributes shared in a heap of the file are not supported");
        FractalHeap::Object object = heap.read(id);
        Message attribute{kAttribute, false, object.address, std::move(object.bytes)};
        std::string name = read_name(image, attribute);
        list.emplace_back(std::move(name), std::move(attribute));
      });
    }
  }
  return list;
}

std::shared_ptr<const AttributeState> read_attribute(std::shared_ptr<const File> file,
                                                     const Message& message) {
  const Image& image = file->image;
  auto state = std::make_shared<AttributeState>();
  Cursor c = message.cursor(image, "attribute");
  const Front f = read_front(c);
  uint64_t address = 0;
  const std::string_view name = take_part(c, f, f.name, &address);
  state->name = name.substr(0, name.find('\0'));
  const std::string_view type = take_part(c, f, f.type, &address);
  if (f.version > 1 && (f.flags & 1)) {
    const Message real =
        resolve_shared(image, Cursor(image, type, address, "type of an attribute"), kDatatype);
    Cursor t = real.cursor(image, "type of an attribute");
    state->type = read_type(t);
  } else {
    Cursor t(image, type, address, "type of an attribute");
    state->type = read_type(t);
  }
  if (f.version > 1 && (f.flags & 2)) image.refuse("attributes with shared dataspaces are not supported");
  const std::string_view space = take_part(c, f, f.space, &address);
  Cursor s(image, space, address, "dataspace of an attribute");
  state->space = read_space(s);
  state->address = c.file_address();
  state->bytes = c.take(bytes_of(image, state->address, state->space.shape, state->type.size));
  state->file = std::move(file);
  return state;
}

}  // namespace rw::format::hdf5

namespace rw::format {

const Hdf5Type& Hdf5Attribute::type() const { return state_->type; }
const Shape& Hdf5Attribute::shape() const { return state_->space.shape; }

std::string Hdf5Attribute::bytes() const {
  std::string bytes = state_->bytes;
  hdf5::to_native_order(bytes.data(), bytes.size(), state_->type);
  return bytes;
}

std::vector<std::string> Hdf5Attribute::strings() const {
  if (state_->bytes.empty()) return {};  // h5py stores an empty list as numbers
  return hdf5::strings_of(*state_->file, state_->type, state_->bytes, state_->address);
}

std::string Hdf5Attribute::string() const {
  std::vector<std::string> list = strings();
  if (list.size() != 1)
    state_->file->image.refuse("attribute \"" + state_->name + "\" has " + std::to_string(list.size()) +
                               " strings, expected one");
  return std::move(list[0]);
}

int64_t Hdf5Attribute::integer() const {
  const std::string value = bytes();
  int64_t n = 0;
  const Hdf5Type& t = state_->type;
  if (!(is_integer(t.dtype) || t.dtype == DType::kBool) || value.size() != size_of(t.dtype))
    state_->file->image.refuse("attribute \"" + state_->name + "\" is " + t.text + " of shape " +
                               shape().to_string() + ", expected an integer");
  const bool negative = !is_unsigned(t.dtype) && t.dtype != DType::kBool && (value.back() & 0x80);
  if (negative) n = -1;
  std::memcpy(&n, value.data(), value.size());
  return n;
}

}  // namespace rw::format
