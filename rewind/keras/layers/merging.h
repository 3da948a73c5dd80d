// Layers that join several inputs: Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate, Dot.
//   auto y = keras::Add()({a, b});
#pragma once

#include "rewind/keras/layer.h"

namespace rw::keras {

namespace detail {

// Elementwise. Inputs of lower rank get axes of size 1 behind their batch.
class MergeLayer : public Layer {
 public:
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;

 protected:
  MergeLayer(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  // `masks`: one an input, undefined where there is none.
  virtual Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) = 0;
};

}  // namespace detail

// What is masked does not take part in products, maxima and minima.
#define RW_KERAS_MERGE(Name)                                                                    \
  class Name : public LayerOf<Name, detail::MergeLayer> {                                       \
   public:                                                                                      \
    explicit Name(const LayerOptions& options = {});                                            \
                                                                                                \
   protected:                                                                                   \
    Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override; \
  };
RW_KERAS_MERGE(Add)
RW_KERAS_MERGE(Subtract)
RW_KERAS_MERGE(Multiply)
RW_KERAS_MERGE(Average)
RW_KERAS_MERGE(Maximum)
RW_KERAS_MERGE(Minimum)
#undef RW_KERAS_MERGE

struct ConcatenateOptions {
  int axis = -1;
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
class Concatenate : public LayerOf<Concatenate> {
 public:
  explicit Concatenate(const ConcatenateOptions& options = {});
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;

 private:
  int axis_;
};

struct DotOptions {
  bool normalize = false;  // to vectors of length 1 first: the cosine
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Sums of products of two inputs along one axis of each, example by example.
class Dot : public LayerOf<Dot> {
 public:
  explicit Dot(int axes, const DotOptions& options = {});
  explicit Dot(const std::vector<int>& axes, const DotOptions& options = {});
  void build_many(const std::vector<Shape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs& args) override;
  bool supports_masking() const override { return true; }
  Tensor compute_mask(const std::vector<Tensor>&, const std::vector<Tensor>&) override { return {}; }

 private:
  std::vector<int> axes_;
  bool normalize_;
};

}  // namespace rw::keras
