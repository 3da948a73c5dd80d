// A step of a functional graph that is no layer: an operator between KerasTensors, or a function of keras.ops
// in a model that was read from a file. It goes by Keras' name of the operation, "Add".
#pragma once

#include "rewind/keras/config_fields.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

struct OperationRow;

class Operation : public LayerOf<Operation> {
 public:
  // `arguments`: of the call in their order, a constant, or undefined where an input of the graph stands.
  // `options`: what the operation was made with, as its config has them. `extra`: further arguments of the
  // call, as a file has them.
  Operation(const std::string& class_name, std::vector<Tensor> arguments, Config options = Config::object(),
            const std::string& name = "", Config::Array extra = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override;
  bool takes_what_it_reads() const override { return false; }
  format::Json get_config() const override;
  const std::vector<Tensor>& arguments() const { return arguments_; }
  const Config::Array& extra() const { return extra_; }
  // The constants among the arguments as a file had them, null for others; empty where none was read.
  const Config::Array& given() const { return given_; }
  void set_given(Config::Array given) { given_ = std::move(given); }
  // Where Keras has the operation: "keras.src.ops.numpy".
  const char* module() const;

  // Null for an operation that is not here.
  static const OperationRow* find(const std::string& class_name);

 private:
  const OperationRow* row_;
  std::vector<Tensor> arguments_;
  Config options_;
  Config::Array extra_, given_;
};

// One operation of keras.ops (operation_table.cc).
struct OperationRow {
  const char* name;
  const char* module;
  size_t arguments;  // tensors and numbers in front; 0: as many as there are
  std::vector<Tensor> (*call)(const std::vector<Tensor>& x, const Config& options,
                              const Config::Array& extra);
};

}  // namespace rw::keras
