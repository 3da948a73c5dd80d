// What is inside an HDF5 group.
#pragma once

#include <map>
#include <string>

#include "rewind/format/hdf5_header.h"

namespace rw::format::hdf5 {

struct Link {
  enum class Kind { kHard, kSoft, kExternal };
  Kind kind = Kind::kHard;
  uint64_t header = 0;  // of what a hard link leads to
};

bool is_group(const Header& header);
// By name. A name that comes twice is damage.
std::map<std::string, Link, std::less<>> read_links(const Image& image, const Header& header);

}  // namespace rw::format::hdf5
