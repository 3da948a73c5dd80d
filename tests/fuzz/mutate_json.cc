#include "tests/fuzz/mutate_json.h"

#include "rewind/base/error.h"

namespace rw::fuzz {
namespace {

using format::Json;

// All values of a tree.
void collect(Json* value, std::vector<Json*>* all) {
  all->push_back(value);
  if (Json::Array* list = value->list())
    for (Json& inner : *list) collect(&inner, all);
  if (Json::Object* members = value->members())
    for (auto& [name, inner] : *members) collect(&inner, all);
}

Json another(const Json& value, Random& random) {
  const Json of[] = {nullptr,
                     true,
                     0,
                     1,
                     -1,
                     3,
                     int64_t{1} << 40,
                     INT64_MIN,
                     0.5,
                     1e300,
                     "",
                     "relu",
                     "Dense",
                     Json::object(),
                     Json::array(),
                     Json(Json::Array{value, value})};
  return of[below(random, std::size(of))];
}

}  // namespace

std::string mutate_json(std::string_view text, Random& random) {
  Json root;
  try {
    root = format::parse_json(text, "fuzz");
  } catch (const Error&) { return mutate_bytes(text, random); }
  for (size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    std::vector<Json*> all;
    collect(&root, &all);
    Json* at = all[below(random, all.size())];
    const Json copy = *all[below(random, all.size())];
    if (Json::Object* members = at->members(); members && !members->empty() && below(random, 3) != 0) {
      const size_t member = below(random, members->size());
      if (below(random, 2) == 0) members->erase(members->begin() + long(member));
      else (*members)[member].second = copy;
    } else if (Json::Array* list = at->list(); list && below(random, 3) != 0) {
      if (!list->empty() && below(random, 2) == 0)
        list->erase(list->begin() + long(below(random, list->size())));
      else list->push_back(copy);
    } else if (below(random, 2) == 0) {
      *at = copy;
    } else {
      *at = another(*at, random);
    }
  }
  return format::to_text(root);
}

}  // namespace rw::fuzz
