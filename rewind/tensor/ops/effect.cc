#include "rewind/tensor/ops/effect.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/runtime/eager.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

using HostFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// Functions by token, while their op may run.
struct HostFunctions {
  std::mutex mutex;
  std::unordered_map<std::string, HostFunction> by_token;
};
HostFunctions& host_functions() {
  static auto* functions = new HostFunctions;
  return *functions;
}

void run_host_function(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                       ValueList& outputs) {
  const std::string token = attr_as<std::string>(op, attrs, "token");
  HostFunction f;
  {
    const std::lock_guard lock(host_functions().mutex);
    const auto it = host_functions().by_token.find(token);
    if (it == host_functions().by_token.end())
      fail_not_found(op.tag, "no function has the token '" + token + "'");
    f = it->second;
  }
  std::vector<Tensor> arguments;
  for (const Value* v : inputs) arguments.push_back(make_tensor(Value(*v)));
  const std::vector<Tensor> results = f(arguments);
  const auto types = attr_as<std::vector<DType>>(op, attrs, "Tout");
  if (results.size() != types.size()) {
    fail_invalid(op.tag, "the function returned " + std::to_string(results.size()) + " tensors, " +
                             std::to_string(types.size()) + " were announced");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || results[i].dtype() != types[i])
      fail_invalid(
          op.tag,
          "output " + std::to_string(i) + " must be " + std::string(name_of(types[i])) + ": got " +
              (results[i].defined() ? std::string(name_of(results[i].dtype())) : "an undefined tensor"));
    outputs.push_back(*results[i].impl());
  }
}

}  // namespace

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

std::vector<Tensor> host_function(const HostFunction& f, const std::vector<Tensor>& inputs,
                                  const std::vector<DType>& output_types) {
  static std::once_flag once;
  std::call_once(once, [] { register_runtime_kernel("EagerPyFunc", run_host_function); });
  static std::atomic<int64_t> next{0};
  const std::string token = "host_" + std::to_string(next++);
  {
    const std::lock_guard lock(host_functions().mutex);
    host_functions().by_token.emplace(token, f);
  }
  Tensors outputs = rw::apply(RW_OP("EagerPyFunc"), inputs, {{"token", token}, {"Tout", output_types}});
  const std::lock_guard lock(host_functions().mutex);
  host_functions().by_token.erase(token);
  return {outputs.begin(), outputs.end()};
}

}  // namespace rw
