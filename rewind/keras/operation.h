// A step of a functional graph that is no layer: what an operator between KerasTensors makes.
#pragma once

#include <functional>

#include "rewind/keras/layer.h"

namespace rw::keras {

class Operation : public LayerOf<Operation> {
 public:
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;
  Operation(std::string class_name, Function f)
      : LayerOf(std::move(class_name), LayerOptions()), f_(std::move(f)) {
    set_built();
  }
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override {
    return {f_(inputs)};
  }
  bool takes_what_it_reads() const override { return false; }

 private:
  Function f_;
};

}  // namespace rw::keras
