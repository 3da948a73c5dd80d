// Binary and ternary elementwise kernels: the loops of isa/, and what stands around them where data can be
// wrong, where elements are strings, or where an attribute is an operand.
#include <atomic>
#include <cstring>
#include <string>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/broadcast.h"
#include "rewind/kernel/cpu/elementwise.h"

namespace rw {
namespace {

BinaryLoop loop_for(KernelContext& ctx, DType dtype) {
  const BinaryLoop loop = ctx.data<BinaryLoops>().by_dtype[size_t(dtype)];
  if (!loop) ctx.fail_dtype(dtype);
  return loop;
}

// Whether some element of an integer view satisfies the test.
template <class Test>
bool any_integer(const View& v, Test test) {
  std::atomic<bool> found{false};
  dispatch<kIntTypes>(v.dtype, [&]<class T>() {
    parallel_for(v.size, 65536, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !found.load(std::memory_order_relaxed); i += 4096) {
        const T* x = v.as<T>() + i;
        const int64_t n = std::min<int64_t>(4096, end - i);
        T any{};
        for (int64_t j = 0; j < n; ++j) any |= T(test(x[j]));
        if (any) found.store(true, std::memory_order_relaxed);
      }
    });
  });
  return found;
}

void divide(KernelContext& ctx) {
  const View& y = ctx.in(1);
  const BinaryLoop loop = loop_for(ctx, y.dtype);
  if (is_integer(y.dtype) && ctx.out(0).size != 0 && any_integer(y, [](auto v) { return v == 0; }))
    ctx.fail("integer division by zero: y holds a zero");
  run_binary_loop(loop, ctx.in(0), y, ctx.out(0));
}

void power(KernelContext& ctx) {
  const View& y = ctx.in(1);
  const BinaryLoop loop = loop_for(ctx, y.dtype);
  if (is_integer(y.dtype) && ctx.out(0).size != 0 && any_integer(y, [](auto v) { return v < 0; }))
    ctx.fail("integers have no negative powers: y holds a negative exponent; rw::cast to a float type");
  run_binary_loop(loop, ctx.in(0), y, ctx.out(0));
}

// Calls f(x, y, out) for each element of a broadcast of strings.
template <class R, class F>
void over_strings(const View& x, const View& y, const View& out, F f) {
  if (out.size == 0) return;
  const auto* a = x.as<std::string>();
  const auto* b = y.as<std::string>();
  R* o = out.as<R>();
  for_each_run(plan_walk({x.shape, y.shape}, *out.shape), out.size,
               [&](const auto& offsets, const auto& steps, int64_t begin, int64_t n) {
                 for (int64_t i = 0; i < n; ++i)
                   o[begin + i] = f(a[offsets[0] + i * steps[0]], b[offsets[1] + i * steps[1]]);
               });
}

void add(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& y = ctx.in(1);
  if (x.dtype == DType::kString)
    return over_strings<std::string>(x, y, ctx.out(0), [](const auto& a, const auto& b) { return a + b; });
  run_binary_loop(loop_for(ctx, x.dtype), x, y, ctx.out(0));
}

template <bool kEqual>
void equality(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& y = ctx.in(1);
  const View& out = ctx.out(0);
  // With incompatible_shape_error = false, shapes that do not fit are one answer.
  if (Shape s;
      !(*x.shape == *y.shape) && x.size != 1 && y.size != 1 && !broadcast_shapes(*x.shape, *y.shape, &s)) {
    *out.as<bool>() = !kEqual;
    return;
  }
  if (x.dtype == DType::kString)
    return over_strings<bool>(x, y, out, [](const auto& a, const auto& b) { return (a == b) == kEqual; });
  run_binary_loop(loop_for(ctx, x.dtype), x, y, out);
}

// A number as the one element of a tensor of `dtype`, for operands that are attributes.
struct ScalarOperand {
  ScalarOperand(DType dtype, double value) {
    dispatch<kRealTypes>(dtype, [&]<class T>() {
      const T v = static_cast<T>(static_cast<Compute<T>>(value));
      std::memcpy(bytes, &v, sizeof(T));
    });
    view = {bytes, &shape, dtype, 1};
  }
  alignas(8) char bytes[8] = {};
  Shape shape;
  View view;
};

void leaky_relu(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const BinaryLoop loop = ctx.data<BinaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  const ScalarOperand alpha(x.dtype, ctx.attr<float>("alpha"));
  run_binary_loop(loop, x, alpha.view, ctx.out(0));
}

void leaky_relu_grad(KernelContext& ctx) {
  const View& g = ctx.in(0);
  const TernaryLoop loop = ctx.data<TernaryLoops>().by_dtype[size_t(g.dtype)];
  if (!loop) ctx.fail_dtype(g.dtype);
  const ScalarOperand alpha(g.dtype, ctx.attr<float>("alpha"));
  run_ternary_loop(loop, g, ctx.in(1), alpha.view, ctx.out(0));
}

void approximate_equal(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const TernaryLoop loop = ctx.data<TernaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  const ScalarOperand tolerance(x.dtype, ctx.attr<float>("tolerance"));
  run_ternary_loop(loop, x, ctx.in(1), tolerance.view, ctx.out(0));
}

void clip_by_value(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& low = ctx.in(1);
  const View& high = ctx.in(2);
  const TernaryLoop loop = ctx.data<TernaryLoops>().by_dtype[size_t(x.dtype)];
  if (!loop) ctx.fail_dtype(x.dtype);
  // Each bound is one element, whatever its rank, or one per element of x.
  const Shape scalar{};
  auto bound = [&](const View& v) { return v.size == 1 ? View{v.data, &scalar, v.dtype, 1} : v; };
  run_ternary_loop(loop, x, bound(low), bound(high), ctx.out(0));
}

// Select: the condition chooses elements, whole rows (rank 1), or everything (rank 0). Put as axes of size 1
// behind the condition's own, that is SelectV2's broadcast.
Shape condition_shape(const View& condition, const View& out, bool along_rows) {
  Shape shape = *condition.shape;
  if (along_rows && shape.rank() == 1)
    while (shape.rank() < out.rank()) shape.append(1);
  return shape;
}

template <bool kAlongRows>
void select(KernelContext& ctx) {
  const View& x = ctx.in(1);
  const View& y = ctx.in(2);
  const View& out = ctx.out(0);
  const Shape shape = condition_shape(ctx.in(0), out, kAlongRows);
  View condition = ctx.in(0);
  condition.shape = &shape;
  if (x.dtype == DType::kString) {
    if (out.size == 0) return;
    for_each_run(plan_walk({&shape, x.shape, y.shape}, *out.shape), out.size,
                 [&](const auto& offsets, const auto& steps, int64_t begin, int64_t n) {
                   for (int64_t i = 0; i < n; ++i)
                     out.as<std::string>()[begin + i] = condition.as<bool>()[offsets[0] + i * steps[0]]
                                                            ? x.as<std::string>()[offsets[1] + i * steps[1]]
                                                            : y.as<std::string>()[offsets[2] + i * steps[2]];
                 });
    return;
  }
  const TernaryLoop loop = is_host_only(x.dtype) || contains(kComplexTypes, x.dtype)
                               ? nullptr
                               : isa_loops().elementwise->select(size_of(x.dtype));
  if (!loop) ctx.fail_dtype(x.dtype);
  run_ternary_loop(loop, condition, x, y, out);
}

// ((a + b) + c) + ..., in the order of the inputs.
void add_n(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const BinaryLoop loop = loop_for(ctx, out.dtype);
  if (out.size == 0) return;
  if (ctx.num_inputs() == 1) {
    std::memcpy(out.data, ctx.in(0).data, size_t(out.size) * size_of(out.dtype));
    return;
  }
  // In pieces that stay in the cache from one input to the next.
  const int64_t bytes = int64_t(size_of(out.dtype));
  parallel_for(out.size, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    constexpr int64_t kPiece = 4096;
    alignas(64) char partial[2][kPiece * 8];
    for (int64_t i = begin; i < end; i += kPiece) {
      const int64_t n = std::min(kPiece, end - i);
      const char* sum = ctx.in(0).as<char>() + i * bytes;
      for (int k = 1; k < ctx.num_inputs(); ++k) {
        char* to = k + 1 == ctx.num_inputs() ? out.as<char>() + i * bytes : partial[k % 2];
        loop(sum, 1, ctx.in(k).as<char>() + i * bytes, 1, to, n);
        sum = to;
      }
    }
  });
}

}  // namespace

void register_binary_cpu_kernels() {
  register_binary_loops();
  register_ternary_loops();
  for (const char* op : {"Div", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod"})
    register_kernel(op, DeviceType::kCpu, divide, binary_loops_of(op));
  register_kernel("Pow", DeviceType::kCpu, power, binary_loops_of("Pow"));
  register_kernel("Add", DeviceType::kCpu, add, binary_loops_of("AddV2"));
  register_kernel("Equal", DeviceType::kCpu, equality<true>, binary_loops_of("Equal"));
  register_kernel("NotEqual", DeviceType::kCpu, equality<false>, binary_loops_of("NotEqual"));
  register_kernel("LeakyRelu", DeviceType::kCpu, leaky_relu, binary_loops_of("LeakyRelu"));
  register_kernel("LeakyReluGrad", DeviceType::kCpu, leaky_relu_grad, ternary_loops_of("LeakyReluGrad"));
  register_kernel("ApproximateEqual", DeviceType::kCpu, approximate_equal,
                  ternary_loops_of("ApproximateEqual"));
  register_kernel("ClipByValue", DeviceType::kCpu, clip_by_value, ternary_loops_of("ClipByValue"));
  register_kernel("Select", DeviceType::kCpu, select<true>);
  register_kernel("SelectV2", DeviceType::kCpu, select<false>);
  for (const char* op : {"AddN", "AccumulateNV2"})
    register_kernel(op, DeviceType::kCpu, add_n, binary_loops_of("AddV2"));
}

}  // namespace rw
