#include "rewind/format/array_file.h"

#include <algorithm>
#include <set>

#include "rewind/base/error.h"
#include "rewind/format/hdf5.h"
#include "rewind/format/hdf5_writer.h"
#include "rewind/format/npy.h"
#include "rewind/format/zip.h"

namespace rw::format {
namespace {

// What .npz archives and HDF5 files call the texts beside the arrays.
constexpr std::string_view kNpzMetadata = "__metadata__/";

class SafetensorsArrays : public ArrayFile {
 public:
  SafetensorsArrays(const std::string& path, const char* tag) : ArrayFile(path), file_(path, tag) {
    metadata_ = file_.metadata();
    for (size_t i = 0; i < file_.entries().size(); ++i) {
      const auto& e = file_.entries()[i];
      add({e.name, e.dtype, e.shape, i});
    }
  }
  void read(const Entry& entry, void* to) const override { file_.read(file_.entries()[entry.number], to); }

 private:
  SafetensorsFile file_;
};

class NpzArrays : public ArrayFile {
 public:
  NpzArrays(const std::string& path, const char* tag, const ExpansionLimit& limit)
      : ArrayFile(path), file_(path, tag, limit) {
    for (const auto& e : file_.entries()) {
      if (e.name.starts_with(kNpzMetadata)) {
        metadata_[e.name.substr(kNpzMetadata.size())] = file_.read(e);
      } else if (e.name.ends_with(".npy")) {
        members_.push_back(file_.open(e));
        headers_.push_back(read_npy_header(*members_.back()));
        if (headers_.back().dtype == DType::kString)
          members_.back()->refuse("arrays of strings are no weights");
        add({e.name.substr(0, e.name.size() - 4), headers_.back().dtype, headers_.back().shape,
             headers_.size() - 1});
      }
    }
  }
  void read(const Entry& entry, void* to) const override {
    read_npy(*members_[entry.number], headers_[entry.number], to);
  }

 private:
  ZipFile file_;
  std::vector<SharedBytes> members_;
  std::vector<NpyHeader> headers_;
};

class Hdf5Arrays : public ArrayFile {
 public:
  Hdf5Arrays(const std::string& path, const char* tag, const ExpansionLimit& limit)
      : ArrayFile(path), file_(path, tag, limit) {
    const Hdf5Object& root = file_.root();
    for (const std::string& name : root.attribute_names()) {
      const Hdf5Attribute a = *root.attribute(name);
      if (a.shape().rank() == 0 &&
          (a.type().kind == Hdf5Type::Class::kString || a.type().kind == Hdf5Type::Class::kVariableString))
        metadata_[name] = a.string();
    }
    collect(root);
  }
  void read(const Entry& entry, void* to) const override { arrays_[entry.number].read(to); }

 private:
  void collect(const Hdf5Object& group) {
    if (!groups_.insert(group.address()).second)
      throw DataLossError(path() + ": two paths lead to the group \"" + group.path() + "\"");
    constexpr size_t kMaxDepth = 64;
    if (std::count(group.path().begin(), group.path().end(), '/') > long(kMaxDepth))
      throw DataLossError(path() + ": groups are nested deeper than 64: " + group.path());
    for (const std::string& name : group.names()) {
      const Hdf5Object inner = group.at(name);
      if (inner.is_group()) {
        collect(inner);
      } else if (inner.is_array()) {
        DType dtype = inner.type().dtype;
        if (inner.type().kind == Hdf5Type::Class::kOpaque && inner.type().size == 2) dtype = DType::kBfloat16;
        if (dtype == DType::kInvalid)
          throw UnimplementedError(path() + ": \"" + inner.path() + "\" is an array of " + inner.type().text);
        arrays_.push_back(inner);
        add({inner.path(), dtype, inner.shape(), arrays_.size() - 1});
      }
    }
  }
  Hdf5File file_;
  std::vector<Hdf5Object> arrays_;
  std::set<uint64_t> groups_;
};

void write_npz(const std::string& path, std::span<const SafetensorsArray> arrays, const Metadata& metadata,
               const char* tag) {
  ZipWriter zip(path, tag);
  for (const SafetensorsArray& a : arrays) {
    const std::string header = npy_header(a.dtype, a.shape);
    if (header.empty())
      fail_invalid(tag, a.name + " is " + std::string(name_of(a.dtype)) + ", which numpy does not have");
    const std::string_view parts[] = {
        header, {static_cast<const char*>(a.data), size_t(a.shape.num_elements()) * size_of(a.dtype)}};
    zip.add(a.name + ".npy", parts);
  }
  for (const auto& [key, text] : metadata) zip.add(std::string(kNpzMetadata) + key, text);
  zip.commit();
}

void write_named_hdf5(const std::string& path, std::span<const SafetensorsArray> arrays,
                      const Metadata& metadata, const char* tag) {
  Hdf5Group root;
  for (const auto& [key, text] : metadata) root.attributes[key] = text;
  for (const SafetensorsArray& a : arrays) {
    Hdf5Array& array = root.array(a.name);
    if (array.dtype != DType::kInvalid) fail_invalid(tag, "the name \"" + a.name + "\" is taken");
    array = {a.dtype, a.shape, a.data};
    if (a.dtype == DType::kBfloat16) array.attributes["dtype"] = "bfloat16";
  }
  write_hdf5(path, root, tag);
}

}  // namespace

void ArrayFile::add(Entry entry) {
  by_name_[entry.name] = entries_.size();
  entries_.push_back(std::move(entry));
}

const ArrayFile::Entry* ArrayFile::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &entries_[at->second];
}

ArrayFormat array_format(std::string_view path) {
  if (path.ends_with(".npz")) return ArrayFormat::kNpz;
  return path.ends_with(".h5") || path.ends_with(".hdf5") ? ArrayFormat::kHdf5 : ArrayFormat::kSafetensors;
}

std::unique_ptr<ArrayFile> open_array_file(const std::string& path, const char* tag,
                                           const ExpansionLimit& limit) {
  switch (array_format(path)) {
    case ArrayFormat::kNpz: return std::make_unique<NpzArrays>(path, tag, limit);
    case ArrayFormat::kHdf5: return std::make_unique<Hdf5Arrays>(path, tag, limit);
    default: return std::make_unique<SafetensorsArrays>(path, tag);
  }
}

void write_array_file(const std::string& path, std::span<const SafetensorsArray> arrays,
                      const Metadata& metadata, const char* tag) {
  switch (array_format(path)) {
    case ArrayFormat::kNpz: return write_npz(path, arrays, metadata, tag);
    case ArrayFormat::kHdf5: return write_named_hdf5(path, arrays, metadata, tag);
    default: write_safetensors(path, arrays, metadata, tag);
  }
}

}  // namespace rw::format
