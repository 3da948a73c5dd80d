// What a function costs around its kernels: a call that does nothing, many small ops, deep graphs; and a
// jacobian.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::Tensor;

void empty_call() {
  const auto f = rw::function([](Tensor x) { return x; });
  const Tensor x = rw::constant(1.f);
  constexpr int kCalls = 1000;
  const double us = median_us(3, 100, [&] {
    for (int i = 0; i < kCalls; ++i) f(x);
  });
  say("empty_call", "rewind", "function", {{"us", us / kCalls}});
}

void small_ops_3000() {
  const auto f = rw::function([](Tensor x) {
    for (int i = 0; i < 1000; ++i) x = rw::tanh(x * 1.0001f + 0.0001f);
    return x;
  });
  const Tensor x = rw::ones({10});
  const double start = now_us();
  f(x);
  const double first = now_us() - start;
  const double us = median_us(3, 100, [&] { f(x); });
  say("small_ops_3000", "rewind", "function",
      {{"ms", us / 1e3}, {"us_per_op", us / 3000}, {"first_call_s", first / 1e6}});
}

void jacobian_256() {
  const Tensor a = rw::random::normal({256, 512}, {.stddev = 0.05});
  const Tensor b = rw::random::normal({512, 256}, {.stddev = 0.05});
  const Tensor x = rw::random::uniform({1, 256});
  const auto f = rw::function([&](Tensor v) {
    rw::GradientTape tape;
    tape.watch(v);
    const Tensor y = rw::matmul(rw::tanh(rw::matmul(v, a)), b);
    return tape.jacobian(y, v).tensor();
  });
  const double us = median_us(3, 50, [&] { f(x); });
  say("jacobian_256", "rewind", "function", {{"ms", us / 1e3}});
}

// x + sin(x * y) * z, `layers` times, and its gradients: the first call and a steady one.
struct DeepFigures {
  double first_s, ms, peak_mib;
};

DeepFigures run_deep(int layers, int repeats) {
  const int64_t n = 20000;
  const Tensor x = rw::ones({n}), y = rw::fill({n}, 0.5f), z = rw::fill({n}, 0.01f);
  const auto f = rw::function([layers](Tensor a, Tensor b, Tensor c) {
    rw::GradientTape tape;
    tape.watch(std::vector<Tensor>{a, b, c});
    Tensor h = a;
    for (int i = 0; i < layers; ++i) h = h + rw::sin(h * b) * c;
    return tape.gradient(rw::reduce_sum(h), std::vector<Tensor>{a, b, c});
  });
  reset_peak();
  const double start = now_us();
  f(x, y, z);
  const double first = now_us() - start;
  const double peak = double(rw::memory::stats().peak);
  const double us = median_us(0, repeats, [&] { f(x, y, z); });
  return {first / 1e6, us / 1e3, peak / 1024 / 1024};
}

void deep(int layers) {
  const DeepFigures d = run_deep(layers, 3);
  say("deep_" + std::to_string(layers), "rewind", "function",
      {{"first_call_s", d.first_s}, {"ms", d.ms}, {"peak_MiB", d.peak_mib}});
}

// First calls of deeper and deeper graphs: linear if a layer costs the same everywhere.
void compile_scaling() {
  run_deep(10, 1);  // what a process does once
  for (const int layers : {100, 300, 1000, 3000, 10000}) {
    const DeepFigures d = run_deep(layers, 1);
    say("compile_scaling", "rewind", "function",
        {{"layers", double(layers)},
         {"first_call_s", d.first_s},
         {"us_a_layer", (d.first_s - d.ms / 1e3) * 1e6 / layers}});
  }
}

}  // namespace

std::vector<Workload> function_workloads() {
  std::vector<Workload> list{
      {"empty_call", empty_call}, {"small_ops_3000", small_ops_3000}, {"jacobian_256", jacobian_256}};
  for (const int layers : {100, 300, 1000, 3000, 10000})
    list.push_back({"deep_" + std::to_string(layers), [layers] { deep(layers); }});
  list.push_back({"compile_scaling", compile_scaling});
  return list;
}

}  // namespace bench
