#include "tests/fuzz/bundle_parts.h"

#include <map>

#include "rewind/base/error.h"
#include "rewind/format/crc32c.h"
#include "rewind/format/little_endian.h"
#include "rewind/format/object_graph_fields.h"
#include "rewind/format/table.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/format/tensor_bundle_fields.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/table_sums.h"

namespace rw::fuzz {
namespace {

using format::BundleEntryProto;
using format::BundleHeaderProto;

constexpr const char* kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";

// One string as a tensor of strings has it.
void append_string(const std::string& text, BundleEntryProto* entry, std::string* data) {
  std::string length;
  format::put_fixed(length, uint32_t(text.size()));
  std::string bytes, length_sum;
  format::put_varint(bytes, text.size());
  format::put_fixed(length_sum, format::mask_crc(format::crc32c(length)));
  entry->offset = int64_t(data->size());
  entry->size = int64_t(bytes.size() + length_sum.size() + text.size());
  entry->crc32c.value =
      format::mask_crc(format::crc32c(text, format::crc32c(length_sum, format::crc32c(length))));
  *data += bytes + length_sum + text;
}

std::string bytes_of(const BundleEntryProto& entry, const std::string& data) {
  if (entry.offset < 0 || uint64_t(entry.offset) > data.size()) return {};
  return data.substr(size_t(entry.offset), size_t(std::max<int64_t>(entry.size, 0)));
}

void mutate_entry(const std::string& key, BundleEntryProto* entry, std::string* data, Random& random) {
  const std::string bytes = bytes_of(*entry, *data);
  if (key == kObjectGraph && below(random, 4) != 0) {
    std::string_view text(bytes);
    uint64_t length = 0;
    if (format::take_varint(text, &length) && text.size() >= 4)
      return append_string(mutate_message<format::TrackableObjectGraph>(text.substr(4), random), entry, data);
  }
  if (below(random, 3) == 0) {
    const std::string changed = mutate_bytes(bytes, random);
    entry->offset = int64_t(data->size());
    entry->size = int64_t(changed.size());
    *data += changed;
  } else {
    MessageMutator(random).mutate(entry);
  }
}

}  // namespace

void mutate_bundle(std::string* index, std::string* data, Random& random) {
  static const Scratch folder("bundle");
  BundleHeaderProto header;
  std::map<std::string, BundleEntryProto> entries;
  try {
    const format::ReadFile file(folder.put("index", *index), "fuzz");
    format::read_table(file, [&](std::string_view key, std::string_view value) {
      if (key.empty()) header = format::decode<BundleHeaderProto>(value);
      else entries.emplace(key, format::decode<BundleEntryProto>(value));
    });
  } catch (const Error&) {
    *index = mutate_bytes(*index, random);
    return fix_table_sums(index, data);
  }
  const auto any = [&] {
    auto it = entries.begin();
    std::advance(it, below(random, entries.size()));
    return it;
  };
  if (entries.empty() || below(random, 16) == 0) MessageMutator(random).mutate(&header);
  else if (const size_t kind = below(random, 12); kind == 0) entries.erase(any());
  else if (kind == 1) entries[mutate_bytes(any()->first, random)] = BundleEntryProto(any()->second);
  else if (kind == 2) any()->second = BundleEntryProto(any()->second);
  else mutate_entry(any()->first, &any()->second, data, random);
  if (const auto graph = entries.find(kObjectGraph); graph != entries.end() && below(random, 3) == 0)
    mutate_entry(graph->first, &graph->second, data, random);
  format::TableBuilder table;
  table.add("", format::encode(header));
  for (const auto& [key, entry] : entries)
    if (!key.empty()) table.add(key, format::encode(entry));
  *index = table.finish();
  if (below(random, 8) == 0) *index = mutate_bytes(*index, random);
  fix_table_sums(index, data);
}

}  // namespace rw::fuzz
