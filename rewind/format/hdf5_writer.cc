#include "rewind/format/hdf5_writer.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/hdf5_encode.h"
#include "rewind/format/hdf5_header.h"
#include "rewind/format/little_endian.h"

namespace rw::format {
namespace hdf5 {
namespace {

constexpr uint64_t kLeafK = 4, kTreeK = 16;  // nodes have up to twice as many
constexpr uint64_t kSuperblock = 96, kTreeNode = 24 + (4 * kTreeK + 1) * 8, kLeafNode = 8 + 2 * kLeafK * 40;
constexpr uint64_t kAlignment = 8;
constexpr char kZeros[kAlignment] = {};

struct Child {
  uint64_t key = 0;  // offset in the heap of the last name below it
  uint64_t address = 0;
};

// Writes children before what points to them; addresses of elements, which come behind all else, are put in
// at the end.
class Writer {
 public:
  Writer(const char* tag, std::string* out, std::vector<std::string_view>* parts)
      : tag_(tag), out_(*out), parts_(*parts) {}

  void write(const Hdf5Group& root) {
    out_.assign(kSuperblock, '\0');
    collect(root);
    heap_.write(&out_);
    const Place place = group(root, "");
    const uint64_t metadata = out_.size();
    for (const auto& [at, offset] : data_addresses_) {
      const uint64_t address = metadata + offset;
      std::memcpy(out_.data() + at, &address, sizeof address);
    }
    const std::string superblock = superblock_of(place, metadata + data_size_);
    std::copy(superblock.begin(), superblock.end(), out_.begin());
    parts_.insert(parts_.begin(), out_);
  }

 private:
  struct Place {
    uint64_t header = 0, tree = 0, heap = 0;
  };

  void collect(const Hdf5Group& group) {
    collect_strings(group.attributes, &heap_);
    for (const auto& [name, array] : group.arrays) collect_strings(array.attributes, &heap_);
    for (const auto& [name, inner] : group.groups) collect(inner);
  }

  std::string attributes(const Hdf5Attributes& all, const std::string& path, uint16_t* count) const {
    std::string out;
    for (const auto& [name, value] : all) {
      out += encode_message(kAttribute, encode_attribute(name, value, heap_), tag_,
                            "attribute \"" + name + "\" of \"" + path + "\"");
      ++*count;
    }
    return out;
  }

  uint64_t header(const std::string& messages, uint16_t count) {
    const uint64_t address = out_.size();
    put_fixed<uint16_t>(out_, 1);  // version
    put_fixed<uint16_t>(out_, count);
    put_fixed<uint32_t>(out_, 1);  // references
    put_fixed<uint32_t>(out_, uint32_t(messages.size()));
    put_fixed<uint32_t>(out_, 0);
    out_ += messages;
    return address;
  }

  uint64_t array(const Hdf5Array& array, const std::string& path) {
    const std::string type = encode_type(array.dtype);
    if (type.empty())
      fail_invalid(tag_, "\"" + path + "\" is " + std::string(name_of(array.dtype)) +
                             ", which HDF5 files have no type for here");
    const uint64_t bytes = uint64_t(array.shape.num_elements()) * size_of(array.dtype);
    std::string layout("\3\1", 2);  // version 3, contiguous
    put_fixed<uint64_t>(layout, kNoAddress);
    put_fixed<uint64_t>(layout, bytes);
    uint16_t count = 4;
    std::string messages = encode_message(kDataspace, encode_shape(array.shape), tag_, path) +
                           encode_message(kDatatype, type, tag_, path) +
                           // Elements are written late, fill values if there are any; none here.
                           encode_message(kFill, std::string("\2\2\2\1\0\0\0\0", 8), tag_, path);
    const size_t address_at = messages.size() + 8 + 2;
    messages += encode_message(kLayout, layout, tag_, path);
    messages += attributes(array.attributes, path, &count);
    const uint64_t address = header(messages, count);
    if (bytes > 0) {
      data_addresses_.emplace_back(address + 16 + address_at, data_size_);
      put_data({static_cast<const char*>(array.data), bytes});
    }
    return address;
  }

  void put_data(std::string_view bytes) {
    parts_.push_back(bytes);
    data_size_ += bytes.size();
    const uint64_t over = data_size_ % kAlignment;
    if (over == 0) return;
    parts_.emplace_back(kZeros, kAlignment - over);
    data_size_ += kAlignment - over;
  }

  Place group(const Hdf5Group& group, const std::string& path) {
    std::map<std::string, uint64_t> links;  // by name: addresses of headers
    const auto inner = [&](const std::string& name) {
      if (name.empty() || name == "." || name.find('/') != std::string::npos ||
          name.find('\0') != std::string::npos || links.contains(name))
        fail_invalid(
            tag_, "\"" + name + "\" in \"" + path + "\" is no name for a group or array, or is there twice");
      return path + (path.empty() ? "" : "/") + name;
    };
    for (const auto& [name, child] : group.groups) {
      const std::string where = inner(name);
      links[name] = this->group(child, where).header;
    }
    for (const auto& [name, child] : group.arrays) {
      const std::string where = inner(name);
      links[name] = array(child, where);
    }
    Place place;
    std::string names(8, '\0');
    std::vector<std::pair<uint64_t, uint64_t>> entries;  // offset of the name, address
    for (const auto& [name, address] : links) {
      entries.emplace_back(names.size(), address);
      names += name + '\0';
      pad8(&names);
    }
    place.heap = local_heap(names);
    place.tree = tree(leaves(entries));
    std::string table;
    put_fixed<uint64_t>(table, place.tree);
    put_fixed<uint64_t>(table, place.heap);
    uint16_t count = 1;
    const std::string messages =
        encode_message(kSymbolTable, table, tag_, path) + attributes(group.attributes, path, &count);
    place.header = header(messages, count);
    return place;
  }

  uint64_t local_heap(const std::string& names) {
    const uint64_t address = out_.size();
    out_.append("HEAP\0\0\0\0", 8);
    put_fixed<uint64_t>(out_, names.size());
    put_fixed<uint64_t>(out_, 1);  // no free space
    put_fixed<uint64_t>(out_, address + 32);
    out_ += names;
    return address;
  }

  // Lists of names, in order, with up to 2K each.
  std::vector<Child> leaves(const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
    std::vector<Child> nodes;
    for (size_t i = 0; i < entries.size(); i += 2 * kLeafK) {
      const size_t end = std::min<size_t>(entries.size(), i + 2 * kLeafK);
      const uint64_t address = out_.size();
      out_.append("SNOD\1\0", 6);
      put_fixed<uint16_t>(out_, uint16_t(end - i));
      for (size_t e = i; e < end; ++e) {
        put_fixed<uint64_t>(out_, entries[e].first);
        put_fixed<uint64_t>(out_, entries[e].second);
        out_.append(24, '\0');  // nothing cached
      }
      out_.resize(address + kLeafNode, '\0');
      nodes.push_back({entries[end - 1].first, address});
    }
    return nodes;
  }

  // The nodes over `children`, level by level, up to one root.
  uint64_t tree(std::vector<Child> children) {
    for (uint8_t level = 0;; ++level) {
      std::vector<Child> nodes;
      const uint64_t first = out_.size();
      const size_t count = std::max<size_t>(1, (children.size() + 2 * kTreeK - 1) / (2 * kTreeK));
      uint64_t left_key = 0;
      for (size_t n = 0; n < count; ++n) {
        const uint64_t address = first + n * kTreeNode;
        const size_t begin = n * 2 * kTreeK, end = std::min<size_t>(children.size(), begin + 2 * kTreeK);
        out_.append("TREE\0", 5);
        put_fixed<uint8_t>(out_, level);
        put_fixed<uint16_t>(out_, uint16_t(end - begin));
        put_fixed<uint64_t>(out_, n > 0 ? address - kTreeNode : kNoAddress);
        put_fixed<uint64_t>(out_, n + 1 < count ? address + kTreeNode : kNoAddress);
        put_fixed<uint64_t>(out_, left_key);
        for (size_t i = begin; i < end; ++i) {
          put_fixed<uint64_t>(out_, children[i].address);
          put_fixed<uint64_t>(out_, left_key = children[i].key);
        }
        out_.resize(address + kTreeNode, '\0');
        nodes.push_back({left_key, address});
      }
      if (nodes.size() == 1) return nodes[0].address;
      children = std::move(nodes);
    }
  }

  static std::string superblock_of(const Place& root, uint64_t size) {
    std::string out("\x89HDF\r\n\x1a\n", 8);
    out.append(5, '\0');  // versions, of the file and its parts
    out += char(8);       // bytes of addresses and lengths
    out += char(8);
    out += '\0';
    put_fixed<uint16_t>(out, kLeafK);
    put_fixed<uint16_t>(out, kTreeK);
    put_fixed<uint32_t>(out, 0);
    for (const uint64_t n : {uint64_t{0}, kNoAddress, size, kNoAddress})
      put_fixed(out, n);          // base, free, end
    put_fixed<uint64_t>(out, 0);  // the root has no name
    put_fixed<uint64_t>(out, root.header);
    put_fixed<uint32_t>(out, 1);  // its table follows
    put_fixed<uint32_t>(out, 0);
    put_fixed<uint64_t>(out, root.tree);
    put_fixed<uint64_t>(out, root.heap);
    return out;
  }

  const char* tag_;
  std::string& out_;
  std::vector<std::string_view>& parts_;
  StringHeap heap_;
  std::vector<std::pair<uint64_t, uint64_t>> data_addresses_;  // where they stand, and from the first element
  uint64_t data_size_ = 0;
};

}  // namespace
}  // namespace hdf5

Hdf5Group& Hdf5Group::group(std::string_view path) {
  Hdf5Group* at = this;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    at = &at->groups[std::string(path.substr(0, slash))];
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return *at;
}

Hdf5Array& Hdf5Group::array(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return arrays[std::string(path)];
  return group(path.substr(0, slash)).arrays[std::string(path.substr(slash + 1))];
}

Hdf5Image::Hdf5Image(const Hdf5Group& root, const char* tag) {
  hdf5::Writer(tag, &metadata_, &parts_).write(root);
}

void write_hdf5(const std::string& path, const Hdf5Group& root, const char* tag) {
  const Hdf5Image image(root, tag);
  AtomicFile file(path, tag);
  for (const std::string_view part : image.parts()) file.write(part.data(), part.size());
  file.commit();
}

}  // namespace rw::format
