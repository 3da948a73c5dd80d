// Regular expressions by RE2, whose time is linear in the text whatever the pattern.
#include <re2/re2.h>

#include <list>
#include <memory>
#include <mutex>

#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

// Patterns that were compiled last: ops run many times with one.
class CompiledPatterns {
 public:
  // Null with `error` set when the pattern is none.
  std::shared_ptr<const RE2> find(const std::string& pattern, std::string* error) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = recent_.begin(); it != recent_.end(); ++it) {
        if ((*it)->pattern() != pattern) continue;
        recent_.splice(recent_.begin(), recent_, it);
        return recent_.front();
      }
    }
    RE2::Options options;
    options.set_log_errors(false);
    auto made = std::make_shared<const RE2>(pattern, options);
    if (!made->ok()) {
      *error = made->error();
      return nullptr;
    }
    const std::lock_guard lock(mutex_);
    recent_.push_front(made);
    if (recent_.size() > kKept) recent_.pop_back();
    return made;
  }

 private:
  static constexpr size_t kKept = 32;
  std::mutex mutex_;
  std::list<std::shared_ptr<const RE2>> recent_;
};

std::shared_ptr<const RE2> compiled(KernelContext& ctx, const std::string& pattern) {
  static auto& patterns = *new CompiledPatterns;
  std::string error;
  auto found = patterns.find(pattern, &error);
  if (!found) ctx.fail("'" + pattern + "' is not a regular expression: " + error);
  return found;
}

void replace_all(KernelContext& ctx, const std::string& pattern, const std::string& rewrite) {
  const auto regex = compiled(ctx, pattern);
  const bool global = ctx.attr<bool>("replace_global");
  const auto* in = ctx.in(0).as<std::string>();
  auto* out = ctx.out(0).as<std::string>();
  for (int64_t i = 0; i < ctx.in(0).size; ++i) {
    out[i] = in[i];
    if (global) RE2::GlobalReplace(&out[i], *regex, rewrite);
    else RE2::Replace(&out[i], *regex, rewrite);
  }
}

void match_all(KernelContext& ctx, const std::string& pattern) {
  const auto regex = compiled(ctx, pattern);
  for (int64_t i = 0; i < ctx.in(0).size; ++i)
    ctx.out(0).as<bool>()[i] = RE2::FullMatch(ctx.in(0).as<std::string>()[i], *regex);
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
