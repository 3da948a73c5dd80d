// Einsum as one matrix product: diagonals by strides, labels of one input alone by a sum, then
// (batch, left, inner) x (batch, inner, right) -> (batch, left, right), and a copy where the output's order
// is another.
#include <algorithm>
#include <cstring>
#include <string>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/einsum.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/strided.h"
#include "rewind/op/einsum.h"

namespace rw {
namespace {

// A tensor whose axes are named, each label once.
struct Named {
  const void* data = nullptr;
  std::string labels;
  Strides dims, strides;

  size_t find(char label) const { return labels.find(label); }
  bool has(char label) const { return find(label) != std::string::npos; }
  int64_t size(const std::string& of) const {
    int64_t n = 1;
    for (const char c : of) n *= dims[find(c)];
    return n;
  }
};

// Repeated labels step along the diagonal.
Named with_strides(const void* data, const std::string& part, const Shape& shape) {
  Named x;
  x.data = data;
  const Strides strides = dense_strides(Strides(shape.begin(), shape.end()));
  for (size_t a = 0; a < part.size(); ++a) {
    const size_t at = x.find(part[a]);
    if (at != std::string::npos) {
      x.strides[at] += strides[a];
      continue;
    }
    x.labels += part[a];
    x.dims.push_back(shape[int(a)]);
    x.strides.push_back(strides[a]);
  }
  return x;
}

// Whether the axes, in this order, are those of a dense array in which the last has this stride.
bool walks(const Named& x, const std::string& order, int64_t stride) {
  for (size_t i = order.size(); i-- > 0;) {
    const size_t at = x.find(order[i]);
    if (x.dims[at] == 1) continue;
    if (x.strides[at] != stride) return false;
    stride *= x.dims[at];
  }
  return true;
}

class Contraction {
 public:
  explicit Contraction(KernelContext& ctx)
      : ctx_(ctx), dtype_(ctx.out(0).dtype), bytes_(size_of(dtype_)), workspace_(ctx) {}

  void run(const EinsumEquation& equation, const std::vector<Shape>& shapes) {
    const std::string& out = equation.output;
    Named x = with_strides(ctx_.in(0).data, equation.inputs[0], shapes[0]);
    if (equation.inputs.size() == 1) return store(summed(std::move(x), out), out);
    Named y = with_strides(ctx_.in(1).data, equation.inputs[1], shapes[1]);
    x = summed(std::move(x), out + y.labels);
    y = summed(std::move(y), out + x.labels);

    std::string batch, left, right, inner;
    for (const char c : out) {
      if (batch.find(c) != std::string::npos || left.find(c) != std::string::npos ||
          right.find(c) != std::string::npos)
        continue;
      (x.has(c) && y.has(c) ? batch : x.has(c) ? left : right) += c;
    }
    // The inner order is that of the side whose layout then needs no copy.
    for (const char c : x.labels)
      if (y.has(c) && out.find(c) == std::string::npos) inner += c;
    const bool swap = !right.empty() && !left.empty() && out == batch + right + left;
    if (swap) {
      std::swap(x, y);
      std::swap(left, right);
    }
    multiply(x, y, batch, left, right, inner, out);
  }

 private:
  // The sum over the labels that are not in `keep`, as a product with ones.
  Named summed(Named x, const std::string& keep) {
    std::string kept, gone;
    for (const char c : x.labels) (keep.find(c) != std::string::npos ? kept : gone) += c;
    if (gone.empty()) return x;
    const int64_t rows = x.size(kept);
    const int64_t n = x.size(gone);
    const Named dense = in_order(x, kept + gone);
    char* ones = ctx_.scratch<char>(size_t(n) * bytes_);
    dispatch<kRealTypes>(dtype_, [&]<class T>() {
      std::fill_n(reinterpret_cast<T*>(ones), n, static_cast<T>(static_cast<Compute<T>>(1)));
    });
    void* sums = ctx_.scratch<char>(size_t(std::max<int64_t>(rows, 1)) * bytes_);
    gemm(workspace_, dtype_, Gemm::dense(rows, 1, n, false, false), dense.data, ones, sums);
    return packed(x, kept, sums);
  }

  // A dense array with these labels, sizes as in x.
  static Named packed(const Named& x, const std::string& order, const void* data) {
    Named y;
    y.data = data;
    y.labels = order;
    for (const char c : order) y.dims.push_back(x.dims[x.find(c)]);
    y.strides = dense_strides(y.dims);
    return y;
  }

  // x with its axes in this order and dense: x itself if it is so already.
  Named in_order(const Named& x, const std::string& order) {
    if (walks(x, order, 1)) return packed(x, order, x.data);
    void* data = ctx_.scratch<char>(std::max<size_t>(1, size_t(x.size(order))) * bytes_);
    Named y = packed(x, order, data);
    Strides from;
    for (const char c : order) from.push_back(x.strides[x.find(c)]);
    copy_strided(bytes_, y.dims, x.data, from, data, y.strides);
    return y;
  }

  // One factor as a batch of matrices: either way round if its memory allows it.
  struct Matrices {
    const void* data;
    bool transposed;
  };
  Matrices matrices(const Named& x, const std::string& batch, const std::string& rows,
                    const std::string& cols) {
    if (walks(x, batch + rows + cols, 1)) return {x.data, false};
    if (walks(x, batch + cols + rows, 1)) return {x.data, true};
    return {in_order(x, batch + rows + cols).data, false};
  }

  void multiply(const Named& x, const Named& y, const std::string& batch, const std::string& left,
                const std::string& right, std::string inner, const std::string& out) {
    if (!walks(x, batch + left + inner, 1) && !walks(x, batch + inner + left, 1)) {
      std::string other;
      for (const char c : y.labels)
        if (inner.find(c) != std::string::npos) other += c;
      inner = other;
    }
    const Matrices a = matrices(x, batch, left, inner);
    const Matrices b = matrices(y, batch, inner, right);
    const Gemm g =
        Gemm::dense(x.size(left), y.size(right), x.size(inner), a.transposed, b.transposed, x.size(batch));
    const bool direct = out == batch + left + right;
    void* product = direct ? ctx_.out(0).data
                           : ctx_.scratch<char>(std::max<size_t>(1, size_t(g.batch * g.m * g.n)) * bytes_);
    gemm(workspace_, dtype_, g, a.data, b.data, product);
    if (direct) return;
    Named result;
    result.data = product;
    result.labels = batch + left + right;
    for (const char c : result.labels)
      result.dims.push_back(x.has(c) ? x.dims[x.find(c)] : y.dims[y.find(c)]);
    result.strides = dense_strides(result.dims);
    store(result, out);
  }

  // Into the output; where it repeats a label, onto its diagonal.
  void store(const Named& x, const std::string& out) {
    const View& to = ctx_.out(0);
    const Named target = with_strides(to.data, out, *to.shape);
    if (target.labels.size() != out.size() && to.size > 0) std::memset(to.data, 0, size_t(to.size) * bytes_);
    Strides from;
    for (const char c : target.labels) from.push_back(x.strides[x.find(c)]);
    copy_strided(bytes_, target.dims, x.data, from, to.data, target.strides);
  }

  KernelContext& ctx_;
  DType dtype_;
  size_t bytes_;
  Workspace workspace_;
};

void einsum(KernelContext& ctx) {
  if (!contains(kRealTypes, ctx.out(0).dtype)) ctx.fail_dtype(ctx.out(0).dtype);
  std::vector<const Shape*> shapes;
  for (int i = 0; i < ctx.num_inputs(); ++i) shapes.push_back(ctx.in(i).shape);
  const NamedEinsum named = name_axes(EinsumEquation::parse(ctx.attr<std::string>("equation")), shapes);
  Contraction(ctx).run(named.equation, named.shapes);
}

}  // namespace

void register_einsum_cpu_kernels() { register_kernel("Einsum", DeviceType::kCpu, einsum); }

}  // namespace rw
