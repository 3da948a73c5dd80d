// Cast: the loops of isa/cast.cc; Truncate, which cuts the mantissa instead of rounding it; complex numbers
// by their parts.
#include <bit>
#include <cstring>

#include "rewind/kernel/cpu/elementwise.h"

namespace rw {
namespace {

struct CastLoops {
  UnaryLoop by_dtypes[24][24] = {};
};

const CastLoops& cast_loops() {
  static const CastLoops& loops = *[] {
    auto* all = new CastLoops;
    for (const UnaryRow* row = isa_loops().elementwise->casts; row->op; ++row)
      all->by_dtypes[size_t(row->in)][size_t(row->out)] = row->loop;
    return all;
  }();
  return loops;
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 10;
    case DType::kBfloat16: return 7;
    case DType::kFloat32: return 23;
    case DType::kFloat64: return 52;
    default: return -1;
  }
}

template <class T, class Bits>
void clear_low_bits(const View& x, T* to, int count) {
  const T* from = x.as<T>();
  const Bits mask = ~((Bits{1} << count) - 1);
  for (int64_t i = 0; i < x.size; ++i) to[i] = std::bit_cast<T>(Bits(std::bit_cast<Bits>(from[i]) & mask));
}

void cast_real(KernelContext& ctx, const View& x, const View& out) {
  const UnaryLoop loop = ctx.data<CastLoops>().by_dtypes[size_t(x.dtype)][size_t(out.dtype)];
  if (!loop) ctx.fail_dtype(contains(kRealTypes | set_of(DType::kBool), x.dtype) ? out.dtype : x.dtype);
  const int cut = mantissa_bits(x.dtype) - mantissa_bits(out.dtype);
  const bool truncates = mantissa_bits(out.dtype) > 0 && cut > 0 && ctx.attr<bool>("Truncate");
  if (!truncates || !contains(set_of(DType::kFloat32, DType::kFloat64), x.dtype))
    return run_unary_loop(loop, x, out);
  View cut_x = x;
  if (x.dtype == DType::kFloat32) {
    auto* to = ctx.scratch<float>(size_t(x.size));
    clear_low_bits<float, uint32_t>(x, to, cut);
    cut_x.data = to;
  } else {
    auto* to = ctx.scratch<double>(size_t(x.size));
    clear_low_bits<double, uint64_t>(x, to, cut);
    cut_x.data = to;
  }
  run_unary_loop(loop, cut_x, out);
}

// Of a complex type's parts; kInvalid for other types.
DType part_type(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : DType::kInvalid;
}

// A complex array as one of its real and imaginary parts, one behind the other.
View parts_of(const View& complex, DType part) {
  View parts = complex;
  parts.dtype = part;
  parts.size = 2 * complex.size;
  return parts;
}

// Every second number of `from` to every number of `to`, or the other way.
template <class T>
void copy_strided(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(to)[i * to_step] = static_cast<const T*>(from)[i * from_step];
}
void copy_strided(DType dtype, const void* from, int64_t from_step, void* to, int64_t to_step, int64_t n) {
  if (dtype == DType::kFloat32) copy_strided<float>(from, from_step, to, to_step, n);
  else copy_strided<double>(from, from_step, to, to_step, n);
}

void* real_scratch(KernelContext& ctx, DType dtype, int64_t n) {
  if (dtype == DType::kFloat32) return ctx.scratch<float>(size_t(n));
  return ctx.scratch<double>(size_t(n));
}

// A real number has no imaginary part, and what becomes a real number loses it.
void cast(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
  const DType from = part_type(x.dtype), to = part_type(out.dtype);
  if (from == DType::kInvalid && to == DType::kInvalid) return cast_real(ctx, x, out);
  if (from != DType::kInvalid && to != DType::kInvalid)
    return cast_real(ctx, parts_of(x, from), parts_of(out, to));
  View real = from != DType::kInvalid ? x : out;
  real.dtype = from != DType::kInvalid ? from : to;
  real.data = real_scratch(ctx, real.dtype, real.size);
  if (from != DType::kInvalid) {
    copy_strided(from, x.data, 2, real.data, 1, x.size);
    return cast_real(ctx, real, out);
  }
  cast_real(ctx, x, real);
  std::memset(out.data, 0, size_t(out.size) * size_of(out.dtype));
  copy_strided(to, real.data, 1, out.data, 2, out.size);
}

}  // namespace

void register_cast_cpu_kernels() { register_kernel("Cast", DeviceType::kCpu, cast, &cast_loops()); }

}  // namespace rw
