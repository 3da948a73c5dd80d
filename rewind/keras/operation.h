// A step of a functional graph that is no layer: an operator between KerasTensors, or a function of keras.ops
// in a model that was read from a file. It goes by Keras' name of the operation, "Add".
#pragma once

#include "rewind/keras/config_fields.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

class Operation : public LayerOf<Operation> {
 public:
  // `arguments`: of the call in their order, a constant, or undefined where an input of the graph stands.
  // `options`: what the operation was made with, as its config has them.
  Operation(const std::string& class_name, std::vector<Tensor> arguments, Config options = Config::object(),
            const std::string& name = "");
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override;
  bool takes_what_it_reads() const override { return false; }
  format::Json get_config() const override;
  const std::vector<Tensor>& arguments() const { return arguments_; }
  // Where Keras has the operation: "keras.src.ops.numpy".
  const char* module() const;

  // Whether there is an operation of this name.
  static bool known(const std::string& class_name);

 private:
  struct Row;
  static const Row* find(const std::string& class_name);
  const Row* row_;
  std::vector<Tensor> arguments_;
  Config options_;
};

}  // namespace rw::keras
