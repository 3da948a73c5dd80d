#include <cmath>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/conv.h"

namespace rw::image {

Tensor resize(const Operand& images, const std::vector<int64_t>& size, const ResizeOptions& options) {
  const Tensor& given = images.tensor(DType::kFloat32);
  if (given.rank() != 3 && given.rank() != 4)
    fail_invalid("resize", "images must have 3 or 4 axes: got " + given.shape().to_string());
  if (size.size() != 2)
    fail_invalid("resize", "size must be (height, width): got " + std::to_string(size.size()) + " numbers");
  const bool nearest = options.method == "nearest";
  if (!nearest && options.method != "bilinear")
    fail_unimplemented("resize",
                       "method must be \"bilinear\" or \"nearest\": got \"" + options.method + "\"");
  if (options.antialias && !nearest) fail_unimplemented("resize", "antialias is not supported");

  const bool single = given.rank() == 3;
  const Tensor axis = constant(0);
  const Tensor x = single ? apply_one(RW_OP("ExpandDims"), {&given, &axis}) : given;
  int64_t height = size[0];
  int64_t width = size[1];
  if (options.preserve_aspect_ratio) {
    if (x.shape()[1] <= 0 || x.shape()[2] <= 0)
      fail_invalid("resize",
                   "preserve_aspect_ratio needs known sizes: images are " + given.shape().to_string());
    const float scale = std::min(float(height) / float(x.shape()[1]), float(width) / float(x.shape()[2]));
    height = int64_t(std::nearbyint(scale * float(x.shape()[1])));
    width = int64_t(std::nearbyint(scale * float(x.shape()[2])));
  }
  const Tensor target = constant(std::vector<int32_t>{int32_t(height), int32_t(width)});
  const Op& op = nearest ? RW_OP("ResizeNearestNeighbor") : RW_OP("ResizeBilinear");
  const Tensor out = apply_one(op, {&x, &target}, {{"half_pixel_centers", true}});
  if (!single) return out;
  return apply_one(RW_OP("Squeeze"), {&out}, {{"squeeze_dims", std::vector<int64_t>{0}}});
}

}  // namespace rw::image
