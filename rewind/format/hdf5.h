// HDF5: groups of named arrays in one file, as h5py and with it Keras write and read them. Numbers are
// little-endian, addresses count from the superblock's base.
//
//   superblock   "\x89HDF\r\n\x1a\n", version 0: sizes of addresses and lengths (O and L, 8 both), K of the
//                trees' nodes, base, end of file, symbol table entry of the root group
//                version 2, 3: sizes, base, extension, end, header of the root, checksum
//   header       of a group, an array or a named type: a list of messages
//     version 1    u8 version  -  u16 messages  u32 references  u32 bytes  -  {u16 type u16 bytes u8 flags -
//     body} version 2    "OHDR" u8 version u8 flags [4 times] [2 limits] bytes {u8 type u16 bytes u8 flags
//     [order]
//                  body} checksum; goes on in "OCHK" ... checksum
//     messages     0x01 dataspace   0x03 type   0x05 fill value   0x08 layout   0x0b filters   0x0c attribute
//                  0x02, 0x06, 0x0a links   0x11 symbol table   0x15 attributes elsewhere   0x10 goes on at
//   group        symbol table: "TREE" (nodes of 2K children by name) -> "SNOD" (2K entries: name's offset in
//                the "HEAP", address of the header); or link messages; or "FRHP" (fractal heap of links) with
//                a "BTHD" tree by the names' hashes
//   array        compact (in the header), contiguous, or chunks of one size under filters (deflate, shuffle,
//                fletcher32), found by a "TREE", or by one chunk's address, a formula, a fixed array
//                ("FAHD"), an extensible array ("EAHD") or a "BTHD" tree
//   strings      of fixed length, or {u32 length, address of a "GCOL" heap, u32 index}
//
// The reader keeps to this with any bytes: sizes are checked against the file before memory is taken, cycles
// are found, checksums compared. Soft, external and virtual pieces, which lead to other files or objects, are
// refused. The writer (hdf5_writer.h) makes version 0 files, which every HDF5 library reads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/shape.h"
#include "rewind/format/byte_source.h"

namespace rw::format {

struct Hdf5Type {
  enum class Class { kNumber, kString, kVariableString, kOpaque, kOther };
  Class kind = Class::kOther;
  uint64_t size = 0;              // bytes of an element in the file
  DType dtype = DType::kInvalid;  // of numbers; bool: h5py's enumeration; kInvalid: none of ours
  uint64_t swapped = 0;           // bytes that stand in the other order, each so many; 0: none
  char padding = '\0';            // of strings: ' ', '\0' behind them, or 't' for a zero that ends them
  std::string text;               // "float32", "strings of 5 bytes", "compound of 3 members"
};

namespace hdf5 {
struct File;
struct ObjectState;
struct AttributeState;
}  // namespace hdf5

// Elements and type of an attribute. Valid while a file's object lives, and longer.
class Hdf5Attribute {
 public:
  const Hdf5Type& type() const;
  const Shape& shape() const;  // an attribute without a value has (0,)
  // Elements of numbers, in this machine's order: type().dtype's size each.
  std::string bytes() const;
  std::vector<std::string> strings() const;
  // The one string of a scalar, the one integer.
  std::string string() const;
  int64_t integer() const;

 private:
  friend class Hdf5Object;
  std::shared_ptr<const hdf5::AttributeState> state_;
};

// A group or an array in an open file; a handle, which keeps the file open. Any number of threads may read.
// Damaged bytes are DataLossError with the file's name and the byte; what HDF5 has and this reader has not is
// UnimplementedError.
class Hdf5Object {
 public:
  bool is_group() const;
  bool is_array() const;
  const std::string& path() const;  // from the root: "layers/dense"; of the root ""
  // The same for all paths that lead to it. A group may be inside itself: walks remember where they were.
  uint64_t address() const;

  // ---- groups
  // What is inside, in the order of the bytes of the names.
  std::vector<std::string> names() const;
  // By a path from here, "dense/vars/0".
  std::optional<Hdf5Object> find(std::string_view path) const;
  Hdf5Object at(std::string_view path) const;  // throws NotFoundError

  // ---- arrays
  const Shape& shape() const;  // an array without a value (null) has (0,)
  const Hdf5Type& type() const;
  uint64_t byte_size() const;  // elements x size of one
  // Whether the elements lie in the file as they are, all of them: then they are there, and nothing that is
  // stored can be found damaged later.
  bool is_plain() const;
  // Elements as type() has them, row-major, in this machine's order: byte_size() bytes straight to `to`.
  void read(void* to) const;
  std::vector<std::string> strings() const;

  // ---- both
  std::vector<std::string> attribute_names() const;
  std::optional<Hdf5Attribute> attribute(std::string_view name) const;

 private:
  friend class Hdf5File;
  explicit Hdf5Object(std::shared_ptr<const hdf5::ObjectState> state) : state_(std::move(state)) {}
  std::shared_ptr<const hdf5::ObjectState> state_;
};

class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path, const char* tag = "hdf5", const ExpansionLimit& limit = {});
  explicit Hdf5File(SharedBytes bytes, const ExpansionLimit& limit = {});
  const Hdf5Object& root() const { return root_; }

 private:
  Hdf5Object root_;
};

// Whether the bytes begin like an HDF5 file.
bool is_hdf5(const ByteSource& bytes);

}  // namespace rw::format
