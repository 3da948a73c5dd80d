#include "rewind/keras/layers/per_axis.h"

#include <string>

#include "rewind/base/error.h"

namespace rw::keras {

std::vector<int64_t> PerAxis::for_axes(const char* layer, const char* what, size_t axes) const {
  if (list_.size() == 1) return std::vector<int64_t>(axes, list_[0]);
  if (list_.size() != axes)
    fail_invalid(layer, std::string(what) + " must be one number or " + std::to_string(axes) + ": got " +
                            std::to_string(list_.size()));
  return list_;
}

}  // namespace rw::keras
