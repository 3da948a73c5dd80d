#include "rewind/keras/tensor_structure.h"

#include <algorithm>
#include <map>

namespace rw::keras {
namespace {

using Kind = TensorStructure::Kind;

Config write_structure(const TensorStructure& s, size_t* at, const std::function<Config(size_t)>& next) {
  if (s.kind == Kind::kPlain) return next((*at)++);
  if (s.kind == Kind::kDict) {
    Config out = Config::object();
    for (size_t i = 0; i < s.items.size(); ++i) out[s.keys[i]] = write_structure(s.items[i], at, next);
    return out;
  }
  Config::Array out;
  for (const TensorStructure& item : s.items) out.push_back(write_structure(item, at, next));
  return out;
}

void add_paths(const TensorStructure& s, const std::string& path, bool named,
               const std::vector<std::string>& names, std::vector<std::string>* out) {
  if (s.kind == Kind::kPlain) {
    const std::string own = named || out->size() >= names.size() ? "" : names[out->size()];
    out->push_back(path + (path.empty() || own.empty() ? "" : "/") + own);
    return;
  }
  for (size_t i = 0; i < s.items.size(); ++i) {
    const bool by_key = s.kind == Kind::kDict;
    add_paths(s.items[i], by_key ? path + (path.empty() ? "" : "/") + s.keys[i] : path, by_key, names, out);
  }
}

}  // namespace

std::vector<std::string> TensorStructure::paths(const std::vector<std::string>& names) const {
  std::vector<std::string> out;
  add_paths(*this, "", false, names, &out);
  return out;
}

bool TensorStructure::is_nested() const {
  return std::any_of(items.begin(), items.end(),
                     [](const TensorStructure& item) { return item.kind != Kind::kPlain; });
}

bool is_tensor_leaf(const Config& c) { return c.list() && c.list()->size() == 3 && (*c.list())[0].text(); }

TensorStructure read_structure(const Config& c, const std::function<void(const Config& leaf)>& add) {
  TensorStructure out;
  if (is_tensor_leaf(c)) {
    add(c);
  } else if (c.members()) {
    out.kind = Kind::kDict;
    std::map<std::string, const Config*> sorted;
    for (const auto& [key, value] : *c.members()) sorted[key] = &value;
    for (const auto& [key, value] : sorted) {
      out.keys.push_back(key);
      out.items.push_back(read_structure(*value, add));
    }
  } else if (c.list()) {
    out.kind = Kind::kList;
    for (const Config& item : *c.list()) out.items.push_back(read_structure(item, add));
  } else {
    fail_config("tensors of the model", c);
  }
  return out;
}

Config structure_config(const TensorStructure& structure, size_t count,
                        const std::function<Config(size_t)>& next) {
  size_t at = 0;
  if (structure.kind != Kind::kPlain || count == 1) return write_structure(structure, &at, next);
  Config::Array list;
  while (at < count) list.push_back(next(at++));
  return list;
}

}  // namespace rw::keras
