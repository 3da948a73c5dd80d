// Where the channels of an image lie. Layers compute with channels last; others are turned round about it.
#pragma once

#include "rewind/base/error.h"
#include "rewind/tensor/ops/shape.h"

namespace rw::keras {

inline bool channels_first(const std::string& layer, const std::string& data_format) {
  if (data_format != "channels_first" && data_format != "channels_last")
    fail_invalid(layer,
                 "data_format must be \"channels_last\" or \"channels_first\": got \"" + data_format + "\"");
  return data_format == "channels_first";
}
inline Tensor channels_to_end(const Tensor& x) {
  std::vector<int64_t> perm{0};
  for (int i = 2; i < x.rank(); ++i) perm.push_back(i);
  perm.push_back(1);
  return transpose(x, perm);
}
inline Tensor channels_to_front(const Tensor& x) {
  std::vector<int64_t> perm{0, x.rank() - 1};
  for (int i = 1; i + 1 < x.rank(); ++i) perm.push_back(i);
  return transpose(x, perm);
}

}  // namespace rw::keras
