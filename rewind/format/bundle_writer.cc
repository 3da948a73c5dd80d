#include "rewind/format/bundle_writer.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <map>
#include <memory>
#include <system_error>

#include "rewind/base/ascii.h"
#include "rewind/base/dtype.h"
#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/table.h"
#include "rewind/format/tensor_bundle_fields.h"
#include "rewind/format/wire.h"

namespace rw::format {
namespace {

constexpr DataType kStringType = DataType(int(DType::kString));

TensorShapeProto shape_proto(const Shape& shape) {
  TensorShapeProto proto;
  for (int i = 0; i < shape.rank(); ++i) proto.dim.push_back({.size = shape[i], .name = {}});
  return proto;
}

// ---- which files ------------------------------------------------------------------------------------------

std::string folder_part(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// "of" in PREFIX.data-?????-of-?????, or 0 for another name.
int shards_in_name(std::string_view name, std::string_view prefix) {
  constexpr size_t kDigits = 5;
  constexpr std::string_view kData = ".data-", kOf = "-of-";
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  if (name.size() != kData.size() + 2 * kDigits + kOf.size() || !name.starts_with(kData)) return 0;
  name.remove_prefix(kData.size());
  if (name.substr(kDigits, kOf.size()) != kOf) return 0;
  int of = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i >= kDigits && i < kDigits + kOf.size()) continue;
    if (!ascii::is_digit(name[i])) return 0;
    if (i > kDigits) of = of * 10 + (name[i] - '0');
  }
  return of;
}

// The data files of a prefix, whatever their number.
std::vector<std::pair<std::string, int>> data_files(const std::string& prefix) {
  const std::string folder = folder_part(prefix), name = prefix.substr(prefix.rfind('/') + 1);
  std::vector<std::pair<std::string, int>> files;
  DIR* const entries = opendir(folder.c_str());
  if (!entries) return files;
  while (const dirent* entry = readdir(entries))
    if (const int of = shards_in_name(entry->d_name, name))
      files.emplace_back(folder + "/" + entry->d_name, of);
  closedir(entries);
  return files;
}

// The least number of data files, from `least` on, whose names the index that is there does not mention; of
// one that cannot be read, whose files are not there.
int free_number(const std::string& prefix, int least, const char* tag) {
  struct stat info = {};
  if (stat(bundle_index_path(prefix).c_str(), &info) != 0) return least;
  try {
    const int taken = bundle_shards(prefix, tag);
    return least == taken ? least + 1 : least;
  } catch (const Error&) {}  // damaged: nothing can be lost but what somebody may want to look at
  const auto files = data_files(prefix);
  while (std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.second == least; })) ++least;
  return least;
}

// ---- elements ---------------------------------------------------------------------------------------------

// What a tensor of strings is in the file, and its checksum (see tensor_bundle.h).
std::string string_bytes(const std::vector<std::string>& strings, uint32_t* crc) {
  std::string bytes;
  std::string fixed;
  for (const std::string& s : strings) {
    put_varint(bytes, s.size());
    if (s.size() <= UINT32_MAX) put_fixed(fixed, uint32_t(s.size()));
    else put_fixed(fixed, uint64_t(s.size()));
  }
  *crc = crc32c(fixed);
  std::string of_lengths;
  put_fixed(of_lengths, mask_crc(*crc));
  *crc = crc32c(of_lengths, *crc);
  bytes += of_lengths;
  for (const std::string& s : strings) {
    *crc = crc32c(s, *crc);
    bytes += s;
  }
  return bytes;
}

uint64_t bytes_of(const BundleTensor& t) {
  return uint64_t(t.shape.num_elements()) * size_of(DType(int(t.dtype)));
}

class Writer {
 public:
  Writer(const std::string& prefix, std::vector<BundleTensor> tensors, const char* tag)
      : prefix_(prefix), tensors_(std::move(tensors)), tag_(tag) {}

  void write(const BundleWriteOptions& options) {
    check_names();
    plan(options.max_shard_bytes);
    const int shards = free_number(prefix_, shard_.empty() ? 1 : shard_.back() + 1, tag_);
    std::vector<std::unique_ptr<AtomicFile>> files;
    for (int i = 0; i < shards; ++i)
      files.push_back(std::make_unique<AtomicFile>(bundle_data_path(prefix_, i, shards), tag_));
    std::vector<uint64_t> size(files.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto shard = size_t(shard_[i]);
      const uint64_t from = size[shard];
      const uint32_t crc = write_elements(*files[shard], tensors_[i], &size[shard]);
      note(tensors_[i], int(shard), from, size[shard] - from, crc);
    }
    bool mentioned = false;  // by an index
    try {
      for (const auto& file : files) file->commit();
      AtomicFile index(bundle_index_path(prefix_), tag_);
      const std::string table = make_index(shards);
      index.write(table.data(), table.size());
      try {
        index.commit();
      } catch (...) {
        mentioned = index.has_its_name();
        throw;
      }
    } catch (...) {
      if (!mentioned)
        for (int i = 0; i < shards; ++i)
          if (files[size_t(i)]->has_its_name()) unlink(bundle_data_path(prefix_, i, shards).c_str());
      throw;
    }
    for (const auto& [path, of] : data_files(prefix_))
      if (of != shards) unlink(path.c_str());
  }

 private:
  void check_names() const {
    std::map<std::string_view, bool> has_slice;
    for (const BundleTensor& t : tensors_) {
      const auto [it, is_new] = has_slice.emplace(t.name, t.slice.has_value());
      if (!is_new && !(it->second && t.slice)) fail_invalid(tag_, "two tensors are named \"" + t.name + "\"");
    }
  }

  // Which file each tensor goes to.
  void plan(uint64_t most) {
    int shard = 0;
    uint64_t filled = 0;
    for (const BundleTensor& t : tensors_) {
      if (most > 0 && filled >= most) {
        ++shard;
        filled = 0;
      }
      shard_.push_back(shard);
      filled += t.dtype == kStringType ? 1 : bytes_of(t);
    }
  }

  uint32_t write_elements(AtomicFile& file, const BundleTensor& t, uint64_t* size) {
    uint32_t crc = 0;
    if (t.dtype == kStringType) {
      const std::string bytes = string_bytes(t.strings, &crc);
      file.write(bytes.data(), bytes.size());
      *size += bytes.size();
      return crc;
    }
    const auto* at = static_cast<const char*>(t.data);
    const uint64_t bytes = bytes_of(t);
    *size += bytes;
    std::future<uint32_t> aside = checksum_aside(at, bytes);
    // Piece by piece, so that the checksum is taken of what is in the cache.
    constexpr uint64_t kPiece = 1 << 20;
    for (uint64_t rest = bytes; rest > 0;) {
      const auto piece = size_t(std::min(kPiece, rest));
      if (!aside.valid()) crc = crc32c(at, piece, crc);
      file.write(at, piece);
      at += piece;
      rest -= piece;
    }
    return aside.valid() ? aside.get() : crc;
  }

  // The checksum of many bytes, taken by another thread while they are written; invalid for few, and where
  // the system gives no thread.
  static std::future<uint32_t> checksum_aside(const char* data, uint64_t size) {
    constexpr uint64_t kMany = 4 << 20;  // a thread begins in a hundredth of the time that they take
    if (size < kMany) return {};
    try {
      return std::async(std::launch::async, [=] { return crc32c(data, size_t(size)); });
    } catch (const std::system_error&) { return {}; }
  }

  void note(const BundleTensor& t, int shard, uint64_t offset, uint64_t size, uint32_t crc) {
    BundleEntryProto entry;
    entry.dtype = t.dtype;
    entry.shape = shape_proto(t.shape);
    entry.shard_id = shard;
    entry.offset = int64_t(offset);
    entry.size = int64_t(size);
    entry.crc32c.value = mask_crc(crc);
    if (!t.slice) {
      entries_[t.name] = std::move(entry);
      return;
    }
    BundleEntryProto& whole = entries_[t.name];
    whole.dtype = t.dtype;
    whole.shape = shape_proto(t.whole);
    whole.slices.push_back(*t.slice);
    entries_[slice_key(t.name, *t.slice)] = std::move(entry);
  }

  std::string make_index(int shards) const {
    BundleHeaderProto header;
    header.num_shards = shards;
    header.version = VersionDef{};
    header.version->producer = 1;
    TableBuilder table;
    table.add("", encode(header));
    for (const auto& [name, entry] : entries_) table.add(name, encode(entry));
    return table.finish();
  }

  std::string prefix_;
  std::vector<BundleTensor> tensors_;
  const char* tag_;
  std::vector<int> shard_;                           // of each tensor
  std::map<std::string, BundleEntryProto> entries_;  // std::string compares bytes as unsigned
};

}  // namespace

void write_bundle(const std::string& prefix, std::vector<BundleTensor> tensors, const char* tag,
                  const BundleWriteOptions& options) {
  Writer(prefix, std::move(tensors), tag).write(options);
}

bool delete_bundle(const std::string& prefix) {
  const auto gone = [](const std::string& path) { return unlink(path.c_str()) == 0 || errno == ENOENT; };
  bool all = gone(bundle_index_path(prefix));
  for (const auto& [path, of] : data_files(prefix)) all = gone(path) && all;
  return all;
}

}  // namespace rw::format
