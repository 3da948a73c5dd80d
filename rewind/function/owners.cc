#include "rewind/function/owners.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace rw {
namespace {

struct Owners {
  std::mutex mutex;
  std::unordered_map<const void*, const void*> source_of;  // by module
};
Owners& owners() {
  static auto* const all = new Owners;  // modules with static storage may outlive it otherwise
  return *all;
}

}  // namespace

void note_owner(const void* module, const void* source) {
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  all.source_of[module] = source;
}

void forget_owner(const void* module) {
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  all.source_of.erase(module);
}

bool is_copy_of_owner(const void* address, const void* source, const void* virtual_table) {
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  const auto it = all.source_of.find(address);
  if (it == all.source_of.end()) return false;
  if (it->second == source) return true;
  const void* table = nullptr;
  std::memcpy(&table, address, sizeof(table));
  return table == virtual_table;
}

}  // namespace rw
