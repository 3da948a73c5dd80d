// What a layer expects of its inputs: ranks and sizes of axes. Checked on every call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rewind/base/shape.h"

namespace rw::keras {

struct InputSpec {
  int ndim = -1;  // -1: any
  int min_ndim = -1;
  int max_ndim = -1;
  std::vector<std::pair<int, int64_t>> axes = {};  // axis (negative: from the end) and its size

  bool empty() const { return ndim < 0 && min_ndim < 0 && max_ndim < 0 && axes.empty(); }
  // Throws InvalidArgumentError that names the layer, what it expects and what came.
  void check(const std::string& layer, size_t input, const Shape& shape) const;
};

}  // namespace rw::keras
