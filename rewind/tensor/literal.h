// What stands in braces where a tensor is taken: {}, {1, 2}, {{1., 2.}, {3., 4.}}, {"a", "b"}. Literals are
// Python's: 1 is int32, 1.0 float32, other C++ types keep their own; an integer beside a real number is one.
// A literal borrows what it is made from: it lives for one call.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rewind/base/dtype.h"

namespace rw {

class Literal {
 public:
  enum class Kind : uint8_t { kInteger, kReal, kBool, kText, kList };

  // Constrained, so that braces are never taken for a number or (by two pointers) for a string.
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Literal(T value) : dtype_(number_type<T>()) {  // NOLINT: literals are written as they are
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::kReal;
      real_ = double(value);
    } else {
      kind_ = std::is_same_v<T, bool> ? Kind::kBool : Kind::kInteger;
      integer_ = int64_t(value);
    }
  }
  template <class T>
    requires std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>
  Literal(T value) : real_(float(value)), dtype_(dtype_of<T>), kind_(Kind::kReal) {}  // NOLINT
  template <class T>
    requires std::is_convertible_v<const T&, std::string_view> && (!std::is_null_pointer_v<T>)
  constexpr Literal(const T& text) : Literal(std::string_view(text), Kind::kText) {}                 // NOLINT
  constexpr Literal(std::initializer_list<Literal> list) : size_(list.size()), kind_(Kind::kList) {  // NOLINT
    items_ = list.begin();  // which lives as long as the call whose argument it is a part of
  }

  constexpr Kind kind() const { return kind_; }
  constexpr DType dtype() const { return dtype_; }  // of a number alone
  constexpr int64_t integer() const { return integer_; }
  constexpr double real() const { return kind_ == Kind::kReal ? real_ : double(integer_); }
  constexpr std::string_view text() const { return {text_, size_}; }
  constexpr const Literal* begin() const { return items_; }
  constexpr const Literal* end() const { return items_ + size_; }
  constexpr size_t size() const { return size_; }

 private:
  constexpr Literal(std::string_view text, Kind kind)
      : text_(text.data()), size_(text.size()), dtype_(DType::kString), kind_(kind) {}
  template <class T>
  static constexpr DType number_type() {
    if (std::is_floating_point_v<T>) return DType::kFloat32;
    if (dtype_of<T> != DType::kInvalid) return dtype_of<T>;
    return sizeof(T) == 8 ? DType::kInt64 : DType::kInt32;  // char, wchar_t, ...
  }

  union {
    int64_t integer_ = 0;
    double real_;
    const char* text_;
    const Literal* items_;
  };
  size_t size_ = 0;
  DType dtype_ = DType::kInvalid;
  Kind kind_ = Kind::kInteger;
};

namespace detail {

// A list of literals without its nesting.
struct FlatLiterals {
  std::vector<int64_t> dims;
  std::vector<Literal> leaves;
};
// Throws InvalidArgumentError when rows are not equally long or not equally deep.
FlatLiterals flatten(std::initializer_list<Literal> list);
// The type that literals have together: float32 when there are none. Throws InvalidArgumentError for strings
// or bools beside anything else.
DType common_type(std::span<const Literal> leaves);

}  // namespace detail
}  // namespace rw
