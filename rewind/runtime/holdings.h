// Large storages that stay where they are, listed so that a refusal can say what holds the memory: type,
// shape and the op that made them. What the history may drop (runtime/history.h) is not on the list.
#pragma once

#include <string>
#include <vector>

#include "rewind/op/op.h"
#include "rewind/runtime/storage.h"

namespace rw {

struct Holding {
  Storage* storage = nullptr;
  const Op* op = nullptr;  // that made it; nullptr where nobody said
  DType dtype = DType::kInvalid;
  Shape shape;
};

// Smaller ones are not listed: their sum goes without names.
inline constexpr size_t kListedFrom = size_t{16} << 10;

void list_holding(Holding holding);
void drop_holding(Storage& storage) noexcept;
inline void unlist_holding(Storage& storage) noexcept {
  if (storage.listed) drop_holding(storage);
}
// Says which op made it.
void name_maker(const Storage& storage, const Op& op);
std::vector<Holding> list_holdings();

// For a refusal: what cannot be dropped, largest first, with how much each.
std::string describe_holdings();

}  // namespace rw
