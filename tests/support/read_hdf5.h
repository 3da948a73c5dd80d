// Reads all that an HDF5 file has. Damaged parts are skipped where their errors come from, which `failed`
// hears of.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"

namespace rw::test {

// Counts the arrays and attributes that could be read; throws nothing but what is no rw::Error.
using Hdf5Failed = std::function<void(const Error&)>;
inline int read_everything(const format::Hdf5Object& object, std::set<uint64_t>* visited,
                           const Hdf5Failed& failed) {
  constexpr uint64_t kMost = 8 << 20;
  if (!visited->insert(object.address()).second) return 0;
  int count = 0;
  const auto trying = [&](auto f) {
    try {
      f();
    } catch (const Error& e) {
      if (failed) failed(e);
    }
  };
  trying([&] {
    for (const std::string& name : object.attribute_names())
      trying([&] {
        const auto attribute = object.attribute(name);
        if (attribute->type().dtype == DType::kInvalid) (void)attribute->strings();
        else (void)attribute->bytes();
        ++count;
      });
  });
  if (object.is_array())
    trying([&] {
      if (object.byte_size() > kMost) return;
      if (object.type().kind == format::Hdf5Type::Class::kString ||
          object.type().kind == format::Hdf5Type::Class::kVariableString)
        (void)object.strings();
      std::vector<char> bytes(object.byte_size());
      object.read(bytes.data());
      ++count;
    });
  if (object.is_group())
    trying([&] {
      for (const std::string& name : object.names())
        trying([&] {
          if (const auto inner = object.find(name)) count += read_everything(*inner, visited, failed);
        });
    });
  return count;
}
inline int read_everything(const format::Hdf5Object& root, const Hdf5Failed& failed = nullptr) {
  std::set<uint64_t> visited;
  return read_everything(root, &visited, failed);
}

}  // namespace rw::test
