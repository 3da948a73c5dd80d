// Reads the structure of arguments and results from their C++ types: see structure.h. Tensors have the order
// in which Nest (nest.h) writes them.
#pragma once

#include <string_view>

#include "rewind/function/nest.h"
#include "rewind/function/structure.h"

namespace rw::detail {

class StructureReader {
 public:
  template <class T>
  Structure read(const T& v) {
    using Kind = Structure::Kind;
    if constexpr (std::is_same_v<T, bool>) {
      return {.kind = Kind::kBool, .integer = v};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {.kind = Kind::kReal, .real = double(v)};
    } else if constexpr (NestValue<T>) {
      return {.kind = Kind::kInteger, .integer = int64_t(v)};
    } else if constexpr (std::is_same_v<T, Tensor>) {
      return v.defined() ? Structure::tensor(tensors_++) : Structure();
    } else if constexpr (std::is_same_v<T, Variable>) {
      return variable(v);
    } else if constexpr (std::is_same_v<T, std::monostate>) {
      return {};
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return {.kind = Kind::kText, .text = std::string(std::string_view(v))};
    } else if constexpr (requires {
                           v.has_value();
                           *v;
                         }) {
      return v.has_value() ? read(*v) : Structure();
    } else if constexpr (requires { typename T::mapped_type; }) {
      Structure out{.kind = Kind::kDict};
      for (const auto& [key, e] : v) {
        out.keys.push_back(key_text(key));
        out.items.push_back(read(e));
      }
      return out;
    } else if constexpr (requires {
                           typename T::value_type;
                           v.begin();
                           v.size();
                         }) {
      Structure out{.kind = Kind::kList};
      for (const typename T::value_type& e : v) out.items.push_back(read(e));
      return out;
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      return std::apply([&](const auto&... e) { return tuple(e...); }, v);
    } else if constexpr (PlainStruct<T>) {
      if constexpr (kAllNests<decltype(as_fields(v))>)
        return std::apply([&](const auto&... e) { return tuple(e...); }, as_fields(v));
      else return {.kind = Kind::kObject};
    } else if constexpr (HasNest<T>) {
      return others(v);
    } else {
      return {.kind = Kind::kObject};
    }
  }

 private:
  template <class... E>
  Structure tuple(const E&... e) {
    // Braces fix the order of the reads.
    return {.kind = Structure::Kind::kTuple, .items = {read(e)...}};
  }
  // What writes its tensors itself: alone, or as a tuple of them.
  template <class T>
  Structure others(const T& v) {
    TraceKey key;
    TensorList list;
    NestWriter writer{key, list};
    Nest<T>::write(v, writer);
    if (list.empty()) return {.kind = Structure::Kind::kObject};
    if (list.size() == 1) return Structure::tensor(tensors_++);
    Structure out{.kind = Structure::Kind::kTuple};
    for (size_t i = 0; i < list.size(); ++i) out.items.push_back(Structure::tensor(tensors_++));
    return out;
  }
  Structure variable(const Variable& v) {
    if (!v.defined()) return {};
    size_t at = 0;
    const auto identity = v.identity();
    while (at < variables_.size() && variables_[at] != identity) ++at;
    if (at == variables_.size()) variables_.push_back(identity);
    return {.kind = Structure::Kind::kVariable, .index = at};
  }
  template <class K>
  static std::string key_text(const K& key) {
    if constexpr (std::is_convertible_v<const K&, std::string_view>) return std::string(key);
    else if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) return std::to_string(int64_t(key));
    else return {};
  }

  size_t tensors_ = 0;
  std::vector<std::shared_ptr<const void>> variables_;
};

}  // namespace rw::detail
