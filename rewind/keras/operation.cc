#include "rewind/keras/operation.h"

#include "rewind/base/error.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/registry.h"

namespace rw::keras {

Operation::Operation(const std::string& class_name, std::vector<Tensor> arguments, Config options,
                     const std::string& name, Config::Array extra)
    : LayerOf(class_name, LayerOptions{.name = name}),
      row_(find(class_name)),
      arguments_(std::move(arguments)),
      options_(std::move(options)),
      extra_(std::move(extra)) {
  if (!row_)
    fail_unimplemented("from_config", "the operation keras.ops \"" + class_name +
                                          "\" is not supported in functional models; a layer of one's own "
                                          "that calls it is");
  if (row_->arguments && arguments_.size() != row_->arguments)
    fail_invalid("from_config", "operation " + class_name + " takes " + std::to_string(row_->arguments) +
                                    " arguments: got " + std::to_string(arguments_.size()));
  set_built();
}

const char* Operation::module() const { return row_->module; }

std::vector<Tensor> Operation::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  std::vector<Tensor> all;
  size_t next = 0;
  for (const Tensor& fixed : arguments_) {
    if (fixed.defined()) all.push_back(fixed);
    else if (next < inputs.size()) all.push_back(inputs[next++]);
  }
  if (next != inputs.size() || all.size() != arguments_.size())
    fail_invalid(name(),
                 "operation " + class_name() + " received " + std::to_string(inputs.size()) + " inputs");
  return row_->call(all, options_, extra_);
}

format::Json Operation::get_config() const {
  Config config = options_;
  config["name"] = name();
  return config;
}

void add_operation_classes(ClassRegistry&) {
}  // nodes of graphs are read with their arguments: model_config.cc

}  // namespace rw::keras
