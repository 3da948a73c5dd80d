// Classes of objects at run time, for objects whose class may have been compiled with -fno-rtti: their
// virtual tables name no type, and typeid and dynamic_cast crash on them.
#pragma once

#include <type_traits>
#include <typeinfo>

namespace rw {

namespace detail {
template <class T>
const std::type_info* const* virtual_table(const T& object) {
  static_assert(std::is_polymorphic_v<T>);
  return *reinterpret_cast<const std::type_info* const* const*>(&object);
}
}  // namespace detail

// nullptr for a class without type information. The type stands in front of the virtual functions.
template <class T>
const std::type_info* dynamic_type(const T& object) {
  return detail::virtual_table(object)[-1];
}

template <class T>
bool same_class(const T& a, const T& b) {
  const std::type_info *of_a = dynamic_type(a), *of_b = dynamic_type(b);
  return of_a && of_b ? *of_a == *of_b : detail::virtual_table(a) == detail::virtual_table(b);
}

// dynamic_cast that gives nullptr for a class without type information.
template <class To, class From>
To dynamic_cast_to(From* object) {
  return object && dynamic_type(*object) ? dynamic_cast<To>(object) : nullptr;
}

}  // namespace rw
