// Softmax, cross entropy and biases. Sums and maxima of a row run in 16 interleaved lanes that are folded as
// a tree, so that their order is the same for every vector width.
#include "rewind/kernel/cpu/isa/nn.h"

#include "rewind/base/math/exp_log.h"
#include "rewind/kernel/cpu/isa/rows.h"

namespace rw::RW_ISA {
namespace {

constexpr int kLanes = 16;

template <class C>
struct Lanes {
  C v[kLanes];
  explicit Lanes(C start) {
    for (C& lane : v) lane = start;
  }
  // Element i goes to lane i % 16; a later call continues when n was a multiple of 16.
  template <class Get, class Join>
  void take(int64_t n, Get get, Join join) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int j = 0; j < kLanes; ++j) v[j] = join(v[j], get(i + j));
    for (int j = 0; i < n; ++i, ++j) v[j] = join(v[j], get(i));
  }
  template <class Join>
  C fold(Join join) {
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) v[j] = join(v[j], v[j + half]);
    return v[0];
  }
};

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kLarger = [](auto a, auto b) { return b > a ? b : a; };

template <class C, class Get>
C sum_of(int64_t n, Get get) {
  Lanes<C> lanes(C(0));
  lanes.take(n, get, kAdd);
  return lanes.fold(kAdd);
}

template <class C>
void exp_in_place(C* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = scalar::exp(x[i]);
}

// shifted = x - max(x), row by row.
template <class T, class C>
void shift_rows(const T* x, MatrixSteps steps, C* shifted, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += steps.row, shifted += n) {
    if (steps.column == 0) {
      const C v = static_cast<C>(*x);
      for (int64_t i = 0; i < n; ++i) shifted[i] = v - v;
      continue;
    }
    Lanes<C> lanes(-static_cast<C>(scalar::kInfinity));
    lanes.take(n, [x](int64_t i) { return static_cast<C>(x[i]); }, kLarger);
    const C top = lanes.fold(kLarger);
    for (int64_t i = 0; i < n; ++i) shifted[i] = static_cast<C>(x[i]) - top;
  }
}

// sums[r] = sum of exp(shifted[r, :]); rows <= softmax_block_rows(n).
template <class C>
void sum_exp(const C* shifted, C* sums, int64_t rows, int64_t n) {
  constexpr int64_t kChunk = 1024;
  C exps[kChunk];
  if (n <= kChunk) {
    for (int64_t r0 = 0; r0 < rows; r0 += kChunk / n) {
      const int64_t some = r0 + kChunk / n < rows ? kChunk / n : rows - r0;
      for (int64_t i = 0; i < some * n; ++i) exps[i] = scalar::exp(shifted[r0 * n + i]);
      for (int64_t r = 0; r < some; ++r) {
        const C* e = exps + r * n;
        sums[r0 + r] = sum_of<C>(n, [e](int64_t i) { return e[i]; });
      }
    }
    return;
  }
  Lanes<C> lanes(C(0));
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t some = at + kChunk < n ? kChunk : n - at;
    for (int64_t i = 0; i < some; ++i) exps[i] = scalar::exp(shifted[at + i]);
    lanes.take(some, [&exps](int64_t i) { return exps[i]; }, kAdd);
  }
  sums[0] = lanes.fold(kAdd);
}

// Where a block of rows is worked on: in the output itself, or in floats beside it.
template <class T>
Compute<T>* workspace(T* out, float* work) {
  if constexpr (std::is_same_v<T, Compute<T>>) return out;
  else return work;
}

template <class T>
void softmax(const void* x, void* out, float* work, int64_t rows, int64_t n) {
  using C = Compute<T>;
  const int64_t step = softmax_block_rows(n);
  for (int64_t r0 = 0; r0 < rows; r0 += step) {
    const int64_t some = r0 + step < rows ? step : rows - r0;
    T* o = static_cast<T*>(out) + r0 * n;
    C* e = workspace(o, work);
    shift_rows(static_cast<const T*>(x) + r0 * n, {n, 1}, e, some, n);
    exp_in_place(e, some * n);
    for (int64_t r = 0; r < some; ++r, e += n, o += n) {
      const C inverse = C(1) / sum_of<C>(n, [e](int64_t i) { return e[i]; });
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<T>(e[i] * inverse);
    }
  }
}

template <class T>
void log_softmax(const void* x, void* out, float* work, int64_t rows, int64_t n) {
  using C = Compute<T>;
  C sums[1024];
  const int64_t step = softmax_block_rows(n);
  for (int64_t r0 = 0; r0 < rows; r0 += step) {
    const int64_t some = r0 + step < rows ? step : rows - r0;
    T* o = static_cast<T*>(out) + r0 * n;
    C* s = workspace(o, work);
    shift_rows(static_cast<const T*>(x) + r0 * n, {n, 1}, s, some, n);
    sum_exp(s, sums, some, n);
    for (int64_t r = 0; r < some; ++r, s += n, o += n) {
      const C log_sum = scalar::log(sums[r]);
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<T>(s[i] - log_sum);
    }
  }
}

// The common part of both cross entropies: `loss_of(row, shifted, log_sum)`, then `store(row, probabilities)`
// with the row's softmax where `shifted` was.
template <class T, class LossOf, class Store>
void cross_entropy_rows(const T* x, MatrixSteps steps, T* loss, T* backprop, float* work, int64_t rows,
                        int64_t n, LossOf loss_of, Store store) {
  using C = Compute<T>;
  C sums[1024];
  const int64_t step = softmax_block_rows(n);
  for (int64_t r0 = 0; r0 < rows; r0 += step) {
    const int64_t some = r0 + step < rows ? step : rows - r0;
    C* s = workspace(backprop + r0 * n, work);
    shift_rows(x + r0 * steps.row, steps, s, some, n);
    sum_exp(s, sums, some, n);
    for (int64_t r = 0; r < some; ++r)
      loss[r0 + r] = static_cast<T>(loss_of(r0 + r, s + r * n, scalar::log(sums[r])));
    exp_in_place(s, some * n);
    for (int64_t r = 0; r < some; ++r) {
      C* p = s + r * n;
      const C inverse = C(1) / sums[r];
      for (int64_t i = 0; i < n; ++i) p[i] *= inverse;
      store(r0 + r, p);
    }
  }
}

template <class T>
void cross_entropy(const void* features, MatrixSteps features_steps, const void* labels,
                   MatrixSteps labels_steps, void* loss, void* backprop, float* work, int64_t rows,
                   int64_t n) {
  using C = Compute<T>;
  const T* y = static_cast<const T*>(labels);
  T* b = static_cast<T*>(backprop);
  cross_entropy_rows<T>(
      static_cast<const T*>(features), features_steps, static_cast<T*>(loss), b, work, rows, n,
      [=](int64_t r, const C* shifted, C log_sum) {
        const T* row = y + r * labels_steps.row;
        if (labels_steps.column == 0) {
          const C v = static_cast<C>(*row);
          return sum_of<C>(n, [=](int64_t i) { return v * (log_sum - shifted[i]); });
        }
        return sum_of<C>(n, [=](int64_t i) { return static_cast<C>(row[i]) * (log_sum - shifted[i]); });
      },
      [=](int64_t r, const C* p) {
        const T* row = y + r * labels_steps.row;
        T* o = b + r * n;
        for (int64_t i = 0; i < n; ++i)
          o[i] = static_cast<T>(p[i] - static_cast<C>(row[i * labels_steps.column]));
      });
}

template <class T>
void sparse_cross_entropy(const void* features, const int64_t* labels, void* loss, void* backprop,
                          float* work, int64_t rows, int64_t n) {
  using C = Compute<T>;
  T* b = static_cast<T*>(backprop);
  cross_entropy_rows<T>(
      static_cast<const T*>(features), {n, 1}, static_cast<T*>(loss), b, work, rows, n,
      [=](int64_t r, const C* shifted, C log_sum) { return log_sum - shifted[labels[r]]; },
      [=](int64_t r, C* p) {
        p[labels[r]] -= C(1);
        if constexpr (!std::is_same_v<T, C>)
          for (int64_t i = 0; i < n; ++i) b[r * n + i] = static_cast<T>(p[i]);
      });
}

template <class T>
void bias_add(const void* value, const void* bias, void* out, int64_t rows, int64_t channels, int64_t inner) {
  using C = Compute<T>;
  const T* __restrict v = static_cast<const T*>(value);
  const T* __restrict b = static_cast<const T*>(bias);
  T* __restrict o = static_cast<T*>(out);
  if (inner == 1) {
    for (int64_t r = 0; r < rows; ++r, v += channels, o += channels)
      for (int64_t c = 0; c < channels; ++c)
        o[c] = static_cast<T>(static_cast<C>(v[c]) + static_cast<C>(b[c]));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < channels; ++c, v += inner, o += inner) {
      const C add = static_cast<C>(b[c]);
      for (int64_t i = 0; i < inner; ++i) o[i] = static_cast<T>(static_cast<C>(v[i]) + add);
    }
  }
}

template <class T>
void column_sum(const void* x, void* sums, int64_t rows, int64_t channels) {
  using C = Compute<T>;
  const T* __restrict v = static_cast<const T*>(x);
  C* __restrict s = static_cast<C*>(sums);
  for (int64_t c = 0; c < channels; ++c) s[c] = C(0);
  for (int64_t r = 0; r < rows; ++r, v += channels)
    for (int64_t c = 0; c < channels; ++c) s[c] += static_cast<C>(v[c]);
}

template <class T>
void flat_sum(const void* x, void* sum, int64_t n) {
  using C = Compute<T>;
  const T* v = static_cast<const T*>(x);
  *static_cast<C*>(sum) = sum_of<C>(n, [v](int64_t i) { return static_cast<C>(v[i]); });
}

template <class T>
void square_sum(const void* x, void* sum, int64_t n) {
  using C = Compute<T>;
  const T* v = static_cast<const T*>(x);
  *static_cast<C*>(sum) =
      sum_of<C>(n, [v](int64_t i) { return static_cast<C>(v[i]) * static_cast<C>(v[i]); });
}

void centered_product_sum(const float* grad, const float* __restrict x, const float* __restrict mean,
                          float* __restrict sums, int64_t rows, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c) sums[c] = 0;
  for (int64_t r = 0; r < rows; ++r, x += channels) {
    if (grad) {
      const float* __restrict g = grad + r * channels;
      for (int64_t c = 0; c < channels; ++c) sums[c] += g[c] * (x[c] - mean[c]);
    } else {
      for (int64_t c = 0; c < channels; ++c) sums[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
    }
  }
}

void normalize(const float* __restrict x, const float* __restrict mean, const float* __restrict gain,
               const float* __restrict offset, float* __restrict out, int64_t rows, int64_t channels) {
  for (int64_t r = 0; r < rows; ++r, x += channels, out += channels)
    for (int64_t c = 0; c < channels; ++c) out[c] = (x[c] - mean[c]) * gain[c] + offset[c];
}

void normalize_grad(const float* __restrict grad, const float* __restrict x, const float* __restrict mean,
                    const float* __restrict mean_grad, const float* __restrict slope,
                    const float* __restrict gain, float* __restrict out, int64_t rows, int64_t channels) {
  for (int64_t r = 0; r < rows; ++r, grad += channels, x += channels, out += channels)
    for (int64_t c = 0; c < channels; ++c)
      out[c] = (grad[c] - mean_grad[c] - (x[c] - mean[c]) * slope[c]) * gain[c];
}

}  // namespace

const NnLoops* nn_loops() {
  static constinit NnLoops loops = {};
  if (loops.softmax[int(DType::kFloat32)]) return &loops;
  for_each_type<kRealTypes>([&]<class T>() {
    constexpr int d = int(dtype_of<T>);
    loops.bias_add[d] = bias_add<T>;
    loops.column_sum[d] = column_sum<T>;
    loops.flat_sum[d] = flat_sum<T>;
  });
  loops.centered_product_sum = centered_product_sum;
  loops.normalize = normalize;
  loops.normalize_grad = normalize_grad;
  for_each_type<kFloatTypes>([&]<class T>() {
    constexpr int d = int(dtype_of<T>);
    loops.square_sum[d] = square_sum<T>;
    loops.log_softmax[d] = log_softmax<T>;
    loops.cross_entropy[d] = cross_entropy<T>;
    loops.sparse_cross_entropy[d] = sparse_cross_entropy<T>;
    loops.softmax[d] = softmax<T>;
  });
  return &loops;
}

}  // namespace rw::RW_ISA
