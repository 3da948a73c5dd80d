// Arguments and results of a SavedModel's functions: tensors, Python values (None, bool, int, float, str,
// dtypes, shapes), and lists, tuples and dicts of these. In C++ they are written as what they are:
//
//   step.call({x, y}, {{"training", true}, {"rates", std::vector<rw::saved_model::Value>{0.1, 0.2}}});
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "rewind/function/concrete_function.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"

namespace rw::format {
struct StructuredValue;
}

namespace rw::saved_model {

class Value;

struct Nothing {};
struct List {
  std::vector<Value> elements;
  bool tuple = false;
  // Of a named tuple; elements and names go together.
  std::string type_name = {};
  std::vector<std::string> names = {};
};
using Dict = std::map<std::string, Value>;
// A composite tensor (ragged, sparse, ...): in a call, a list of its component tensors.
struct Composite {
  std::string name;
  int components = 0;
};

class Value {
 public:
  Value() = default;                                      // None
  Value(std::nullptr_t) {}                                // NOLINT: arguments are written as plain C++ values
  Value(Tensor tensor);                                   // NOLINT
  Value(const Variable& variable);                        // NOLINT: its value
  Value(TensorSpec spec);                                 // NOLINT
  Value(DType dtype) : value_(dtype) {}                   // NOLINT
  Value(Shape shape) : value_(std::move(shape)) {}        // NOLINT
  Value(const char* text) : value_(std::string(text)) {}  // NOLINT
  Value(std::string text) : value_(std::move(text)) {}    // NOLINT
  Value(std::string_view text) : value_(std::string(text)) {}  // NOLINT
  template <std::same_as<bool> T>
  Value(T value) : value_(value) {}  // NOLINT
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : value_(int64_t(value)) {}  // NOLINT
  template <std::floating_point T>
  Value(T value) : value_(double(value)) {}                                      // NOLINT
  Value(List list) : value_(std::move(list)) {}                                  // NOLINT
  Value(std::vector<Value> list) : value_(List{.elements = std::move(list)}) {}  // NOLINT
  Value(Dict dict) : value_(std::move(dict)) {}                                  // NOLINT
  Value(Composite composite) : value_(std::move(composite)) {}                   // NOLINT
  template <class T>
    requires(!std::same_as<T, Value> && std::convertible_to<T, Value>)
  Value(const std::vector<T>& list) : value_(List{.elements = {list.begin(), list.end()}}) {}  // NOLINT
  template <class T>
    requires(!std::same_as<T, Value> && std::convertible_to<T, Value>)
  Value(const std::map<std::string, T>& dict) : value_(Dict(dict.begin(), dict.end())) {}  // NOLINT

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  bool is_none() const { return std::holds_alternative<Nothing>(value_); }
  // Each throws InvalidArgumentError when the value is something else.
  const Tensor& tensor() const;
  const Value& at(const std::string& key) const;  // of a dict or a named tuple
  const Value& operator[](size_t index) const;    // of a list or tuple
  operator Tensor() const { return tensor(); }    // NOLINT: a result that is one tensor is used as one

  // The tensors in it: lists in order, dicts by their keys.
  std::vector<Tensor> flat() const;
  // As Python prints it.
  std::string to_string() const;

 private:
  std::variant<Nothing, bool, int64_t, double, std::string, DType, Shape, TensorSpec, Tensor, List, Dict,
               Composite>
      value_;
};

// Throws InvalidArgumentError for what the format does not allow.
Value from_structured_value(const format::StructuredValue& proto);

}  // namespace rw::saved_model
