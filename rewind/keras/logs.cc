#include "rewind/keras/logs.h"

#include "rewind/base/error.h"

namespace rw::keras {

double Logs::operator[](const std::string& name) const {
  if (const auto value = get(name)) return *value;
  std::string known;
  for (const Item& item : items()) known += (known.empty() ? "" : ", ") + item.first;
  throw NotFoundError("the logs have no \"" + name + "\", only: " + (known.empty() ? "nothing" : known));
}

}  // namespace rw::keras
