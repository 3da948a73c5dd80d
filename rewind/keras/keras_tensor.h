// KerasTensor: a result that a model will have, with shape and dtype but no value. Layers and operators take
// it and give the next one; a Model is made from the first and the last.
//
//   auto x = keras::Input({784});
//   auto y = keras::Dense(10)(keras::Dense(100, {.activation = "relu"})(x));
//   keras::Model model(x, y);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rewind/tensor/tensor.h"

namespace rw::keras {

struct GraphNode;

class KerasTensor {
 public:
  KerasTensor() = default;
  bool defined() const { return node_ != nullptr; }
  const Shape& shape() const;  // sizes of batches are -1
  DType dtype() const;
  std::string name() const;  // that of the layer that gives it

  // For the library.
  KerasTensor(std::shared_ptr<GraphNode> node, size_t index) : node_(std::move(node)), index_(index) {}
  const std::shared_ptr<GraphNode>& node() const { return node_; }
  size_t index() const { return index_; }
  friend bool operator==(const KerasTensor& a, const KerasTensor& b) {
    return a.node_ == b.node_ && a.index_ == b.index_;
  }

 private:
  std::shared_ptr<GraphNode> node_;
  size_t index_ = 0;
};

// One or several of them, as arguments.
class KerasTensors {
 public:
  KerasTensors(const KerasTensor& one) : list_({one}) {}                   // NOLINT: written as they are
  KerasTensors(std::initializer_list<KerasTensor> list) : list_(list) {}   // NOLINT
  KerasTensors(std::vector<KerasTensor> list) : list_(std::move(list)) {}  // NOLINT
  const std::vector<KerasTensor>& list() const { return list_; }

 private:
  std::vector<KerasTensor> list_;
};

struct InputOptions {
  int64_t batch_size = -1;
  DType dtype = DType::kFloat32;
  std::string name = {};
};
// An input of a model; `shape` is without the batch.
KerasTensor Input(const Shape& shape, const InputOptions& options = {});

KerasTensor operator+(const KerasTensor& a, const KerasTensor& b);
KerasTensor operator-(const KerasTensor& a, const KerasTensor& b);
KerasTensor operator*(const KerasTensor& a, const KerasTensor& b);
KerasTensor operator/(const KerasTensor& a, const KerasTensor& b);
KerasTensor operator+(const KerasTensor& a, const Tensor& b);
KerasTensor operator-(const KerasTensor& a, const Tensor& b);
KerasTensor operator*(const KerasTensor& a, const Tensor& b);
KerasTensor operator/(const KerasTensor& a, const Tensor& b);
KerasTensor operator+(const Tensor& a, const KerasTensor& b);
KerasTensor operator-(const Tensor& a, const KerasTensor& b);
KerasTensor operator*(const Tensor& a, const KerasTensor& b);
KerasTensor operator/(const Tensor& a, const KerasTensor& b);
KerasTensor operator-(const KerasTensor& x);

}  // namespace rw::keras
