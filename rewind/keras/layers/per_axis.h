// Arguments that are numbers for spatial axes: kernel sizes, strides, factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace rw::keras {

// One number for each spatial axis, or one for all.
class PerAxis {
 public:
  PerAxis(int size) : list_({size}) {}                            // NOLINT: written as they are
  PerAxis(int64_t size) : list_({size}) {}                        // NOLINT
  PerAxis(std::initializer_list<int64_t> list) : list_(list) {}   // NOLINT
  PerAxis(std::vector<int64_t> list) : list_(std::move(list)) {}  // NOLINT
  bool empty() const { return list_.empty(); }
  const std::vector<int64_t>& list() const { return list_; }
  // Throws InvalidArgumentError for another number of axes.
  std::vector<int64_t> for_axes(const char* layer, const char* what, size_t axes) const;

 private:
  std::vector<int64_t> list_;
};

}  // namespace rw::keras
