// While this thread makes a model from a file. The file has the values of the weights, so new ones are zeros
// and no initializer runs; and what a config asks for is bounded by what the file could hold. In safe mode
// layers that bring code along are refused.
#pragma once

#include <cstdint>
#include <string>

#include "rewind/format/expansion_limit.h"
#include "rewind/tensor/tensor.h"

namespace rw::keras {

class LoadingScope {
 public:
  // `stored`: bytes of the file that has the weights.
  LoadingScope(bool safe_mode, uint64_t stored, const format::ExpansionLimit& limit);
  ~LoadingScope();
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;
  // Null outside of such a scope.
  static LoadingScope* current();

  bool safe_mode() const { return safe_mode_; }
  // Throws InvalidArgumentError for more than the file could hold.
  Tensor new_weight(const std::string& path, const Shape& shape, DType dtype);
  // Of a layer in a model. Models that call a model twice, which calls a model twice, double with every
  // level. Throws InvalidArgumentError for too many.
  void count_call();

 private:
  bool safe_mode_;
  uint64_t stored_, taken_ = 0;
  int64_t calls_ = 0;
  format::ExpansionLimit limit_;
  LoadingScope* outer_;
};

}  // namespace rw::keras
