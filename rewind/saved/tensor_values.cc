#include "rewind/saved/tensor_values.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/device/parallel.h"
#include "rewind/format/crc32c.h"
#include "rewind/runtime/storage.h"
#include "rewind/runtime/variable_cell.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::saved {
namespace {

bool has_bytes(DType dtype) {
  return dtype != DType::kInvalid && dtype != DType::kString && dtype != DType::kResource &&
         dtype != DType::kVariant;
}

// Small enough that a checksum is taken of what is still in the cache.
constexpr uint64_t kPiece = 1 << 19;

// Reads pieces on several threads, and checks the checksum. Without `to` only that.
void read_pieces(const format::BundleReader& bundle, std::string_view key,
                 const format::BundleReader::Entry& entry, char* to) {
  const auto count = int64_t((entry.size + kPiece - 1) / kPiece);
  const auto size_of_piece = [&](int64_t i) {
    return size_t(std::min(kPiece, entry.size - uint64_t(i) * kPiece));
  };
  std::vector<uint32_t> sums(static_cast<size_t>(count));
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<char[]> own(to ? nullptr : new char[kPiece]);
    for (int64_t i = begin; i < end; ++i) {
      char* const piece = to ? to + uint64_t(i) * kPiece : own.get();
      bundle.read_piece(entry, uint64_t(i) * kPiece, piece, size_of_piece(i));
      sums[size_t(i)] = format::crc32c(piece, size_of_piece(i));
    }
  });
  uint32_t crc = 0;
  for (int64_t i = 0; i < count; ++i) crc = format::crc32c_combine(crc, sums[size_t(i)], size_of_piece(i));
  bundle.check_sum(key, entry, crc);
}

}  // namespace

void read_elements(const format::BundleReader& bundle, std::string_view key, void* to) {
  const auto* entry = bundle.find(key);
  if (entry && entry->slices.empty() && entry->size > kPiece)
    read_pieces(bundle, key, *entry, static_cast<char*>(to));
  else bundle.read(key, to);
}

bool read_in_place(const format::BundleReader& bundle, std::string_view key, const Variable& variable) {
  // Smaller ones are read beside the old value, which stays whole if the file is damaged, in one pass.
  constexpr uint64_t kLarge = 32 << 20;
  const auto* entry = bundle.find(key);
  if (!entry || entry->size < kLarge || !entry->slices.empty() || !has_bytes(variable.dtype())) return false;
  VariableCell& cell = variable_of(variable.handle().impl()->view(), "restore");
  const std::lock_guard lock(cell.mutex);
  const Value& value = cell.value;
  const Storage* const storage = value.storage.get();
  const bool alone = storage && storage->unique() && !storage->recipe && !value.movable() &&
                     !storage->buffer.foreign() && value.device() == &cpu_device();
  if (!alone || int(value.dtype) != int(entry->dtype) || !(value.shape == entry->shape)) return false;
  read_pieces(bundle, key, *entry, nullptr);
  read_pieces(bundle, key, *entry, static_cast<char*>(value.data));
  return true;
}

format::BundleTensor to_bundle(const std::string& key, const Tensor& value, const char* tag) {
  format::BundleTensor out{
      .name = key, .dtype = format::DataType(int(value.dtype())), .shape = value.shape()};
  if (value.dtype() == DType::kString) out.strings = value.to_vector<std::string>();
  else if (has_bytes(value.dtype())) out.data = value.host_data();
  else
    fail_invalid(
        tag, "\"" + key + "\" is " + std::string(name_of(value.dtype())) + ", which checkpoints cannot hold");
  return out;
}

Tensor from_bundle(const format::BundleReader& bundle, std::string_view key, const char* tag) {
  const auto* entry = bundle.find(key);
  if (!entry) fail_not_found(tag, bundle.prefix() + " has no value named \"" + std::string(key) + "\"");
  if (int(entry->dtype) == int(DType::kString))
    return tensor_from_strings(bundle.read_strings(key), entry->shape);
  const auto dtype =
      int(entry->dtype) > 0 && int(entry->dtype) < 24 ? DType(int(entry->dtype)) : DType::kInvalid;
  if (!has_bytes(dtype))
    fail_invalid(
        tag,
        bundle.prefix() + ": \"" + std::string(key) + "\" is " +
            (dtype == DType::kInvalid
                 ? "of type number " + std::to_string(int(entry->dtype)) + ", which tensors here do not have"
                 : std::string(name_of(dtype)) + ", which only the process that wrote it can read"));
  Value value = Value::allocate(cpu_device(), dtype, entry->shape);
  read_elements(bundle, key, value.data);
  return make_tensor(std::move(value));
}

}  // namespace rw::saved
