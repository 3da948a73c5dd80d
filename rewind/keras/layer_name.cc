#include "rewind/keras/layer_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "rewind/base/ascii.h"

namespace rw::keras {
namespace {

// Without template arguments and what it lies in.
std::string last_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  if (const size_t colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
  return std::string(name);
}

struct Counters {
  std::mutex mutex;
  std::map<std::string, int> given;
};
Counters& counters() {
  static auto& c = *new Counters;
  return c;
}

}  // namespace

std::string class_name_of(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return last_name(name);
}

std::string class_name_in(std::string_view signature) {
  const size_t begin = signature.find("D = ") + 4;
  return last_name(signature.substr(begin, signature.rfind(']') - begin));
}

// A capital begins a word if a small letter stands in front of it or behind it.
std::string to_snake_case(const std::string& class_name) {
  std::string out;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const bool small_behind = i + 1 < class_name.size() && ascii::is_lower(class_name[i + 1]);
    if (i > 0 && ascii::is_upper(class_name[i]) && (small_behind || ascii::is_lower(class_name[i - 1])))
      out += '_';
    out += ascii::to_lower(class_name[i]);
  }
  return out;
}

std::string auto_name(const std::string& class_name) {
  const std::string base = to_snake_case(class_name);
  Counters& c = counters();
  const std::lock_guard lock(c.mutex);
  const int number = c.given[base]++;
  return number == 0 ? base : base + "_" + std::to_string(number);
}

void clear_session() {
  Counters& c = counters();
  const std::lock_guard lock(c.mutex);
  c.given.clear();
}

}  // namespace rw::keras
