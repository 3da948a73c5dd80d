#include "rewind/format/hdf5.h"

#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/format/hdf5_file.h"

namespace rw::format {
namespace hdf5 {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);

// The superblock lies at byte 0 or behind a user's block of 512, 1024, ... bytes.
uint64_t find_signature(const ByteSource& bytes) {
  for (uint64_t at = 0; at + 8 <= bytes.size(); at = at ? 2 * at : 512) {
    char found[8];
    bytes.read(at, found, 8);
    if (std::string_view(found, 8) == kSignature) return at;
  }
  return kNoAddress;
}

void check_widths(const Cursor& c, int address, int length) {
  const auto fine = [](int n) { return n == 2 || n == 4 || n == 8; };
  if (!fine(address) || !fine(length))
    c.fail("addresses of " + std::to_string(address) + " bytes, lengths of " + std::to_string(length));
}

void read_superblock(File* file, uint64_t at) {
  Image& image = file->image;
  image.base = 0;
  image.size = image.bytes->size();
  const std::string block = image.read(at, std::min<uint64_t>(image.size - at, 128), "superblock");
  Cursor c(image, block, at, "superblock");
  c.skip(8);
  const uint8_t version = c.u8();
  if (version > 3) c.fail("unknown version " + std::to_string(version));
  if (version < 2) {
    c.skip(4);
    image.address_size = c.u8();
    image.length_size = c.u8();
    check_widths(c, image.address_size, image.length_size);
    c.skip(1 + 4 + 4 + (version == 1 ? 4 : 0));  // K of the trees, flags
  } else {
    image.address_size = c.u8();
    image.length_size = c.u8();
    check_widths(c, image.address_size, image.length_size);
    c.skip(1);
  }
  const uint64_t base = c.address();
  c.skip(uint64_t(image.address_size));  // free space, or the extension
  const uint64_t end = c.address();
  if (version < 2) c.skip(uint64_t(2 * image.address_size));  // driver; the name of the root
  file->root = c.address();
  if (version >= 2) read_summed(image, at, c.at() + 4, "superblock");
  // A user's block may have been put in front of a finished file.
  const uint64_t begin = base == 0 ? at : base;
  if (begin > image.size) c.fail("the base address lies beyond the file's end");
  image.base = begin;
  image.size -= begin;
  if (end != kNoAddress && end > image.size + (base ? base : 0))
    image.bytes->fail(image.bytes->size(), "the file is truncated: its superblock says that it has " +
                                               std::to_string(end) + " bytes");
}

}  // namespace

std::shared_ptr<const File> open_file(SharedBytes bytes, const ExpansionLimit& limit) {
  auto file = std::make_shared<File>();
  file->image.bytes = std::move(bytes);
  file->image.limit = limit;
  const ByteSource& source = *file->image.bytes;
  const uint64_t at = find_signature(source);
  if (at == kNoAddress) source.fail(0, "it is no HDF5 file: the signature is missing");
  read_superblock(file.get(), at);
  return file;
}

namespace {

std::shared_ptr<const ObjectState> read_object(const std::shared_ptr<const File>& file, uint64_t address,
                                               std::string path) {
  auto state = std::make_shared<ObjectState>();
  state->file = file;
  state->header = read_header(file->image, address);
  state->path = std::move(path);
  state->group = is_group(state->header);
  if (state->header.find(kLayout)) state->array = read_array(file->image, state->header);
  return state;
}

const std::map<std::string, Link, std::less<>>& links_of(const ObjectState& state) {
  const std::lock_guard lock(state.mutex);
  if (!state.links) state.links = read_links(state.file->image, state.header);
  return *state.links;
}

const std::vector<std::pair<std::string, Message>>& attributes_of(const ObjectState& state) {
  const std::lock_guard lock(state.mutex);
  if (!state.attributes) state.attributes = list_attributes(state.file->image, state.header);
  return *state.attributes;
}

const Array& array_of(const ObjectState& state) {
  if (!state.array) state.file->image.refuse("\"" + state.path + "\" is a group, expected an array");
  return *state.array;
}

}  // namespace
}  // namespace hdf5

bool Hdf5Object::is_group() const { return state_->group; }
bool Hdf5Object::is_array() const { return state_->array.has_value(); }
const std::string& Hdf5Object::path() const { return state_->path; }
uint64_t Hdf5Object::address() const { return state_->header.address; }

std::vector<std::string> Hdf5Object::names() const {
  std::vector<std::string> names;
  for (const auto& [name, link] : hdf5::links_of(*state_)) names.push_back(name);
  return names;
}

std::optional<Hdf5Object> Hdf5Object::find(std::string_view path) const {
  Hdf5Object at = *this;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (name.empty()) continue;
    if (!at.is_group()) return {};
    const auto& links = hdf5::links_of(*at.state_);
    const auto found = links.find(name);
    if (found == links.end()) return {};
    std::string inner = at.path() + (at.path().empty() ? "" : "/") + std::string(name);
    if (found->second.kind != hdf5::Link::Kind::kHard)
      state_->file->image.refuse("\"" + inner + "\" is a" +
                                 (found->second.kind == hdf5::Link::Kind::kSoft ? " soft" : "n external") +
                                 " link, which is not followed");
    at = Hdf5Object(hdf5::read_object(state_->file, found->second.header, std::move(inner)));
  }
  return at;
}

Hdf5Object Hdf5Object::at(std::string_view path) const {
  auto found = find(path);
  if (!found) {
    const ByteSource& source = *state_->file->image.bytes;
    fail_not_found(source.tag(), source.name() + ": there is no \"" + std::string(path) + "\" in " +
                                     (state_->path.empty() ? "the file" : "\"" + state_->path + "\""));
  }
  return *std::move(found);
}

const Shape& Hdf5Object::shape() const { return hdf5::array_of(*state_).space.shape; }
const Hdf5Type& Hdf5Object::type() const { return hdf5::array_of(*state_).type; }
uint64_t Hdf5Object::byte_size() const { return hdf5::array_of(*state_).bytes; }

bool Hdf5Object::is_plain() const {
  return hdf5::array_of(*state_).layout.kind != hdf5::Layout::Kind::kChunked;
}

void Hdf5Object::read(void* to) const {
  const hdf5::Array& array = hdf5::array_of(*state_);
  hdf5::read_elements(state_->file->image, array, static_cast<char*>(to));
  hdf5::to_native_order(to, array.bytes, array.type);
}

std::vector<std::string> Hdf5Object::strings() const {
  const hdf5::Array& array = hdf5::array_of(*state_);
  std::string bytes(array.bytes, '\0');
  hdf5::read_elements(state_->file->image, array, bytes.data());
  return hdf5::strings_of(*state_->file, array.type, bytes, state_->header.address);
}

std::vector<std::string> Hdf5Object::attribute_names() const {
  std::vector<std::string> names;
  for (const auto& [name, message] : hdf5::attributes_of(*state_)) names.push_back(name);
  return names;
}

std::optional<Hdf5Attribute> Hdf5Object::attribute(std::string_view name) const {
  for (const auto& [known, message] : hdf5::attributes_of(*state_)) {
    if (known != name) continue;
    Hdf5Attribute attribute;
    attribute.state_ = hdf5::read_attribute(state_->file, message);
    return attribute;
  }
  return {};
}

Hdf5File::Hdf5File(SharedBytes bytes, const ExpansionLimit& limit)
    : root_([&] {
        const auto file = hdf5::open_file(std::move(bytes), limit);
        return Hdf5Object(hdf5::read_object(file, file->root, ""));
      }()) {}

Hdf5File::Hdf5File(const std::string& path, const char* tag, const ExpansionLimit& limit)
    : Hdf5File(open_bytes(path, tag), limit) {}

bool is_hdf5(const ByteSource& bytes) { return hdf5::find_signature(bytes) != hdf5::kNoAddress; }

}  // namespace rw::format
