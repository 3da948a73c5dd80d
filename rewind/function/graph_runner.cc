#include "rewind/function/graph_runner.h"

#include "rewind/tensor/tensor_impl.h"

namespace rw {

void GraphRunner::run(std::span<const Tensor> arguments, std::span<const Tensor> captures,
                      SmallVector<Tensor, 4>* results) const {
  SmallVector<const Value*, 16> inputs;
  for (const Tensor& t : arguments) inputs.push_back(t.impl());
  for (const Tensor& t : captures) inputs.push_back(t.impl());
  ValueList values;
  compiled_.run({inputs.data(), inputs.size()}, &values);
  results->clear();
  for (Value& v : values) results->push_back(make_tensor(std::move(v)));
}

}  // namespace rw
