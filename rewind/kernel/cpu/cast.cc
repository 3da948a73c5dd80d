// Cast: the loops of isa/cast.cc, and Truncate, which cuts the mantissa instead of rounding it.
#include <bit>

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

void cast(KernelContext& ctx) {
  const View& x = ctx.in(0);
  const View& out = ctx.out(0);
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

}  // namespace

void register_cast_cpu_kernels() { register_kernel("Cast", DeviceType::kCpu, cast, &cast_loops()); }

}  // namespace rw
