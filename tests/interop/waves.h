// Inputs that the scripts of interop/ make too.
#pragma once

#include <cmath>
#include <vector>

#include "rewind/rewind.h"

inline rw::Tensor wave(const rw::Shape& shape, int number, double scale = 0.5) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(scale * std::sin(1.0 + 0.7 * double(i) + 1.3 * number) + 0.01 * number);
  return rw::constant(values, shape);
}
inline rw::Tensor ids(const rw::Shape& shape, int limit) {
  std::vector<int32_t> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t((i * 7 + i / 3) % size_t(limit));
  return rw::constant(values, shape);
}
