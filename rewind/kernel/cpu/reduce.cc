// Reductions over any set of axes. Neighbouring axes of one kind are merged, so that the input is an
// alternation of kept and reduced segments; passes then reduce the innermost reduced segment until none is
// left. A pass shortens long segments by a fixed factor instead of finishing them: partial results are the
// next pass's input. What is added to what thus depends on shape and dtype alone, and every pass is split
// freely over the threads.
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "rewind/base/dispatch.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/reduce.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

constexpr int64_t kRunBlock = 4096;  // elements along the last axis that one partial result covers
constexpr int64_t kRowBlock = 64;    // rows of a column reduction that one partial result covers
constexpr int64_t kColumnChunk =
    8192;  // columns at a time: long runs of each row, accumulators in the near caches
constexpr int64_t kGrain = 32768;  // elements a thread should at least have

enum class Finish : uint8_t { kNone, kMean, kRoot };

struct Reduction {
  const ReduceRow* by_dtype[24] = {};  // the first pass
  const ReduceRow* combine[24] = {};   // the later ones, on accumulators
  Finish finish = Finish::kNone;
  bool linear = false;  // real and imaginary parts are reduced each by itself
};

struct Segment {
  int64_t size;
  bool reduced;
};
using Segments = SmallVector<Segment, 8>;

void append(Segments& list, Segment s) {
  if (s.size == 1) return;
  if (!list.empty() && list.back().reduced == s.reduced) list.back().size *= s.size;
  else list.push_back(s);
}

Segments collapse(const View& x, const View& axes) {
  SmallVector<bool, 8> reduced(size_t(x.rank()), false);
  for (int64_t i = 0; i < axes.size; ++i) {
    const int64_t a = axes.dtype == DType::kInt64 ? axes.as<int64_t>()[i] : axes.as<int32_t>()[i];
    reduced[size_t(a < 0 ? a + x.rank() : a)] = true;
  }
  Segments list;
  for (int a = 0; a < x.rank(); ++a) append(list, {x.dim(a), reduced[size_t(a)]});
  return list;
}

// acc[0..n) to elements of the output. `acc` and `out` may be the same memory.
template <class T, class C>
void finish_range(const C* acc, T* out, int64_t n, Finish finish, int64_t count) {
  switch (finish) {
    case Finish::kNone:
      if (static_cast<const void*>(acc) == static_cast<const void*>(out)) return;
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i]);
      return;
    case Finish::kMean:
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] / static_cast<C>(count));
      return;
    case Finish::kRoot:
      if constexpr (std::is_floating_point_v<C>) {
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(std::sqrt(acc[i]));
      } else {
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(std::sqrt(static_cast<double>(acc[i])));
      }
      return;
  }
}

// One pass: (outer, n, inner) to (outer, blocks, inner).
struct Pass {
  const ReduceRow* loops;
  const char* x;
  char* out;
  int64_t item, out_item;  // bytes
  int64_t outer, n, inner, blocks;
};

void run_rows(const Pass& p, int64_t begin, int64_t end) {
  if (p.blocks == 1)
    return p.loops->rows(p.x + begin * p.n * p.item, p.n, p.n, end - begin, p.out + begin * p.out_item);
  for (int64_t u = begin; u < end;) {
    const int64_t row = u / p.blocks;
    const int64_t block = u % p.blocks;
    const int64_t at = block * kRunBlock;
    const char* x = p.x + (row * p.n + at) * p.item;
    if (block == p.blocks - 1) {
      p.loops->rows(x, 0, p.n - at, 1, p.out + u * p.out_item);
      ++u;
    } else {
      const int64_t count = std::min(end - u, p.blocks - 1 - block);
      p.loops->rows(x, kRunBlock, kRunBlock, count, p.out + u * p.out_item);
      u += count;
    }
  }
}

// Units are (outer, block, column chunk).
void run_columns(const Pass& p, int64_t chunks, int64_t begin, int64_t end) {
  for (int64_t u = begin; u < end; ++u) {
    const int64_t c = u % chunks * kColumnChunk;
    const int64_t ob = u / chunks;
    const int64_t row = ob % p.blocks * kRowBlock;
    const int64_t rows = std::min(p.n - row, kRowBlock);
    const char* x = p.x + ((ob / p.blocks * p.n + row) * p.inner + c) * p.item;
    p.loops->columns(x, p.inner, rows, std::min(p.inner - c, kColumnChunk),
                     p.out + (ob * p.inner + c) * p.out_item);
  }
}

// `done(begin, end)` is called for each range of the pass's output once it is there.
template <class F>
void run_pass(const Pass& p, const F& done) {
  if (p.inner == 1) {
    const int64_t cost = std::min(p.n, kRunBlock);
    parallel_for(p.outer * p.blocks, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
      run_rows(p, begin, end);
      done(begin, end);
    });
    return;
  }
  const int64_t chunks = (p.inner + kColumnChunk - 1) / kColumnChunk;
  const int64_t cost = std::min(p.n, kRowBlock) * std::min(p.inner, kColumnChunk);
  parallel_for(p.outer * p.blocks * chunks, std::max<int64_t>(1, kGrain / cost),
               [&](int64_t begin, int64_t end) {
                 run_columns(p, chunks, begin, end);
                 auto at = [&](int64_t u) { return u / chunks * p.inner + u % chunks * kColumnChunk; };
                 done(at(begin), at(end));
               });
}

template <class T, class C>
void fill_identity(const Reduction& r, const View& out, DType dtype) {
  if (out.size == 0) return;
  C zero{};
  if (r.finish == Finish::kMean) {
    zero = std::is_floating_point_v<C> ? std::numeric_limits<C>::quiet_NaN() : C(0);
  } else {
    r.by_dtype[size_t(dtype)]->rows(&zero, 0, 0, 1, &zero);  // a run of no elements
  }
  for (int64_t i = 0; i < out.size; ++i) out.as<T>()[i] = static_cast<T>(zero);
}

// T: the elements, C: the accumulators.
template <class T, class C>
void reduce_as(KernelContext& ctx, const Reduction& r, const View& x, Segments segments, const View& out) {
  if (x.size == 0) return fill_identity<T, C>(r, out, x.dtype);
  const int64_t count = x.size / out.size;
  if (segments.empty() || (segments.size() == 1 && !segments[0].reduced)) {
    if (r.finish == Finish::kNone) {
      std::memcpy(out.data, x.data, size_t(x.size) * sizeof(T));
      return;
    }
    segments = Segments{{x.size, false}, {1, true}};
  }
  const ReduceRow* loops = r.by_dtype[size_t(x.dtype)];
  const char* source = static_cast<const char*>(x.data);
  int64_t item = sizeof(T);
  for (;;) {
    size_t at = segments.size() - 1;
    if (!segments[at].reduced) --at;
    Pass p{loops, source, nullptr, item, sizeof(C), 1, segments[at].size, 1, 1};
    for (size_t i = 0; i < at; ++i) p.outer *= segments[i].size;
    for (size_t i = at + 1; i < segments.size(); ++i) p.inner *= segments[i].size;
    const int64_t block = p.inner == 1 ? kRunBlock : kRowBlock;
    p.blocks = (p.n + block - 1) / block;
    Segments next;
    bool more = false;
    for (size_t i = 0; i < segments.size(); ++i) {
      Segment s = segments[i];
      if (i == at) s.size = p.blocks;
      append(next, s);
    }
    for (const Segment& s : next) more |= s.reduced;
    const bool direct = !more && std::is_same_v<C, T>;
    const int64_t out_size = p.outer * p.blocks * p.inner;
    p.out = direct ? static_cast<char*>(out.data) : reinterpret_cast<char*>(ctx.scratch<C>(size_t(out_size)));
    if (!more) {
      run_pass(p, [&](int64_t begin, int64_t end) {
        finish_range<T, C>(reinterpret_cast<const C*>(p.out) + begin, out.as<T>() + begin, end - begin,
                           r.finish, count);
      });
      return;
    }
    run_pass(p, [](int64_t, int64_t) {});
    loops = r.combine[size_t(std::is_same_v<C, T> ? x.dtype : dtype_of<C>)];
    source = p.out;
    item = sizeof(C);
    segments = std::move(next);
  }
}

// Complex numbers as pairs of real ones: a last axis of 2, which is kept.
template <class T>
void reduce_parts(KernelContext& ctx, const Reduction& r, View x, Segments segments, View out) {
  for (View* v : {&x, &out}) {
    v->dtype = dtype_of<T>;
    v->size *= 2;
  }
  append(segments, {2, false});
  reduce_as<T, T>(ctx, r, x, std::move(segments), out);
}

void reduce(KernelContext& ctx) {
  const Reduction& r = ctx.data<Reduction>();
  const View& x = ctx.in(0);
  const Segments segments = collapse(x, ctx.in(1));
  if (r.linear && x.dtype == DType::kComplex64) return reduce_parts<float>(ctx, r, x, segments, ctx.out(0));
  if (r.linear && x.dtype == DType::kComplex128) return reduce_parts<double>(ctx, r, x, segments, ctx.out(0));
  if (!r.by_dtype[size_t(x.dtype)]) ctx.fail_dtype(x.dtype);
  if (x.dtype == DType::kBool) return reduce_as<uint8_t, uint8_t>(ctx, r, x, segments, ctx.out(0));
  dispatch<kRealTypes>(x.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      if (r.finish == Finish::kMean) return reduce_as<T, Wide>(ctx, r, x, segments, ctx.out(0));
    }
    reduce_as<T, Compute<T>>(ctx, r, x, segments, ctx.out(0));
  });
}

void add_reduction(const char* op, std::string_view first, std::string_view combine, Finish finish) {
  auto* r = new Reduction;
  r->finish = finish;
  r->linear = first == "Sum" && finish == Finish::kNone;
  for (const ReduceRow* row = isa_loops().reduce; row->op; ++row) {
    const bool wide = finish == Finish::kMean && is_integer(row->in);
    if ((wide ? "WideSum" : first) == row->op) r->by_dtype[size_t(row->in)] = row;
    if (combine == row->op) r->combine[size_t(row->in)] = row;
  }
  register_kernel(op, DeviceType::kCpu, reduce, r);
}

}  // namespace

void register_scan_cpu_kernels();
void register_arg_max_cpu_kernels();

void register_reduce_cpu_kernels() {
  for (const char* op : {"Sum", "Prod", "Max", "Min", "Any", "All"}) add_reduction(op, op, op, Finish::kNone);
  add_reduction("Mean", "Sum", "Sum", Finish::kMean);
  add_reduction("EuclideanNorm", "EuclideanNorm", "Sum", Finish::kRoot);
  register_scan_cpu_kernels();
  register_arg_max_cpu_kernels();
}

}  // namespace rw
