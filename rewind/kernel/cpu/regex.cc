// Regular expressions on strings.
#include "rewind/base/regex/regex.h"

#include <list>
#include <memory>
#include <mutex>

#include "rewind/device/parallel.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

// Patterns that were compiled last: ops run many times with one.
class CompiledPatterns {
 public:
  std::shared_ptr<const Regex> find(const std::string& pattern) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = recent_.begin(); it != recent_.end(); ++it) {
        if ((*it)->pattern() != pattern) continue;
        recent_.splice(recent_.begin(), recent_, it);
        return recent_.front();
      }
    }
    auto made = std::make_shared<const Regex>(pattern);
    if (!made->error().empty()) return made;
    const std::lock_guard lock(mutex_);
    recent_.push_front(made);
    if (recent_.size() > kKept) recent_.pop_back();
    return made;
  }

 private:
  static constexpr size_t kKept = 32;
  std::mutex mutex_;
  std::list<std::shared_ptr<const Regex>> recent_;
};

std::shared_ptr<const Regex> compiled(KernelContext& ctx, const std::string& pattern) {
  static auto& patterns = *new CompiledPatterns;
  auto found = patterns.find(pattern);
  if (!found->error().empty()) ctx.fail("'" + pattern + "' is not a regular expression: " + found->error());
  return found;
}

constexpr int64_t kStringsAtOnce = 64;

void replace_all(KernelContext& ctx, const std::string& pattern, const std::string& rewrite) {
  const auto regex = compiled(ctx, pattern);
  const bool global = ctx.attr<bool>("replace_global");
  const auto* in = ctx.in(0).as<std::string>();
  auto* out = ctx.out(0).as<std::string>();
  parallel_for(ctx.in(0).size, kStringsAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = regex->replaced(in[i], rewrite, global);
  });
}

void match_all(KernelContext& ctx, const std::string& pattern) {
  const auto regex = compiled(ctx, pattern);
  const auto* in = ctx.in(0).as<std::string>();
  auto* out = ctx.out(0).as<bool>();
  parallel_for(ctx.in(0).size, kStringsAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = regex->matches_whole(in[i]);
  });
}

const std::string& text(KernelContext& ctx, int i) { return *ctx.in(i).as<std::string>(); }

void replace(KernelContext& ctx) { replace_all(ctx, text(ctx, 1), text(ctx, 2)); }
void static_replace(KernelContext& ctx) {
  replace_all(ctx, ctx.attr<std::string>("pattern"), ctx.attr<std::string>("rewrite"));
}
void full_match(KernelContext& ctx) { match_all(ctx, text(ctx, 1)); }
void static_full_match(KernelContext& ctx) { match_all(ctx, ctx.attr<std::string>("pattern")); }

}  // namespace

void register_regex_cpu_kernels() {
  register_kernel("RegexReplace", DeviceType::kCpu, replace);
  register_kernel("StaticRegexReplace", DeviceType::kCpu, static_replace);
  register_kernel("RegexFullMatch", DeviceType::kCpu, full_match);
  register_kernel("StaticRegexFullMatch", DeviceType::kCpu, static_full_match);
}

}  // namespace rw
