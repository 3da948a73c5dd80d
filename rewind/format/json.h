// A JSON value: null, a truth value, a number, text, a list, or an object, whose members keep the order in
// which they stand. Text is read strictly (RFC 8259), with the NaN and Infinity that Python writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rw::format {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // names differ

  Json() = default;                    // null
  Json(std::nullptr_t) {}              // NOLINT: values are written as they are
  Json(bool value) : value_(value) {}  // NOLINT
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Json(T value) : value_(int64_t(value)) {}                   // NOLINT
  Json(double value) : value_(value) {}                       // NOLINT
  Json(const char* text) : value_(std::string(text)) {}       // NOLINT
  Json(std::string text) : value_(std::move(text)) {}         // NOLINT
  Json(std::string_view text) : value_(std::string(text)) {}  // NOLINT
  Json(Array list) : value_(std::move(list)) {}               // NOLINT
  Json(Object members) : value_(std::move(members)) {}        // NOLINT
  static Json object() { return Json(Object()); }
  static Json array() { return Json(Array()); }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  // Null unless the value is of this kind.
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  const double* real() const { return std::get_if<double>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const Array* list() const { return std::get_if<Array>(&value_); }
  Array* list() { return std::get_if<Array>(&value_); }
  const Object* members() const { return std::get_if<Object>(&value_); }
  Object* members() { return std::get_if<Object>(&value_); }
  // "null", "a number", "a list", ...: for messages.
  const char* kind() const;

  // The value of a member; null if this is no object or has no such member.
  const Json* find(std::string_view name) const;
  // The member of an object, made if it is not there; null becomes an object.
  Json& operator[](std::string_view name);
  void erase(std::string_view name);

  // Numbers are equal by value, 1 == 1.0; objects whatever their order.
  friend bool operator==(const Json& a, const Json& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

struct JsonLimits {
  size_t max_bytes = size_t(256) << 20;
  int max_nesting = 200;
};
// Throws DataLossError that says what the text belongs to and at which byte it is wrong.
Json parse_json(std::string_view text, const std::string& what, const JsonLimits& limits = {});

// On one line, as Python's json.dumps.
std::string to_text(const Json& value);

}  // namespace rw::format
