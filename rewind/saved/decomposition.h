// TensorFlow's words for an op of the user's own: a SavedModel holds the decomposition in its place.
//
//   rw::saved_model::register_decomposition("Cube", [](const std::vector<rw::Tensor>& in, const rw::Attrs&) {
//     return std::vector{in[0] * in[0] * in[0]};
//   });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewind/op/attrs.h"
#include "rewind/tensor/tensor.h"

namespace rw::saved_model {

// Gives the op's outputs from its inputs in the library's public ops. It is traced with inputs without
// values.
using Decomposition =
    std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs, const Attrs& attrs)>;
// Replaces an earlier one. Any thread.
void register_decomposition(const std::string& op, Decomposition decomposition);
// Null where there is none.
Decomposition find_decomposition(const std::string& op);

}  // namespace rw::saved_model
