#include "rewind/tensor/ops/effect.h"

#include "rewind/base/error.h"
#include "rewind/runtime/host_function.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
void print_items(const std::vector<PrintItem>& items, const PrintOptions& options) {
  // One scalar string is printed bare; anything else goes through a template.
  Tensor text;
  if (items.size() == 1 && items[0].tensor().defined() && items[0].tensor().dtype() == DType::kString &&
      items[0].tensor().rank() == 0) {
    text = items[0].tensor();
  } else {
    const std::string placeholder(1, '\x01');
    std::string pattern;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) pattern += options.sep;
      if (items[i].tensor().defined()) {
        pattern += placeholder;
        tensors.push_back(items[i].tensor());
      } else {
        pattern += items[i].text();
      }
    }
    text =
        rw::apply(RW_OP("StringFormat"), tensors,
                  {{"template", pattern}, {"placeholder", placeholder}, {"summarize", options.summarize}})[0];
  }
  rw::apply(RW_OP("PrintV2"), {&text}, {{"output_stream", options.output_stream}, {"end", options.end}});
}

std::vector<Tensor> host_function(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                  const std::vector<Tensor>& inputs, const std::vector<DType>& output_types) {
  const HostFunctionScope scope([&](std::span<const Value* const> values) {
    std::vector<Tensor> arguments;
    for (const Value* v : values) arguments.push_back(make_tensor(Value(*v)));
    ValueList results;
    for (const Tensor& t : f(arguments)) {
      if (!t.defined()) fail_invalid("host_function", "the function returned an undefined tensor");
      results.push_back(*t.impl());
    }
    return results;
  });
  Tensors outputs =
      rw::apply(RW_OP("EagerPyFunc"), inputs, {{"token", scope.token()}, {"Tout", output_types}});
  return {outputs.begin(), outputs.end()};
}

}  // namespace rw
