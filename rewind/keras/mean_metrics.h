// States of metrics that are sums and means of values. For the library's own files.
#pragma once

#include "rewind/keras/metric.h"

namespace rw::keras {

// One value an example, by Keras' rule: weights of a rank pick the axes over which values are averaged
// (or summed) before they are weighed.
struct Samplewise {
  Tensor values, weights;
};
Samplewise samplewise(const Tensor& values, const Tensor& sample_weight, const Tensor& mask, bool mean,
                      DType dtype);

class MeanState : public MetricState {
 public:
  MeanState(std::string name, DType dtype, Direction direction);
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
              const Tensor& mask) override;
  // `mask` is that of the values: it counts where there are weights.
  void update_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask) override;
  Tensor result() const override;

 private:
  Variable total_, count_;
};

}  // namespace rw::keras
