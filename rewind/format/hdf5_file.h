// What the handles of hdf5.h point to.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_filters.h"
#include "rewind/format/hdf5_header.h"
#include "rewind/format/hdf5_heap.h"
#include "rewind/format/hdf5_layout.h"
#include "rewind/format/hdf5_links.h"
#include "rewind/format/hdf5_type.h"

namespace rw::format::hdf5 {

struct File {
  Image image;
  GlobalHeaps heaps;
  uint64_t root = 0;  // address of its header
};

struct Array {
  Hdf5Type type;
  Space space;
  Layout layout;
  Filters filters;
  std::string fill;  // an element, as in the file; empty: zeros
  uint64_t bytes = 0;
};

struct ObjectState {
  std::shared_ptr<const File> file;
  Header header;
  std::string path;
  bool group = false;
  std::optional<Array> array;
  mutable std::mutex mutex;
  mutable std::optional<std::map<std::string, Link, std::less<>>> links;
  mutable std::optional<std::vector<std::pair<std::string, Message>>> attributes;
};

struct AttributeState {
  std::shared_ptr<const File> file;
  std::string name;
  Hdf5Type type;
  Space space;
  uint64_t address = 0;  // of the elements
  std::string bytes;     // as in the file
};

std::shared_ptr<const File> open_file(SharedBytes bytes, const ExpansionLimit& limit);
Array read_array(const Image& image, const Header& header);
// The elements as in the file.
void read_elements(const Image& image, const Array& array, char* to);
std::vector<std::string> strings_of(const File& file, const Hdf5Type& type, std::string_view bytes,
                                    uint64_t address);

// Attributes in the header, and those that are kept elsewhere; by name, in the file's order.
std::vector<std::pair<std::string, Message>> list_attributes(const Image& image, const Header& header);
std::shared_ptr<const AttributeState> read_attribute(std::shared_ptr<const File> file,
                                                     const Message& message);

}  // namespace rw::format::hdf5
