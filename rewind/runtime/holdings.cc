#include "rewind/runtime/holdings.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "rewind/base/readable.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/history.h"
#include "rewind/runtime/program.h"
#include "rewind/runtime/variable_cell.h"

namespace rw {
namespace {

constexpr size_t kShards = 8;
constexpr size_t kNamed = 8;  // entries of a refusal

// Open addressing with linear probing; a removal moves later entries of the run up.
class Table {
 public:
  void add(Holding&& h) {
    const std::lock_guard lock(mutex_);
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    place(std::move(h));
    ++count_;
  }
  void remove(const Storage* s) noexcept {
    const std::lock_guard lock(mutex_);
    size_t hole = find(s);
    if (hole == kNone) return;
    --count_;
    for (size_t at = next(hole); slots_[at].storage; at = next(at)) {
      const size_t home = home_of(slots_[at].storage);
      // An entry may move to the hole unless its home lies cyclically in (hole, at].
      if (hole <= at ? (hole < home && home <= at) : (hole < home || home <= at)) continue;
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
    slots_[hole] = Holding();
  }
  void name(const Storage* s, const Op& op) {
    const std::lock_guard lock(mutex_);
    if (const size_t at = find(s); at != kNone) slots_[at].op = &op;
  }
  void copy_to(std::vector<Holding>& list) {
    const std::lock_guard lock(mutex_);
    for (const Holding& h : slots_)
      if (h.storage) list.push_back(h);
  }

 private:
  static constexpr size_t kNone = ~size_t{0};
  size_t home_of(const Storage* s) const {
    return (reinterpret_cast<uintptr_t>(s) >> 4) * 0x9E3779B97F4A7C15u >> shift_;
  }
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  size_t find(const Storage* s) const {
    if (slots_.empty()) return kNone;
    for (size_t i = home_of(s); slots_[i].storage; i = next(i))
      if (slots_[i].storage == s) return i;
    return kNone;
  }
  void place(Holding&& h) {
    size_t i = home_of(h.storage);
    while (slots_[i].storage) i = next(i);
    slots_[i] = std::move(h);
  }
  void grow() {
    std::vector<Holding> old(std::max<size_t>(16, slots_.size() * 2));
    old.swap(slots_);
    shift_ = 64;
    for (size_t n = slots_.size(); n > 1; n /= 2) --shift_;
    for (Holding& h : old)
      if (h.storage) place(std::move(h));
  }

  std::mutex mutex_;
  std::vector<Holding> slots_;
  size_t count_ = 0;
  int shift_ = 64;
};

Table& table_at(size_t shard) {
  static auto* tables = new Table[kShards];  // outlive every tensor
  return tables[shard];
}
Table& table_of(const Storage* storage) {
  return table_at((reinterpret_cast<uintptr_t>(storage) >> 7) % kShards);
}

std::string type_words(DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + shape.to_string();
}

}  // namespace

void list_holding(Holding holding) {
  holding.storage->listed = true;
  table_of(holding.storage).add(std::move(holding));
}

void drop_holding(Storage& storage) noexcept {
  table_of(&storage).remove(&storage);
  storage.listed = false;
}

void name_maker(const Storage& storage, const Op& op) { table_of(&storage).name(&storage, op); }

std::vector<Holding> list_holdings() {
  std::vector<Holding> list;
  for (size_t i = 0; i < kShards; ++i) table_at(i).copy_to(list);
  return list;
}

std::string describe_holdings() {
  struct Group {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  std::map<std::string, Group> groups;
  auto add = [&](const std::string& name, int64_t bytes) {
    Group& g = groups[name];
    ++g.count;
    g.bytes += block_bytes(cpu_device(), bytes);
  };
  std::unordered_map<const Storage*, std::string> variables;
  for (const VariableHolding& v : variable_holdings()) variables.emplace(v.storage, v.name);
  for (const Holding& h : list_holdings()) {
    const int64_t bytes = h.shape.num_elements() * int64_t(size_of(h.dtype));
    const std::string type = type_words(h.dtype, h.shape);
    const auto variable = variables.find(h.storage);
    if (variable != variables.end()) add("variable " + variable->second + " " + type, bytes);
    else add("tensor " + type + (h.op ? " of " + h.op->name : ""), bytes);
  }
  for (const PinnedValue& p : history_pinned())
    add("tensor " + type_words(p.form.dtype, p.form.shape) + " of " + p.op->name +
            " (in use by this op or others)",
        p.form.bytes);
  if (const int64_t frames = Program::frame_bytes(); frames > 0) groups["arenas of functions"] = {1, frames};
  std::vector<std::pair<std::string, Group>> list(groups.begin(), groups.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::string text;
  Group rest;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& [name, g] = list[i];
    if (i >= kNamed) {
      rest.count += g.count;
      rest.bytes += g.bytes;
      continue;
    }
    text += text.empty() ? "" : ", ";
    text += readable_bytes(g.bytes) + " " + (g.count > 1 ? std::to_string(g.count) + " times " : "") + name;
  }
  if (rest.count > 0)
    text += ", " + readable_bytes(rest.bytes) + " in " + std::to_string(rest.count) + " more";
  return text;
}

}  // namespace rw
