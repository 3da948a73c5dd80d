// Names of layers: a class's own in snake_case, with a number from the second on: "dense", "dense_1".
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace rw::keras {

// "rw::keras::Conv2D" -> "Conv2D".
std::string class_name_of(const std::type_info& type);
// The same from class_signature<D>(), for classes without type information.
std::string class_name_in(std::string_view signature);
template <class D>
const char* class_signature() {
  return __PRETTY_FUNCTION__;  // "... [with D = rw::keras::Conv2D]"
}
// Keras' rule: "Conv2D" -> "conv2d", "PReLU" -> "p_re_lu", "SimpleRNN" -> "simple_rnn".
std::string to_snake_case(const std::string& class_name);
// The next name of this class that was not given yet.
std::string auto_name(const std::string& class_name);
// The given name, or such a one where none is given.
inline std::string name_or_auto(const std::string& name, const std::string& class_name) {
  return name.empty() ? auto_name(class_name) : name;
}
// Names begin again at "dense".
void clear_session();

}  // namespace rw::keras
