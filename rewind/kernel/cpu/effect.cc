// Kernels with effects: printing, assertions, checks for NaN and infinity.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/value_text.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

void print(KernelContext& ctx) {
  const std::string text = *ctx.in(0).as<std::string>() + ctx.attr<std::string>("end");
  const std::string stream = ctx.attr<std::string>("output_stream");
  static std::mutex one_line_at_a_time;
  const std::lock_guard lock(one_line_at_a_time);
  if (stream.starts_with("file://")) {
    std::ofstream file(stream.substr(7), std::ios::app);
    if (!(file << text)) ctx.fail("cannot write to " + stream.substr(7));
    return;
  }
  FILE* out = stream == "stdout" ? stdout : stderr;
  if (stream != "stdout" && stream != "stderr" && !stream.starts_with("log("))
    ctx.fail("output_stream must be 'stdout', 'stderr', 'log(info|warning|error)' or 'file://...': got '" +
             stream + "'");
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

void assert_true(KernelContext& ctx) {
  if (*ctx.in(0).as<bool>()) return;
  std::string text = "assertion failed:";
  for (int i = 1; i < ctx.num_inputs(); ++i)
    text += " [" + flat_text(ctx.in(i), ctx.attr<int64_t>("summarize")) + "]";
  ctx.fail(text);
}

template <bool kSigned>
void check_numerics(KernelContext& ctx) {
  const View& in = ctx.in(0);
  int64_t nan = 0;
  int64_t positive = 0;
  int64_t negative = 0;
  dispatch<kFloatTypes>(in.dtype, [&]<class T>() {
    for (int64_t i = 0; i < in.size; ++i) {
      const auto v = static_cast<Compute<T>>(in.as<T>()[i]);
      nan += v != v;
      positive += std::isinf(v) && v > 0;
      negative += std::isinf(v) && v < 0;
    }
  });
  std::string found;
  auto add = [&](const char* what) { found += (found.empty() ? "" : " and ") + std::string(what); };
  if (kSigned && negative) add("-Inf");
  if (kSigned && positive) add("+Inf");
  if (!kSigned && (positive || negative)) add("Inf");
  if (nan) add("NaN");
  if (!found.empty())
    ctx.fail(ctx.attr<std::string>("message") + " : Tensor had " + found + " values (" + std::to_string(nan) +
             " NaN and " + std::to_string(positive + negative) + " infinite of " + std::to_string(in.size) +
             " elements)");
  if (in.size > 0) std::memcpy(ctx.out(0).data, in.data, size_t(in.size) * size_of(in.dtype));
}

}  // namespace

void register_effect_cpu_kernels() {
  register_kernel("PrintV2", DeviceType::kCpu, print);
  register_kernel("Assert", DeviceType::kCpu, assert_true);
  register_kernel("CheckNumerics", DeviceType::kCpu, check_numerics<false>);
  register_kernel("CheckNumericsV2", DeviceType::kCpu, check_numerics<true>);
  register_kernel("NoOp", DeviceType::kCpu, [](KernelContext&) {});
}

}  // namespace rw
