// The gradients of a backward pass by number. Room is made where one is set: a pass over a deep history goes
// through the numbers once from the end, and frees records on its way.
#pragma once

#include <memory>
#include <vector>

#include "rewind/autodiff/gradient.h"

namespace rw {

class GradientSums {
 public:
  explicit GradientSums(size_t count) : chunks_(count / kChunk + 1) {}

  const Gradient& operator[](size_t i) const {
    static const auto& none = *new Gradient;
    const auto& chunk = chunks_[i / kChunk];
    return chunk ? chunk[i % kChunk] : none;
  }
  // To be written; stays where it is.
  Gradient& at(size_t i) {
    auto& chunk = chunks_[i / kChunk];
    if (!chunk) chunk = std::make_unique<Gradient[]>(kChunk);
    return chunk[i % kChunk];
  }
  void clear(size_t i) {
    if (auto& chunk = chunks_[i / kChunk]) chunk[i % kChunk] = Gradient();
  }

 private:
  static constexpr size_t kChunk = 64;
  std::vector<std::unique_ptr<Gradient[]>> chunks_;
};

}  // namespace rw
