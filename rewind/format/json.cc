#include "rewind/format/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/format/json_cursor.h"

namespace rw::format {

const char* Json::kind() const {
  const char* const kinds[] = {"null", "a truth value", "a whole number", "a number",
                               "text", "a list",        "an object"};
  return kinds[value_.index()];
}

const Json* Json::find(std::string_view name) const {
  if (const Object* all = members())
    for (const auto& [key, value] : *all)
      if (key == name) return &value;
  return nullptr;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  Object& all = std::get<Object>(value_);
  for (auto& [key, value] : all)
    if (key == name) return value;
  all.emplace_back(std::string(name), Json());
  return all.back().second;
}

void Json::erase(std::string_view name) {
  if (Object* all = members()) std::erase_if(*all, [&](const auto& m) { return m.first == name; });
}

bool operator==(const Json& a, const Json& b) {
  if (a.integer() && b.real()) return double(*a.integer()) == *b.real();
  if (a.real() && b.integer()) return b == a;
  const Json::Object* left = a.members();
  const Json::Object* right = b.members();
  if (!left || !right) return a.value_ == b.value_;
  return left->size() == right->size() && std::all_of(left->begin(), left->end(), [&](const auto& m) {
           const Json* other = b.find(m.first);
           return other && m.second == *other;
         });
}

// ---- reading ----------------------------------------------------------------------------------------------

namespace {

class Reader {
 public:
  Reader(std::string_view text, JsonCursor::Fail fail, int max_nesting)
      : cursor_(text, std::move(fail)), max_nesting_(max_nesting) {}

  Json whole() {
    Json value = read(0);
    if (!cursor_.at_end()) cursor_.fail(cursor_.at(), "the JSON text goes on behind its value");
    return value;
  }

 private:
  Json read(int depth) {
    const size_t begin = cursor_.at();
    if (depth > max_nesting_)
      cursor_.fail(begin, "values are nested more than " + std::to_string(max_nesting_) + " deep");
    switch (cursor_.peek()) {
      case '{': {
        Json::Object members;
        cursor_.object([&](const std::string& name) { members.emplace_back(name, read(depth + 1)); });
        return members;
      }
      case '[': {
        Json::Array list;
        cursor_.array([&] { list.push_back(read(depth + 1)); });
        return list;
      }
      case '"': return cursor_.string();
      default: return word();
    }
  }

  Json word() {
    const size_t begin = cursor_.at();
    const std::string_view word = cursor_.word();
    if (word == "null") return nullptr;
    if (word == "true") return true;
    if (word == "false") return false;
    if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (word == "Infinity") return std::numeric_limits<double>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (!is_number(word)) cursor_.fail(begin, "expected a value in the JSON text");
    if (int64_t whole = 0; parse_number(word, &whole)) return whole;
    double real = 0;
    read_number(word, &real);
    return real;
  }

  // -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
  static bool is_number(std::string_view t) {
    size_t at = 0;
    auto digits = [&] {
      const size_t begin = at;
      while (at < t.size() && t[at] >= '0' && t[at] <= '9') ++at;
      return at - begin;
    };
    if (at < t.size() && t[at] == '-') ++at;
    const size_t first = at;
    const size_t whole = digits();
    if (whole == 0 || (whole > 1 && t[first] == '0')) return false;
    if (at < t.size() && t[at] == '.') {
      ++at;
      if (digits() == 0) return false;
    }
    if (at < t.size() && (t[at] == 'e' || t[at] == 'E')) {
      ++at;
      if (at < t.size() && (t[at] == '+' || t[at] == '-')) ++at;
      if (digits() == 0) return false;
    }
    return at == t.size();
  }

  JsonCursor cursor_;
  int max_nesting_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& what, const JsonLimits& limits) {
  const auto fail = [&](size_t byte, const std::string& why) {
    throw DataLossError("[json] " + what + ": byte " + std::to_string(byte) + ": " + why);
  };
  if (text.size() > limits.max_bytes)
    fail(limits.max_bytes, "the text has " + std::to_string(text.size()) + " bytes, more than the limit of " +
                               std::to_string(limits.max_bytes));
  return Reader(text, fail, limits.max_nesting).whole();
}

// ---- writing ----------------------------------------------------------------------------------------------

namespace {

std::string real_text(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  const std::string text = round_trip_text(x);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

void append(std::string* out, const Json& value) {
  if (const bool* b = value.boolean()) *out += *b ? "true" : "false";
  else if (const int64_t* i = value.integer()) *out += std::to_string(*i);
  else if (const double* r = value.real()) *out += real_text(*r);
  else if (const std::string* s = value.text()) *out += json_string(*s);
  else if (const Json::Array* list = value.list()) {
    *out += '[';
    for (size_t i = 0; i < list->size(); ++i) {
      if (i) *out += ", ";
      append(out, (*list)[i]);
    }
    *out += ']';
  } else if (const Json::Object* members = value.members()) {
    *out += '{';
    for (size_t i = 0; i < members->size(); ++i) {
      if (i) *out += ", ";
      *out += json_string((*members)[i].first) + ": ";
      append(out, (*members)[i].second);
    }
    *out += '}';
  } else {
    *out += "null";
  }
}

}  // namespace

std::string to_text(const Json& value) {
  std::string out;
  append(&out, value);
  return out;
}

}  // namespace rw::format
