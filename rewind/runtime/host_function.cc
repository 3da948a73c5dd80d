#include "rewind/runtime/host_function.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "rewind/base/error.h"

namespace rw {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<const HostEntry>> by_token;
};
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

void run(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, ValueList& outputs) {
  const std::string token = attr_as<std::string>(op, attrs, "token");
  ValueList results = find_host_function(token, op.tag)->run(inputs);
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

static std::string next_token() {
  static std::atomic<int64_t> next{0};
  return "host_" + std::to_string(next++);
}

HostEntry::HostEntry(HostFunction run, std::shared_ptr<const void> source)
    : token(next_token()), run(std::move(run)), source(std::move(source)) {}

HostEntry::~HostEntry() {
  const std::lock_guard lock(registry().mutex);
  registry().by_token.erase(token);
}

std::shared_ptr<const HostEntry> add_host_function(HostFunction run, std::shared_ptr<const void> source) {
  auto entry = std::make_shared<const HostEntry>(std::move(run), std::move(source));
  const std::lock_guard lock(registry().mutex);
  registry().by_token.emplace(entry->token, entry);
  return entry;
}

std::shared_ptr<const HostEntry> find_host_function(const std::string& token, std::string_view tag) {
  {
    const std::lock_guard lock(registry().mutex);
    const auto it = registry().by_token.find(token);
    if (it != registry().by_token.end())
      if (auto entry = it->second.lock()) return entry;
  }
  fail_not_found(tag, "no function has the token '" + token +
                          "'; functions of the host program are known in the process that made them");
}

void register_host_function_kernel() { register_runtime_kernel("EagerPyFunc", run); }

}  // namespace rw
