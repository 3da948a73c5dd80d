// Rows are looked at in blocks: the extreme of a block by vectors, and its place only where the block beats
// what came before. Short rows go several at a time, each with its own running extreme.
#include "rewind/kernel/cpu/isa/arg_extreme.h"

#include <limits>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/isa/vectors.h"

namespace rw::RW_ISA {
namespace {

constexpr int64_t kBlock = 1024;
constexpr int64_t kShort = 64;
constexpr int64_t kColumns = 256;  // at a time
constexpr int kTogether = 8;       // short rows

template <class C, bool kMax>
bool better(C x, C best) {
  return kMax ? x > best : x < best;
}

template <class C, bool kMax>
constexpr C worst() {
  if constexpr (std::is_same_v<C, bool>) return !kMax;
  else if constexpr (std::is_floating_point_v<C>)
    return kMax ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  else return kMax ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max();
}

// The extreme of n elements.
template <class T, bool kMax>
T extreme(const T* x, int64_t n) {
  constexpr int kLanes = kLanesOf<T>;
  using V = LooseVectorOf<T>;
  VectorOf<T> best[4];
  for (auto& b : best) b = worst<T, kMax>() - VectorOf<T>{};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) {
      const VectorOf<T> v = *reinterpret_cast<const V*>(x + i + k * kLanes);
      best[k] = (kMax ? v > best[k] : v < best[k]) ? v : best[k];
    }
  }
  T result = worst<T, kMax>();
  for (const auto& b : best)
    for (int lane = 0; lane < kLanes; ++lane) result = better<T, kMax>(b[lane], result) ? b[lane] : result;
  for (; i < n; ++i) result = better<T, kMax>(x[i], result) ? x[i] : result;
  return result;
}

template <class T>
int64_t first_equal(const T* x, T value) {
  constexpr int64_t kStep = 64;
  int64_t i = 0;
  for (;; i += kStep) {
    int found = 0;
    for (int64_t k = 0; k < kStep; ++k) found |= x[i + k] == value;
    if (found) break;
  }
  while (!(x[i] == value)) ++i;
  return i;
}

template <class T, bool kMax>
void long_row(const T* x, int64_t n, T* value, int64_t* place) {
  T best = worst<T, kMax>();
  int64_t at = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t count = n - begin < kBlock ? n - begin : kBlock;
    const T v = extreme<T, kMax>(x + begin, count);
    if (!better<T, kMax>(v, best)) continue;
    best = v;
    int64_t i = begin;
    // Whole steps of first_equal must lie inside the row.
    if (count == kBlock) i += first_equal(x + begin, v);
    else
      while (!(x[i] == v)) ++i;
    at = i;
  }
  *value = best;
  *place = at;
}

template <class T, bool kMax, int kRows>
void short_rows(const T* x, int64_t n, T* value, int64_t* place) {
  using C = Compute<T>;
  C best[kRows];
  int32_t at[kRows];
  for (int r = 0; r < kRows; ++r) best[r] = worst<C, kMax>(), at[r] = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int r = 0; r < kRows; ++r) {
      const C v = static_cast<C>(x[r * n + i]);
      const bool wins = better<C, kMax>(v, best[r]);
      best[r] = wins ? v : best[r];
      at[r] = wins ? int32_t(i) : at[r];
    }
  }
  for (int r = 0; r < kRows; ++r) value[r] = static_cast<T>(best[r]), place[r] = at[r];
}

template <class T>
constexpr bool kHasVectors =
    !std::is_same_v<T, bool> && !std::is_same_v<T, Half> && !std::is_same_v<T, Bfloat16>;

template <class T, bool kMax>
void rows(const void* from, int64_t n, int64_t count, void* values, int64_t* place) {
  const T* x = static_cast<const T*>(from);
  T* value = static_cast<T*>(values);
  if constexpr (kHasVectors<T>) {
    if (n >= kShort) {
      for (int64_t i = 0; i < count; ++i) long_row<T, kMax>(x + i * n, n, value + i, place + i);
      return;
    }
  }
  int64_t i = 0;
  for (; i + kTogether <= count; i += kTogether)
    short_rows<T, kMax, kTogether>(x + i * n, n, value + i, place + i);
  for (; i < count; ++i) short_rows<T, kMax, 1>(x + i * n, n, value + i, place + i);
}

template <class T, bool kMax>
void columns(const void* from, int64_t stride, int64_t n, int64_t count, void* values, int64_t* place) {
  // As wide as the places beside them, so that both fill the same vectors.
  using C = std::conditional_t<(sizeof(Compute<T>) < 4), int32_t, Compute<T>>;
  using P = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
  const T* x = static_cast<const T*>(from);
  T* value = static_cast<T*>(values);
  for (int64_t begin = 0; begin < count; begin += kColumns) {
    const int64_t some = count - begin < kColumns ? count - begin : kColumns;
    C best[kColumns];
    P at[kColumns];
    for (int64_t c = 0; c < some; ++c) best[c] = C(worst<Compute<T>, kMax>()), at[c] = 0;
    for (int64_t r = 0; r < n; ++r) {
      const T* row = x + r * stride + begin;
      for (int64_t c = 0; c < some; ++c) {
        const C v = static_cast<C>(row[c]);
        const bool wins = better<C, kMax>(v, best[c]);
        best[c] = wins ? v : best[c];
        at[c] = wins ? P(r) : at[c];
      }
    }
    for (int64_t c = 0; c < some; ++c) value[begin + c] = static_cast<T>(best[c]), place[begin + c] = at[c];
  }
}

template <class T>
constexpr ArgExtremeLoops loops_of(bool max) {
  if (max) return {dtype_of<T>, true, rows<T, true>, columns<T, true>};
  return {dtype_of<T>, false, rows<T, false>, columns<T, false>};
}

}  // namespace

const ArgExtremeLoops* arg_extreme_loops() {
#define RW_BOTH(T) loops_of<T>(true), loops_of<T>(false)
  static constexpr ArgExtremeLoops kLoops[] = {RW_BOTH(float),    RW_BOTH(double),
                                               RW_BOTH(Half),     RW_BOTH(Bfloat16),
                                               RW_BOTH(int8_t),   RW_BOTH(int16_t),
                                               RW_BOTH(int32_t),  RW_BOTH(int64_t),
                                               RW_BOTH(uint8_t),  RW_BOTH(uint16_t),
                                               RW_BOTH(bool),     RW_BOTH(uint32_t),
                                               RW_BOTH(uint64_t), {DType::kInvalid, false, nullptr, nullptr}};
#undef RW_BOTH
  return kLoops;
}

}  // namespace rw::RW_ISA
