// Matrix products by oneDNN's matmul primitive.
//
// A primitive is built once per (sizes, strides, transposes, type, threads) and kept with its memory objects
// in a bounded cache of the thread, so that a call is a lookup, four pointers and the execution. Scratch
// comes from the caller.
//
// oneDNN's bits do not depend on how it shares out rows and columns, but it also splits the inner axis of aᵀb
// among threads when that is long (2048 and up) and there are fewer column blocks than threads. Such products
// run on no more threads than they have column blocks; with few of those they are cut into slices of rows, by
// shape alone, each run by a primitive for one thread.
#ifdef REWIND_ONEDNN
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rewind/base/half.h"
#include "rewind/device/parallel.h"
#include "rewind/device/serial_scope.h"
#include "rewind/kernel/cpu/gemm.h"
#include "rewind/kernel/cpu/onednn.h"

namespace rw {
namespace {

struct Key {
  int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
  int32_t threads;
  uint8_t transpose_a, transpose_b, dtype;
  uint8_t zero = 0;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = 0;
    auto mix = [&h](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
    mix(uint64_t(key.m) << 32 ^ uint64_t(key.n));
    mix(uint64_t(key.k) << 32 ^ uint64_t(key.batch));
    mix(uint64_t(key.lda) << 32 ^ uint64_t(key.ldb));
    mix(uint64_t(key.transpose_a) | uint64_t(key.transpose_b) << 8 | uint64_t(key.dtype) << 16 |
        uint64_t(key.threads) << 24);
    return size_t(h);
  }
};

struct Entry {
  dnnl::matmul primitive;
  dnnl::memory a, b, c, scratch;
  dnnl_exec_arg_t args[4] = {};
  size_t scratch_bytes = 0;
};

int threads_here() {
#ifdef REWIND_OPENMP
  return runs_alone() ? 1 : num_threads();
#else
  return 1;
#endif
}

// Strides of the last two axes of a matrix that lies as it is or transposed.
dnnl::memory::desc describe(int64_t rows, int64_t cols, int64_t leading, bool transposed, int64_t batch,
                            int64_t stride, dnnl::memory::data_type type) {
  const int64_t row_step = transposed ? 1 : leading;
  const int64_t col_step = transposed ? leading : 1;
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
    const OnednnThreads limit(key.threads);
    const auto type =
        DType(key.dtype) == DType::kBfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
    const auto a = describe(key.m, key.k, key.lda, key.transpose_a, key.batch, key.stride_a, type);
    const auto b = describe(key.k, key.n, key.ldb, key.transpose_b, key.batch, key.stride_b, type);
    const auto c = describe(key.m, key.n, key.ldc, false, key.batch, key.stride_c, type);
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

Cache& cache() {
  thread_local Cache c;
  return c;
}

Key key_of(DType dtype, const Gemm& g, int threads) {
  const bool many = g.batch > 1;
  return {g.m,
          g.n,
          g.k,
          g.lda,
          g.ldb,
          g.ldc,
          g.batch,
          many ? g.stride_a : 0,
          many ? g.stride_b : 0,
          many ? g.stride_c : 0,
          threads,
          g.transpose_a,
          g.transpose_b,
          uint8_t(dtype)};
}

void execute(Entry& entry, int threads, const void* a, const void* b, void* c, void* scratch) {
  dnnl_memory_set_data_handle(entry.args[0].memory, const_cast<void*>(a));
  dnnl_memory_set_data_handle(entry.args[1].memory, const_cast<void*>(b));
  dnnl_memory_set_data_handle(entry.args[2].memory, c);
  dnnl_memory_set_data_handle(entry.args[3].memory, scratch);
  const OnednnThreads limit(threads);
  const dnnl_status_t status =
      dnnl_primitive_execute(entry.primitive.get(), cache().stream().get(), 4, entry.args);
  dnnl::error::wrap_c_api(status, "matmul failed");
}

constexpr int64_t kLongInner = 2048;  // from here on oneDNN may split the inner axis of aᵀb
constexpr int64_t kColumnBlock = 64;
constexpr int64_t kEnoughBlocks = 8;  // with so many, threads are limited to their number instead

// Column blocks among which oneDNN can share out a product without splitting the inner axis.
int64_t column_blocks(const Gemm& g) { return g.batch * ((g.n + kColumnBlock - 1) / kColumnBlock); }

void run(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c) {
  const int64_t element = dtype == DType::kBfloat16 ? 2 : 4;
  const bool may_split = g.transpose_a && g.k >= kLongInner;
  if (!may_split || column_blocks(g) >= kEnoughBlocks) {
    const int threads = int(may_split ? std::min<int64_t>(threads_here(), column_blocks(g)) : threads_here());
    Entry& entry = cache().find(key_of(dtype, g, threads));
    return execute(entry, threads, a, b, c, workspace.room(entry.scratch_bytes));
  }
  const int64_t slice = std::max<int64_t>(32, (g.m / 8 + 15) / 16 * 16);
  const int64_t slices = (g.m + slice - 1) / slice;
  Gemm part = g;
  part.batch = 1;
  part.m = std::min(slice, g.m);
  Gemm last = part;
  last.m = g.m - (slices - 1) * slice;
  const size_t most = std::max(cache().find(key_of(dtype, part, 1)).scratch_bytes,
                               cache().find(key_of(dtype, last, 1)).scratch_bytes);
  const size_t scratch_bytes = (most + 63) / 64 * 64;
  char* scratch = workspace.room(scratch_bytes * size_t(g.batch * slices));
  parallel_for(g.batch * slices, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t entry_of = i / slices;
      const int64_t row = i % slices * slice;
      Gemm mine = part;
      mine.m = std::min(slice, g.m - row);
      Entry& entry = cache().find(key_of(dtype, mine, 1));
      execute(entry, 1, static_cast<const char*>(a) + (entry_of * g.stride_a + row) * element,
              static_cast<const char*>(b) + entry_of * g.stride_b * element,
              static_cast<char*>(c) + (entry_of * g.stride_c + row * g.ldc) * element,
              scratch + size_t(i) * scratch_bytes);
    }
  });
}

}  // namespace

bool gemm_onednn(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c) {
  if (dtype != DType::kFloat32) return false;
  if (g.batch > 1 && (g.stride_a == 0 || g.stride_b == 0)) {
    Gemm one = g;
    one.batch = 1;
    for (int64_t i = 0; i < g.batch; ++i)
      run(workspace, dtype, one, static_cast<const float*>(a) + i * g.stride_a,
          static_cast<const float*>(b) + i * g.stride_b, static_cast<float*>(c) + i * g.stride_c);
    return true;
  }
  run(workspace, dtype, g, a, b, c);
  return true;
}

}  // namespace rw
#endif
