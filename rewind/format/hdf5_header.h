// Object headers of HDF5 files: the list of messages that say what a group or an array is.
#pragma once

#include <string>
#include <vector>

#include "rewind/format/hdf5_bytes.h"

namespace rw::format::hdf5 {

enum MessageType : uint16_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFill = 0x04,
  kFill = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kFilters = 0x0b,
  kAttribute = 0x0c,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};

struct Message {
  uint16_t type = 0;
  bool shared = false;  // the body says where the real one is
  uint64_t address = 0;
  std::string body;

  Cursor cursor(const Image& image, const char* what) const { return {image, body, address, what}; }
};

struct Header {
  uint64_t address = 0;
  std::vector<Message> messages;

  const Message* find(uint16_t type) const;  // nullptr: there is none
};

Header read_header(const Image& image, uint64_t address);

// The message that a shared one of this type stands for: in the header of a committed type.
Message resolve_shared(const Image& image, Cursor body, uint16_t type);

}  // namespace rw::format::hdf5
