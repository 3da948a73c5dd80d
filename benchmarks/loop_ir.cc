// Compiled kernels of the loop IR: how long they take to make, and to run.
#include <cmath>

#include "benchmarks/workload.h"
#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/loop/builder.h"

namespace bench {
namespace {

using namespace rw::loop;
using rw::DType;
constexpr DType kF32 = DType::kFloat32;

// Kernels differ by a constant, so that none is found in the cache.
float fresh() {
  static float next = 1.0f;
  return next = std::nextafter(next, 2.0f);
}

// The median over a few batches of new kernels.
double compile_ms(const std::function<std::vector<Kernel>()>& make) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    const std::vector<Kernel> kernels = make();
    std::vector<const Kernel*> pointers;
    for (const Kernel& k : kernels) pointers.push_back(&k);
    const double start = now_us();
    compile_all(pointers);
    times.push_back((now_us() - start) / 1000);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// y = f(f(...f(x))), f(x) = tanh(x a + b), on ten floats.
Kernel tanh_chain(int links) {
  Builder b("tanh_chain");
  const int32_t x = b.in(kF32, 10), a = b.in(kF32, 10), c = b.in(kF32, 10), y = b.out(kF32, 10);
  const Var one = b.constant(fresh());
  b.loop(10, LoopKind::kVector, [&](Index i) {
    Var v = b.op("Mul", {b.load(x, i), one});
    const Var scale = b.load(a, i), shift = b.load(c, i);
    for (int k = 0; k < links; ++k) v = b.op("Tanh", {b.op("AddV2", {b.op("Mul", {v, scale}), shift})});
    b.store(y, i, v);
  });
  return b.finish();
}

void kernel_chain() {
  constexpr int kLinks = 3000;
  const double compile_time = compile_ms([] { return std::vector<Kernel>{tanh_chain(kLinks)}; });
  const auto code = compile(tanh_chain(kLinks));
  std::vector<float> x(10, 0.5f), a(10, 1.1f), c(10, 0.1f), y(10);
  void* buffers[] = {x.data(), a.data(), c.data(), y.data()};
  const double us = median_us(3, 20, [&] { code->run(buffers, 0, 1); });
  say("kernel_chain", "rewind", "", {{"compile_ms", compile_time}, {"ns_per_link", us * 1000 / kLinks}});
}

// The steps of n / 2 and 3 n + 1 to one.
Kernel collatz() {
  Builder b("collatz");
  const int32_t x = b.in(DType::kInt32, 1), y = b.out(DType::kInt32, 1);
  const Var one = b.constant(1), two = b.constant(2), three = b.constant(3);
  const int32_t n = b.local(b.load(x, 0)), steps = b.local(b.constant(0));
  b.while_loop([&] { return b.op("NotEqual", {b.get(n), one}); },
               [&] {
                 const Var v = b.get(n);
                 b.if_else(
                     b.op("Equal", {b.op("FloorMod", {v, two}), b.constant(0)}),
                     [&] { b.set(n, b.op("FloorDiv", {v, two})); },
                     [&] { b.set(n, b.op("AddV2", {b.op("Mul", {v, three}), one})); });
                 b.set(steps, b.op("AddV2", {b.get(steps), one}));
               });
  b.store(y, 0, b.get(steps));
  return b.finish();
}

void kernel_collatz() {
  const auto code = compile(collatz());
  int32_t n = 6171, steps = 0;  // 261 steps
  void* buffers[] = {&n, &steps};
  const double us = median_us(100, 1001, [&] { code->run(buffers, 0, 1); });
  say("kernel_collatz", "rewind", "", {{"steps", double(steps)}, {"us", us}});
}

// The sum of the even elements, by a while loop over an index.
Kernel even_sum(bool with_branch) {
  Builder b("even_sum");
  const int32_t x = b.in(DType::kInt32, 10000), y = b.out(DType::kInt32, 1);
  const Var zero = b.constant(0), one = b.constant(1), two = b.constant(2), n = b.constant(10000);
  const int32_t i = b.local(zero), sum = b.local(zero);
  b.while_loop([&] { return b.op("Less", {b.get(i), n}); },
               [&] {
                 const Var v = b.load(x, dynamic(b.cast(b.get(i), DType::kInt64)));
                 const Var even = b.op("Equal", {b.op("FloorMod", {v, two}), zero});
                 if (with_branch) {
                   b.if_then(even, [&] { b.set(sum, b.op("AddV2", {b.get(sum), v})); });
                 } else {
                   b.set(sum, b.op("AddV2", {b.get(sum), b.select(even, v, zero)}));
                 }
                 b.set(i, b.op("AddV2", {b.get(i), one}));
               });
  b.store(y, 0, b.get(sum));
  return b.finish();
}

void kernel_even_sum() {
  for (const bool with_branch : {true, false}) {
    const double start = now_us();
    const auto code = compile(even_sum(with_branch));
    const double compile_time = (now_us() - start) / 1000;
    std::vector<int32_t> x(10000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = int32_t(i * 7919 % 1000);
    int32_t sum = 0;
    void* buffers[] = {x.data(), &sum};
    const double us = median_us(100, 1001, [&] { code->run(buffers, 0, 1); });
    say("kernel_even_sum", "rewind", with_branch ? "branch" : "select",
        {{"compile_ms", compile_time}, {"us", us}});
  }
}

// y[i] = op(x[i] * c)
Kernel elementwise(const char* op, int64_t n) {
  Builder b(op);
  const int32_t x = b.in(kF32, n), y = b.out(kF32, n);
  const Var c = b.constant(fresh());
  b.loop(n, LoopKind::kVector, [&](Index i) { b.store(y, i, b.op(op, {b.op("Mul", {b.load(x, i), c})})); });
  return b.finish();
}

// y[r, :] = softmax(x[r, :])
Kernel softmax(int64_t rows, int64_t columns) {
  Builder b("softmax");
  const int32_t x = b.in(kF32, rows * columns), y = b.out(kF32, rows * columns);
  const Var c = b.constant(fresh());
  b.loop(rows, LoopKind::kParallel, [&](Index r) {
    const Var top = b.reduce(columns, Combine::kMax,
                             [&](Index j) { return b.op("Mul", {b.load(x, columns * r + j), c}); });
    const Var sum = b.reduce(columns, Combine::kSum, [&](Index j) {
      const Var e = b.op("Exp", {b.op("Sub", {b.op("Mul", {b.load(x, columns * r + j), c}), top})});
      b.store(y, columns * r + j, e);
      return e;
    });
    b.loop(columns, LoopKind::kVector,
           [&](Index j) { b.store(y, columns * r + j, b.op("RealDiv", {b.load(y, columns * r + j), sum})); });
  });
  return b.finish();
}

// w -= rate * g, with a momentum.
Kernel update(int64_t n) {
  Builder b("update");
  const int32_t w = b.out(kF32, n), m = b.out(kF32, n), g = b.in(kF32, n);
  const Var rate = b.constant(0.01f * fresh()), keep = b.constant(0.9f), rest = b.constant(0.1f);
  const Var epsilon = b.constant(1e-7f);
  b.loop(n, LoopKind::kVector, [&](Index i) {
    const Var gradient = b.load(g, i);
    const Var moment = b.op("AddV2", {b.op("Mul", {b.load(m, i), keep}), b.op("Mul", {gradient, rest})});
    b.store(m, i, moment);
    const Var size = b.op("AddV2", {b.op("Sqrt", {b.op("Square", {moment})}), epsilon});
    b.store(w, i, b.op("Sub", {b.load(w, i), b.op("RealDiv", {b.op("Mul", {moment, rate}), size})}));
  });
  return b.finish();
}

// y = relu(x + bias), and the gradient through it.
Kernel bias_relu(int64_t rows, int64_t columns) {
  Builder b("bias_relu");
  const int32_t x = b.in(kF32, rows * columns), bias = b.in(kF32, columns), y = b.out(kF32, rows * columns);
  const Var c = b.constant(fresh());
  b.loop(rows, LoopKind::kParallel, [&](Index r) {
    b.loop(columns, LoopKind::kVector, [&](Index j) {
      const Var v = b.op("AddV2", {b.load(x, columns * r + j), b.op("Mul", {b.load(bias, j), c})});
      b.store(y, columns * r + j, b.op("Relu", {v}));
    });
  });
  return b.finish();
}

std::vector<Kernel> mnist_step() {
  std::vector<Kernel> kernels;
  kernels.push_back(bias_relu(100, 100));
  kernels.push_back(bias_relu(100, 10));
  kernels.push_back(softmax(100, 10));
  kernels.push_back(elementwise("Log", 1000));
  for (int64_t n : {78400, 100, 1000, 10}) kernels.push_back(update(n));
  return kernels;
}

std::vector<Kernel> forty_kernels() {
  std::vector<Kernel> kernels;
  for (int k = 0; k < 5; ++k) {
    for (Kernel& kernel : mnist_step()) kernels.push_back(std::move(kernel));
  }
  for (const char* op : {"Tanh", "Erf", "Sin", "Expm1"}) kernels.push_back(elementwise(op, 777));
  kernels.push_back(softmax(64, 128));
  return kernels;
}

void kernel_compile() {
  say("kernel_compile", "rewind", "mnist_step", {{"kernels", 8}, {"ms", compile_ms(mnist_step)}});
  say("kernel_compile", "rewind", "many", {{"kernels", 45}, {"ms", compile_ms(forty_kernels)}});
  for (const char* op : {"AddV2", "Tanh", "Sin", "Lgamma"}) {
    const auto make = [op] {
      Builder b;
      const int32_t x = b.in(kF32, 1000), y = b.out(kF32, 1000);
      const Var c = b.constant(fresh());
      b.loop(1000, LoopKind::kVector, [&](Index i) {
        const Var v = b.op("Mul", {b.load(x, i), c});
        b.store(y, i, std::string_view(op) == "AddV2" ? b.op(op, {v, c}) : b.op(op, {v}));
      });
      return std::vector<Kernel>{b.finish()};
    };
    say("kernel_compile", "rewind", op, {{"kernels", 1}, {"ms", compile_ms(make)}});
  }
}

void kernel_run() {
  constexpr int64_t n = 16384;
  std::vector<float> x(n), y(n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 100) * 0.05f - 2.5f;
  void* buffers[] = {x.data(), y.data()};
  for (const char* op : {"Relu", "Exp", "Tanh", "Erf", "Sin"}) {
    const auto code = compile(elementwise(op, n));
    const double us = median_us(20, 201, [&] { code->run(buffers, 0, 1); });
    say("kernel_run", "rewind", op, {{"ns_per_element", us * 1000 / n}});
  }
  for (const int64_t columns : {10, 128, 1024}) {
    const int64_t rows = n / columns;
    const auto code = compile(softmax(rows, columns));
    const double us = median_us(20, 201, [&] { code->run(buffers, 0, rows); });
    say("kernel_run", "rewind", "softmax of " + std::to_string(columns),
        {{"ns_per_element", us * 1000 / double(rows * columns)}});
  }
  Builder b("sum");
  const int32_t in = b.in(kF32, n), out = b.out(kF32, 1);
  b.store(out, 0, b.reduce(n, Combine::kSum, [&](Index i) { return b.load(in, i); }));
  const auto code = compile(b.finish());
  const double us = median_us(20, 201, [&] { code->run(buffers, 0, 1); });
  say("kernel_run", "rewind", "sum", {{"ns_per_element", us * 1000 / n}});
}

}  // namespace

std::vector<Workload> kernel_workloads() {
  return {{"kernel_compile", kernel_compile},
          {"kernel_run", kernel_run},
          {"kernel_chain", kernel_chain},
          {"kernel_collatz", kernel_collatz},
          {"kernel_even_sum", kernel_even_sum}};
}

}  // namespace bench
