#include "rewind/runtime/host_function.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"

namespace rw {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, HostFunction> by_token;
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

void run(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, ValueList& outputs) {
  const std::string token = attr_as<std::string>(op, attrs, "token");
  HostFunction f;
  {
    const std::lock_guard lock(registry().mutex);
    const auto it = registry().by_token.find(token);
    if (it == registry().by_token.end()) fail_not_found(op.tag, "no function has the token '" + token + "'");
    f = it->second;
  }
  ValueList results = f(inputs);
  const auto types = attr_as<std::vector<DType>>(op, attrs, "Tout");
  if (results.size() != types.size()) {
    fail_invalid(op.tag, "the function returned " + std::to_string(results.size()) + " tensors, " +
                             std::to_string(types.size()) + " were announced");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].dtype != types[i])
      fail_invalid(op.tag, "output " + std::to_string(i) + " must be " + std::string(name_of(types[i])) +
                               ": got " + std::string(name_of(results[i].dtype)));
  }
  outputs = std::move(results);
}

}  // namespace

HostFunctionScope::HostFunctionScope(HostFunction f) {
  static std::atomic<int64_t> next{0};
  token_ = "host_" + std::to_string(next++);
  const std::lock_guard lock(registry().mutex);
  registry().by_token.emplace(token_, std::move(f));
}

HostFunctionScope::~HostFunctionScope() {
  const std::lock_guard lock(registry().mutex);
  registry().by_token.erase(token_);
}

void register_host_function_kernel() { register_runtime_kernel("EagerPyFunc", run); }

}  // namespace rw
