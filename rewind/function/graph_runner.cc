#include "rewind/function/graph_runner.h"

#include "rewind/runtime/touch.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {

namespace {

SmallVector<const Value*, 16> values_of(std::span<const Tensor> arguments, std::span<const Tensor> captures) {
  SmallVector<const Value*, 16> inputs;
  for (const Tensor& t : arguments) inputs.push_back(t.impl());
  for (const Tensor& t : captures) inputs.push_back(t.impl());
  return inputs;
}

}  // namespace

std::shared_ptr<const MemoryReport> GraphRunner::memory_report(std::span<const Tensor> arguments,
                                                               std::span<const Tensor> captures) const {
  const SmallVector<const Value*, 16> inputs = values_of(arguments, captures);
  return compiled_.memory_report({inputs.data(), inputs.size()});
}

void GraphRunner::run(std::span<const Tensor> arguments, std::span<const Tensor> captures,
                      SmallVector<Tensor, 4>* results) const {
  SmallVector<const Value*, 16> inputs = values_of(arguments, captures);
  std::vector<Value> placed;  // a function may keep what it is given: as a variable's value, in a list
  for (const Value*& v : inputs) {
    if (!v->movable()) [[likely]]
      continue;
    placed.reserve(inputs.size());
    v = &placed.emplace_back(settled(*v));
  }
  ValueList values;
  compiled_.run({inputs.data(), inputs.size()}, &values);
  results->clear();
  for (Value& v : values) results->push_back(make_tensor(std::move(v)));
}

}  // namespace rw
