#include "rewind/keras/input_spec.h"

#include "rewind/base/error.h"

namespace rw::keras {

void InputSpec::check(const std::string& layer, size_t input, const Shape& shape) const {
  if (!shape.has_rank()) return;
  auto fail = [&](const std::string& expected) {
    fail_invalid(layer, "Input " + std::to_string(input) + " of layer \"" + layer +
                            "\" is incompatible with the layer: expected " + expected);
  };
  const std::string found =
      ", found ndim=" + std::to_string(shape.rank()) + ". Full shape received: " + shape.to_string();
  if (ndim >= 0 && shape.rank() != ndim) fail("ndim=" + std::to_string(ndim) + found);
  if (max_ndim >= 0 && shape.rank() > max_ndim) fail("max_ndim=" + std::to_string(max_ndim) + found);
  if (min_ndim >= 0 && shape.rank() < min_ndim) fail("min_ndim=" + std::to_string(min_ndim) + found);
  for (const auto& [axis, size] : axes) {
    const int at = axis < 0 ? axis + shape.rank() : axis;
    if (at < 0 || at >= shape.rank() || size < 0 || shape[at] < 0 || shape[at] == size) continue;
    fail("axis " + std::to_string(axis) + " of input shape to have value " + std::to_string(size) +
         ", but received input with shape " + shape.to_string());
  }
}

}  // namespace rw::keras
