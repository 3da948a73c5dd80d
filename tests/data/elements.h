// Elements of datasets in a form that tests compare.
#pragma once

#include <string>
#include <vector>

#include "rewind/rewind.h"

namespace rw::data {

template <class D>
std::vector<int64_t> numbers(const D& dataset) {
  std::vector<int64_t> all;
  for (const Tensor& t : dataset) all.push_back(cast(t, int64).template item<int64_t>());
  return all;
}
template <class D>
std::vector<std::vector<int64_t>> lists(const D& dataset) {
  std::vector<std::vector<int64_t>> all;
  for (const Tensor& t : dataset) all.push_back(cast(t, int64).template to_vector<int64_t>());
  return all;
}
// Any element as text: shapes, types and values of its tensors.
template <class T>
std::string text_of(const T& element) {
  Element flat;
  Form<T>::write(element, &flat);
  std::string text;
  for (const Tensor& t : flat) text += t.dtype() == variant ? std::string("a dataset;") : t.repr() + ";";
  return text;
}

}  // namespace rw::data
