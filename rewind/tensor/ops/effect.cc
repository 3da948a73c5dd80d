#include "rewind/tensor/ops/effect.h"

#include "rewind/base/error.h"
#include "rewind/runtime/host_function.h"
#include "rewind/runtime/touch.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/host_call.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

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

// Runs as plain C++, whoever listens to this thread: its ops are its own business.
static ValueList call_host(const HostCall& f, std::span<const Value* const> values) {
  const OutsideTraces outside;
  std::vector<Tensor> arguments;
  for (const Value* v : values) arguments.push_back(make_tensor(Value(*v)));
  ValueList results;
  for (const Tensor& t : f(arguments)) {
    if (!t.defined()) fail_invalid("host_function", "the function returned an undefined tensor");
    if (t.impl()->kind != TensorKind::kEager)
      fail_invalid("host_function", "the function must return tensors with values: got " + t.repr());
    results.push_back(settled(*t.impl()));
  }
  return results;
}

std::vector<Tensor> host_function(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                  const std::vector<Tensor>& inputs, const std::vector<DType>& output_types) {
  const auto call = std::make_shared<const HostCall>(f);
  const auto entry = add_host_function(
      [call](std::span<const Value* const> values) { return call_host(*call, values); }, call);
  const Attrs attrs{{"token", entry->token}, {"Tout", output_types}};
  Tensors outputs = rw::apply(RW_OP("EagerPyFunc"), inputs, attrs.keeping(entry));
  return {outputs.begin(), outputs.end()};
}

std::shared_ptr<const HostCall> host_call(const std::string& token) {
  const auto entry = find_host_function(token, "host_function");
  return {entry, static_cast<const HostCall*>(entry->source.get())};
}

}  // namespace rw
