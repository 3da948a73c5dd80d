// Rows of different lengths: to one dense tensor and back, ranges, gathers. And counts of integers.
#include <algorithm>
#include <cmath>

#include "rewind/base/dispatch.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

// The output, whose sizes the shape rule may or may not have known.
const View& result(KernelContext& ctx, int i, Shape shape) {
  const View& out = ctx.out(i);
  if (out.shape && out.shape->fully_known()) return out;
  return ctx.allocate_output(i, std::move(shape));
}

void store(const View& out, int64_t at, int64_t value) {
  if (out.dtype == DType::kInt32) out.as<int32_t>()[at] = int32_t(value);
  else out.as<int64_t>()[at] = value;
}

// Checks that input i rises from 0 to `last` (-1: to any number).
const int64_t* checked_splits(KernelContext& ctx, int i, const std::string& name, int64_t last) {
  const int64_t* splits = widened(ctx, ctx.in(i));
  const int64_t count = ctx.in(i).size;
  if (count == 0) ctx.fail(name + " must not be empty");
  for (int64_t k = 0; k < count; ++k)
    if (splits[k] < (k == 0 ? 0 : splits[k - 1]) || (k == 0 && splits[0] != 0))
      ctx.fail(name + " must rise from 0: " + place_of(ctx, i, k) + " = " + std::to_string(splits[k]));
  if (last >= 0 && splits[count - 1] != last)
    ctx.fail(name + " must end with the number of values, " + std::to_string(last) + ": got " +
             std::to_string(splits[count - 1]));
  return splits;
}

// ---- to a dense tensor

// What one partition says of its items: the row of each, and its place in that row.
struct Partition {
  std::vector<int64_t> rows, places;
  int64_t longest = 0;
};

class ToTensor {
 public:
  explicit ToTensor(KernelContext& ctx)
      : ctx_(ctx), types_(ctx.attr<std::vector<std::string>>("row_partition_types")) {}

  void run() {
    const bool named = types_[0] == "FIRST_DIM_SIZE";
    const int64_t first = named ? *widened(ctx_, ctx_.in(3)) : ctx_.in(3).size - 1;
    if (first < 0) ctx_.fail("the number of rows must not be negative: got " + std::to_string(first));
    int64_t parents = first;
    std::vector<Partition> partitions;
    for (size_t i = named; i < types_.size(); ++i) {
      partitions.push_back(types_[i] == "ROW_SPLITS" ? by_splits(int(i) + 3, parents)
                                                     : by_rows(int(i) + 3, parents));
      parents = int64_t(partitions.back().rows.size());
    }
    const View& values = ctx_.in(1);
    if (parents != values.dim(0))
      ctx_.fail("the partitions are of " + std::to_string(parents) + " values: got " +
                std::to_string(values.dim(0)));
    Shape shape{first};
    for (const Partition& p : partitions) shape.append(p.longest);
    for (int d = 1; d < values.rank(); ++d) shape.append(values.dim(d));
    if (const View& wanted = ctx_.in(0); wanted.rank() == 1) {
      const int64_t* sizes = widened(ctx_, wanted);
      for (int d = 0; d < shape.rank(); ++d)
        if (sizes[d] >= 0) shape.set(d, sizes[d]);
    }
    const View& out = result(ctx_, 0, shape);
    fill(out, values);
    std::vector<int64_t> at;  // places of the items in the output; -1: cut off
    for (size_t k = 0; k < partitions.size(); ++k) {
      const Partition& p = partitions[k];
      const int64_t width = out.dim(int(k) + 1);
      std::vector<int64_t> next(p.rows.size());
      for (size_t i = 0; i < next.size(); ++i) {
        // Rows of the first level, which may be any number, are where they are.
        const int64_t row = k > 0 ? at[size_t(p.rows[i])] : p.rows[i] < out.dim(0) ? p.rows[i] : -1;
        next[i] = row >= 0 && p.places[i] < width ? row * width + p.places[i] : -1;
      }
      at = std::move(next);
    }
    put(out, values, at);
  }

 private:
  Partition by_splits(int input, int64_t parents) {
    const int64_t* splits = checked_splits(ctx_, input, "row_splits", -1);
    if (ctx_.in(input).size - 1 != parents)
      ctx_.fail("row_splits must be of " + std::to_string(parents) + " rows: got " +
                std::to_string(ctx_.in(input).size - 1));
    const int64_t count = splits[parents];
    // Each item is a value, or a row of the next partition.
    const int64_t most = input == ctx_.num_inputs() - 1 ? ctx_.in(1).dim(0) : ctx_.in(input + 1).size;
    if (count > most)
      ctx_.fail("row_splits end with " + std::to_string(count) + ", there are " + std::to_string(most) +
                " values");
    Partition p;
    for (int64_t r = 0; r < parents; ++r) {
      p.longest = std::max(p.longest, splits[r + 1] - splits[r]);
      for (int64_t i = splits[r]; i < splits[r + 1]; ++i) {
        p.rows.push_back(r);
        p.places.push_back(i - splits[r]);
      }
    }
    return p;
  }
  Partition by_rows(int input, int64_t parents) {
    const int64_t* rows = widened(ctx_, ctx_.in(input));
    Partition p;
    for (int64_t i = 0; i < ctx_.in(input).size; ++i) {
      if (rows[i] < (i == 0 ? 0 : rows[i - 1]) || rows[i] >= parents)
        ctx_.fail("value_rowids must rise and be less than the number of rows, " + std::to_string(parents) +
                  ": " + place_of(ctx_, input, i) + " = " + std::to_string(rows[i]));
      const int64_t place = i > 0 && rows[i] == rows[i - 1] ? p.places.back() + 1 : 0;
      p.rows.push_back(rows[i]);
      p.places.push_back(place);
      p.longest = std::max(p.longest, place + 1);
    }
    return p;
  }

  // The default value everywhere.
  void fill(const View& out, const View& values) {
    const View& fallback = ctx_.in(2);
    int64_t inner = 1;
    for (int d = 1; d < values.rank(); ++d) inner *= values.dim(d);
    if (out.size == 0) return;
    dispatch_copy(out.dtype, [&]<class U>() {
      // One value, broadcast, and then all by copies of it.
      std::vector<U> one(static_cast<size_t>(inner));
      for (int64_t i = 0; i < inner; ++i) {
        int64_t place = i, at = 0, step = 1;
        for (int d = fallback.rank() - 1, v = values.rank() - 1; d >= 0; --d, --v) {
          const int64_t index = place % values.dim(v);
          place /= values.dim(v);
          if (fallback.dim(d) > 1) at += index * step;
          step *= fallback.dim(d);
        }
        one[size_t(i)] = fallback.as<U>()[at];
      }
      for (int64_t i = 0; i < out.size; i += inner) std::copy_n(one.data(), inner, out.as<U>() + i);
    });
  }
  static void put(const View& out, const View& values, const std::vector<int64_t>& at) {
    if (values.size == 0 || out.size == 0) return;
    const int64_t inner = values.size / values.dim(0);
    dispatch_copy(out.dtype, [&]<class U>() {
      for (size_t i = 0; i < at.size(); ++i)
        if (at[i] >= 0) std::copy_n(values.as<U>() + int64_t(i) * inner, inner, out.as<U>() + at[i] * inner);
    });
  }

  KernelContext& ctx_;
  const std::vector<std::string> types_;
};

void to_tensor(KernelContext& ctx) { ToTensor(ctx).run(); }

// ---- ranges

template <class T>
int64_t range_size(KernelContext& ctx, T start, T limit, T delta) {
  using C = Compute<T>;
  const C s = static_cast<C>(start), l = static_cast<C>(limit), d = static_cast<C>(delta);
  if (d == C(0)) ctx.fail("deltas must not be zero");
  if (d > C(0) ? !(s < l) : !(s > l)) {
    if (s != s || l != l || d != d) ctx.fail("starts, limits and deltas must be numbers: got NaN");
    return 0;
  }
  if constexpr (std::is_integral_v<T>) {
    const uint64_t distance = d > 0 ? uint64_t(l) - uint64_t(s) : uint64_t(s) - uint64_t(l);
    const uint64_t step = d > 0 ? uint64_t(d) : -uint64_t(d);
    const uint64_t size = distance / step + (distance % step != 0);
    return size > uint64_t(INT64_MAX) ? INT64_MAX : int64_t(size);
  } else {
    const double size = std::ceil(std::abs((double(l) - double(s)) / double(d)));
    if (!(size < 0x1p62)) ctx.fail("a range has too many elements");
    return int64_t(size);
  }
}

void range(KernelContext& ctx) {
  const View& splits_shape = ctx.out(0);
  int64_t rows = 1;
  for (int i = 0; i < 3; ++i)
    if (ctx.in(i).rank() == 1) rows = ctx.in(i).size;
  const View& splits = splits_shape.shape->fully_known() ? ctx.out(0) : ctx.allocate_output(0, {rows + 1});
  constexpr DTypeSet kTypes =
      set_of(DType::kBfloat16, DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64);
  const bool ok = dispatch<kTypes>(ctx.in(0).dtype, [&]<class T>() {
    const auto at = [&](int i, int64_t row) { return ctx.in(i).as<T>()[ctx.in(i).rank() == 0 ? 0 : row]; };
    std::vector<int64_t> sizes;
    int64_t total = 0;
    store(splits, 0, 0);
    for (int64_t r = 0; r < rows; ++r) {
      sizes.push_back(range_size<T>(ctx, at(0, r), at(1, r), at(2, r)));
      if (__builtin_add_overflow(total, sizes.back(), &total)) ctx.fail("the ranges have too many elements");
      if (splits.dtype == DType::kInt32 && total > INT32_MAX)
        ctx.fail("the splits do not fit int32: ask for Tsplits int64");
      store(splits, r + 1, total);
    }
    T* out = ctx.allocate_output(1, {total}).as<T>();
    for (int64_t r = 0; r < rows; ++r) {
      T value = at(0, r);
      for (int64_t k = 0; k < sizes[size_t(r)]; ++k) {
        *out++ = value;
        if constexpr (std::is_integral_v<T>) value = T(uint64_t(value) + uint64_t(at(2, r)));
        else value = static_cast<T>(static_cast<Compute<T>>(value) + static_cast<Compute<T>>(at(2, r)));
      }
    }
  });
  if (!ok) ctx.fail_dtype(ctx.in(0).dtype);
}

// ---- gather

// Rows of params by indices: of each level the rows that the level above takes.
void gather(KernelContext& ctx) {
  const int levels = ctx.num_inputs() - 2;
  const View& values = ctx.in(levels);
  const View& indices = ctx.in(levels + 1);
  std::vector<const int64_t*> splits;
  for (int k = 0; k < levels; ++k) {
    const int64_t items = k + 1 < levels ? ctx.in(k + 1).size - 1 : values.dim(0);
    splits.push_back(checked_splits(ctx, k, "params_nested_splits", items));
  }
  const int64_t* rows = checked_indices(ctx, levels + 1, ctx.in(0).size - 1);
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> taken;
  for (int64_t i = 0; i < indices.size; ++i) taken.push_back({splits[0][rows[i]], splits[0][rows[i] + 1]});
  // The indices' own axes but the last are rows of equal lengths.
  int next = 0;
  int64_t outer = 1;
  for (int d = 0; d + 1 < indices.rank(); ++d) {
    outer *= indices.dim(d);
    const View& out = ctx.allocate_output(next++, {outer + 1});
    for (int64_t i = 0; i <= outer; ++i) store(out, i, i * indices.dim(d + 1));
  }
  const auto check_fits = [&](const View& out, int64_t total) {
    if (out.dtype == DType::kInt32 && total > INT32_MAX) ctx.fail("the splits do not fit int32");
  };
  if (indices.rank() > 0) {
    const View& out = ctx.allocate_output(next++, {indices.size + 1});
    int64_t total = 0;
    store(out, 0, 0);
    for (size_t i = 0; i < taken.size(); ++i) {
      total += taken[i].end - taken[i].begin;
      check_fits(out, total);
      store(out, int64_t(i) + 1, total);
    }
  }
  for (int k = 1; k < levels; ++k) {
    int64_t count = 0;
    for (const Range& r : taken) count += r.end - r.begin;
    const View& out = ctx.allocate_output(next++, {count + 1});
    int64_t at = 0, total = 0;
    store(out, at++, 0);
    for (Range& r : taken) {
      for (int64_t i = r.begin; i < r.end; ++i) {
        total += splits[size_t(k)][i + 1] - splits[size_t(k)][i];
        check_fits(out, total);
        store(out, at++, total);
      }
      r = {splits[size_t(k)][r.begin], splits[size_t(k)][r.end]};
    }
  }
  int64_t count = 0;
  for (const Range& r : taken) count += r.end - r.begin;
  Shape shape = *values.shape;
  shape.set(0, count);
  const View& out = ctx.allocate_output(next, std::move(shape));
  if (out.size == 0) return;
  const int64_t inner = out.size / count;
  dispatch_copy(out.dtype, [&]<class U>() {
    U* to = out.as<U>();
    for (const Range& r : taken)
      to = std::copy_n(values.as<U>() + r.begin * inner, (r.end - r.begin) * inner, to);
  });
}

// ---- counts

constexpr DTypeSet kCounted = set_of(DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64);

// Counts values of row r, [ends[r - 1], ends[r]) or equal parts, into row r of the output.
template <class EndOf>
void count_into(KernelContext& ctx, int values_input, int weights_input, int64_t rows, const View& out,
                bool binary, EndOf end_of) {
  const View& values = ctx.in(values_input);
  const View& weights = ctx.in(weights_input);
  if (weights.size != 0 && !(*weights.shape == *values.shape))
    ctx.fail("weights must be empty or have the shape of the values: got " + weights.describe() + " and " +
             values.describe());
  const int64_t* value = widened(ctx, values);
  for (int64_t i = 0; i < values.size; ++i)
    if (value[i] < 0)
      ctx.fail("values must not be negative: " + place_of(ctx, values_input, i) + " = " +
               std::to_string(value[i]));
  const bool ok = dispatch<kCounted>(out.dtype, [&]<class T>() {
    std::fill_n(out.as<T>(), out.size, T(0));
    const int64_t size = out.dim(out.rank() - 1);
    int64_t i = 0;
    for (int64_t r = 0; r < rows; ++r) {
      T* bins = out.as<T>() + r * size;
      for (const int64_t end = end_of(r); i < end; ++i) {
        if (value[i] >= size) continue;
        T& bin = bins[value[i]];
        if (binary) bin = T(1);
        else if constexpr (std::is_integral_v<T>)
          bin = T(uint64_t(bin) + uint64_t(weights.size ? weights.as<T>()[i] : T(1)));
        else bin += weights.size ? weights.as<T>()[i] : T(1);
      }
    }
  });
  if (!ok) ctx.fail_dtype(out.dtype);
}

int64_t wanted_size(KernelContext& ctx, int input) {
  const int64_t size = *widened(ctx, ctx.in(input));
  if (size < 0) ctx.fail("size must not be negative: got " + std::to_string(size));
  return size;
}

void bincount(KernelContext& ctx) {
  const View& out = result(ctx, 0, {wanted_size(ctx, 1)});
  count_into(ctx, 0, 2, 1, out, false, [&](int64_t) { return ctx.in(0).size; });
}

void dense_bincount(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const int64_t rows = in.rank() == 2 ? in.dim(0) : 1;
  Shape shape{wanted_size(ctx, 1)};
  if (in.rank() == 2) shape.insert(0, rows);
  const View& out = result(ctx, 0, std::move(shape));
  const int64_t length = rows > 0 ? in.size / rows : 0;
  count_into(ctx, 0, 2, rows, out, ctx.attr<bool>("binary_output"),
             [&](int64_t r) { return (r + 1) * length; });
}

void ragged_bincount(KernelContext& ctx) {
  const int64_t* splits = checked_splits(ctx, 0, "splits", ctx.in(1).size);
  const int64_t rows = ctx.in(0).size - 1;
  const View& out = result(ctx, 0, {rows, wanted_size(ctx, 2)});
  count_into(ctx, 1, 3, rows, out, ctx.attr<bool>("binary_output"), [&](int64_t r) { return splits[r + 1]; });
}

void bucketize(KernelContext& ctx) {
  const View& in = ctx.in(0);
  std::vector<float> bounds;
  for (const double b : ctx.attr<std::vector<double>>("boundaries")) bounds.push_back(float(b));
  dispatch<kCounted>(in.dtype, [&]<class T>() {
    for (int64_t i = 0; i < in.size; ++i)
      ctx.out(0).as<int32_t>()[i] = int32_t(
          std::upper_bound(bounds.begin(), bounds.end(), in.as<T>()[i], [](T x, float b) { return x < b; }) -
          bounds.begin());
  });
}

void sparse_to_dense(KernelContext& ctx) {
  const View& at = ctx.in(0);
  const View& values = ctx.in(2);
  const View& out = ctx.out(0);
  const bool validate = ctx.attr<bool>("validate_indices");
  const int64_t count = at.rank() == 0 ? 1 : at.dim(0);
  const int64_t width = at.rank() == 2 ? at.dim(1) : 1;
  if (values.rank() == 1 && values.size != count)
    ctx.fail("sparse_values must be one, or one per index: got " + values.describe() + " and " +
             at.describe());
  const int64_t* index = widened(ctx, at);
  std::vector<int64_t> places(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < width; ++d) {
      const int64_t k = index[i * width + d];
      if (k < 0 || k >= out.dim(int(d)))
        ctx.fail(place_of(ctx, 0, i * width + d) + " = " + std::to_string(k) + " is not in [0, " +
                 std::to_string(out.dim(int(d))) + ")");
      places[size_t(i)] = places[size_t(i)] * out.dim(int(d)) + k;
    }
    if (validate && i > 0 && places[size_t(i)] <= places[size_t(i) - 1])
      ctx.fail("sparse_indices must be sorted and differ from each other: " + place_of(ctx, 0, i, 1) +
               (places[size_t(i)] == places[size_t(i) - 1] ? " comes twice" : " comes too late") +
               "; validate_indices=false takes any");
  }
  dispatch_copy(out.dtype, [&]<class U>() {
    std::fill_n(out.as<U>(), out.size, *ctx.in(3).as<U>());
    for (int64_t i = 0; i < count; ++i)
      out.as<U>()[places[size_t(i)]] = values.as<U>()[values.rank() == 0 ? 0 : i];
  });
}

}  // namespace

void register_ragged_cpu_kernels() {
  register_kernel("RaggedTensorToTensor", DeviceType::kCpu, to_tensor);
  register_kernel("RaggedRange", DeviceType::kCpu, range);
  register_kernel("RaggedGather", DeviceType::kCpu, gather);
  register_kernel("RaggedBincount", DeviceType::kCpu, ragged_bincount);
  register_kernel("DenseBincount", DeviceType::kCpu, dense_bincount);
  register_kernel("Bincount", DeviceType::kCpu, bincount);
  register_kernel("Bucketize", DeviceType::kCpu, bucketize);
  register_kernel("SparseToDense", DeviceType::kCpu, sparse_to_dense);
}

}  // namespace rw
