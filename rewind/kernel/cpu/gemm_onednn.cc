// Matrix products by oneDNN's matmul primitive.
//
// Its bits depend on the sizes that a primitive is made for and on the number of threads that it may use. So
// a product is cut here into tiles by its sizes alone; each tile runs on one thread, by a primitive made for
// one.
//
// A primitive is built once per (sizes, strides, transposes, type) and kept with its memory objects in a
// bounded cache of the thread, so that a call is a lookup, four pointers and the execution. Scratch comes
// from the caller.
#ifdef REWIND_ONEDNN
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/device/shares.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/onednn.h"

namespace rw {
namespace {

struct Key {
  int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
  bool transpose_a, transpose_b;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = 0;
    auto mix = [&h](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
    mix(uint64_t(key.m) << 32 ^ uint64_t(key.n));
    mix(uint64_t(key.k) << 32 ^ uint64_t(key.ldc));
    mix(uint64_t(key.lda) << 32 ^ uint64_t(key.ldb));
    mix(uint64_t(key.transpose_a) | uint64_t(key.transpose_b) << 8 | uint64_t(key.batch) << 16);
    return size_t(h);
  }
};

struct Entry {
  dnnl::matmul primitive;
  dnnl::memory a, b, c, scratch;
  dnnl_exec_arg_t args[4] = {};
  size_t scratch_bytes = 0;
};

// Strides of the last two axes of matrices that lie as they are or transposed.
dnnl::memory::desc describe(int64_t rows, int64_t cols, int64_t leading, bool transposed, int64_t batch,
                            int64_t stride) {
  const int64_t row_step = transposed ? 1 : leading;
  const int64_t col_step = transposed ? leading : 1;
  const auto type = dnnl::memory::data_type::f32;
  if (batch == 1) return {{rows, cols}, type, {row_step, col_step}};
  return {{batch, rows, cols}, type, {stride, row_step, col_step}};
}

class Cache {
 public:
  Entry& find(const Key& key) {
    if (last_ && last_key_ == key) return *last_;
    auto it = entries_.find(key);
    if (it == entries_.end()) {
      if (entries_.size() >= kCapacity) entries_.clear();
      it = entries_.emplace(key, make(key)).first;
    }
    last_key_ = key;
    return *(last_ = it->second.get());
  }
  dnnl::stream& stream() { return stream_; }

 private:
  static constexpr size_t kCapacity = 512;

  static std::unique_ptr<Entry> make(const Key& key) {
    const OpenmpAlone alone;
    const auto a = describe(key.m, key.k, key.lda, key.transpose_a, key.batch, key.stride_a);
    const auto b = describe(key.k, key.n, key.ldb, key.transpose_b, key.batch, key.stride_b);
    const auto c = describe(key.m, key.n, key.ldc, false, key.batch, key.stride_c);
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, c), attr, onednn_engine());
    auto entry = std::make_unique<Entry>();
    entry->primitive = dnnl::matmul(pd);
    entry->a = dnnl::memory(a, onednn_engine(), nullptr);
    entry->b = dnnl::memory(b, onednn_engine(), nullptr);
    entry->c = dnnl::memory(c, onednn_engine(), nullptr);
    entry->scratch = dnnl::memory(pd.scratchpad_desc(), onednn_engine(), nullptr);
    entry->scratch_bytes = pd.scratchpad_desc().get_size();
    entry->args[0] = {DNNL_ARG_SRC, entry->a.get()};
    entry->args[1] = {DNNL_ARG_WEIGHTS, entry->b.get()};
    entry->args[2] = {DNNL_ARG_DST, entry->c.get()};
    entry->args[3] = {DNNL_ARG_SCRATCHPAD, entry->scratch.get()};
    return entry;
  }

  std::unordered_map<Key, std::unique_ptr<Entry>, KeyHash> entries_;
  Key last_key_{};
  Entry* last_ = nullptr;
  dnnl::stream stream_{onednn_engine()};
};

Cache& cache() { return ThreadOwn<Cache>::get(); }

Entry& find(const Gemm& g, int64_t matrices, int64_t rows, int64_t columns) {
  const bool many = matrices > 1;
  return cache().find({rows, columns, g.k, g.lda, g.ldb, g.ldc, matrices, many ? g.stride_a : 0,
                       many ? g.stride_b : 0, many ? g.stride_c : 0, g.transpose_a, g.transpose_b});
}

void execute(Entry& entry, const float* a, const float* b, float* c, void* scratch) {
  dnnl_memory_set_data_handle(entry.args[0].memory, const_cast<float*>(a));
  dnnl_memory_set_data_handle(entry.args[1].memory, const_cast<float*>(b));
  dnnl_memory_set_data_handle(entry.args[2].memory, c);
  dnnl_memory_set_data_handle(entry.args[3].memory, scratch);
  const OpenmpAlone alone;
  const dnnl_status_t status =
      dnnl_primitive_execute(entry.primitive.get(), cache().stream().get(), 4, entry.args);
  dnnl::error::wrap_c_api(status, "matmul failed");
}

// Both factors are packed once a tile, so a tile is large; there are enough of them for many threads where
// each is still some tens of microseconds of work. Small matrices of a batch go some at a time.
constexpr int64_t kTileRows = 512, kTileColumns = 512;
constexpr int64_t kFewestRows = 32, kFewestColumns = 64;
constexpr int64_t kEnoughTiles = 16;
constexpr int64_t kLeastWork = 4 << 20;  // multiply-adds

int64_t pieces(int64_t n, int64_t step) { return (n + step - 1) / step; }

struct Tiling {
  int64_t matrices, rows, columns;  // of a tile
  int64_t deep, down, across;       // tiles

  explicit Tiling(const Gemm& g)
      : matrices(1), rows(std::min(g.m, kTileRows)), columns(std::min(g.n, kTileColumns)) {
    while (g.batch * pieces(g.m, rows) * pieces(g.n, columns) < kEnoughTiles &&
           rows * columns * g.k >= 2 * kLeastWork) {
      if (columns > kFewestColumns && (columns >= 2 * rows || rows <= kFewestRows))
        columns = std::max(kFewestColumns, pieces(columns / 2, 64) * 64);
      else if (rows > kFewestRows) rows = std::max(kFewestRows, pieces(rows / 2, 16) * 16);
      else break;
    }
    const bool one_after_another = g.stride_a != 0 && g.stride_b != 0;  // not one matrix for all
    if (g.batch > 1 && rows == g.m && columns == g.n && one_after_another)
      matrices = std::clamp<int64_t>(kLeastWork / std::max<int64_t>(1, g.m * g.n * g.k), 1, g.batch);
    deep = pieces(g.batch, matrices);
    down = pieces(g.m, rows);
    across = pieces(g.n, columns);
  }
  int64_t count() const { return deep * down * across; }
};

}  // namespace

bool gemm_onednn(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c) {
  if (dtype != DType::kFloat32) return false;
  const Tiling t(g);
  size_t scratch_bytes = 0;
  for (const int64_t matrices : {t.matrices, g.batch - (t.deep - 1) * t.matrices})
    for (const int64_t rows : {t.rows, g.m - (t.down - 1) * t.rows})
      for (const int64_t columns : {t.columns, g.n - (t.across - 1) * t.columns})
        scratch_bytes = std::max(scratch_bytes, find(g, matrices, rows, columns).scratch_bytes);
  scratch_bytes = (scratch_bytes + 63) / 64 * 64;
  const int64_t lanes = std::min<int64_t>(num_threads(), t.count());
  char* scratch = workspace.room(scratch_bytes * size_t(lanes));
  Shares shares(t.count(), lanes);
  const auto run_tile = [&](int64_t i, char* my_scratch) {
    const int64_t row = i % t.down * t.rows, column = i / t.down % t.across * t.columns;
    const int64_t matrix = i / t.down / t.across * t.matrices;
    Entry& entry = find(g, std::min(t.matrices, g.batch - matrix), std::min(t.rows, g.m - row),
                        std::min(t.columns, g.n - column));
    execute(entry, static_cast<const float*>(a) + matrix * g.stride_a + row * (g.transpose_a ? 1 : g.lda),
            static_cast<const float*>(b) + matrix * g.stride_b + column * (g.transpose_b ? g.ldb : 1),
            static_cast<float*>(c) + matrix * g.stride_c + row * g.ldc + column, my_scratch);
  };
  parallel_for(lanes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane)
      for (int64_t i = 0, last = 0; shares.take(lane, 1, i, last);)
        run_tile(i, scratch + size_t(lane) * scratch_bytes);
  });
  return true;
}

}  // namespace rw
#endif
