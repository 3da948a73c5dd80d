// Gradients of fused attention. The weights p of a block of rows are made again; then, with the output's
// gradient g:
//   dp = g v^T,  ds = steps'((dp - sum(dp p)) p),  dq = ds k,  dk += ds^T q,  dv += p^T g.
// A thread takes whole heads, and their blocks in order: so are the sums over queries.
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/attention.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/reduce.h"

namespace rw {
namespace {

ReduceRowLoop sum_loop() {
  static const ReduceRowLoop loop = [] {
    const ReduceRow* row = isa_loops().reduce;
    while (std::strcmp(row->op, "Sum") != 0 || row->in != DType::kFloat32) ++row;
    return row->rows;
  }();
  return loop;
}

// What Sum gives for a row, in its order; the row is not kept.
float sum_of_row(float* x, int64_t n) {
  constexpr int64_t kRun = 4096;
  const ReduceRowLoop rows = sum_loop();
  while (n > kRun) {
    const int64_t whole = n / kRun;
    const int64_t rest = n - whole * kRun;
    for (int64_t i = 0; i < whole; ++i) rows(x + i * kRun, 0, kRun, 1, x + i);
    if (rest > 0) rows(x + whole * kRun, 0, rest, 1, x + whole);
    n = whole + (rest > 0);
  }
  float sum = 0;
  rows(x, 0, n, 1, &sum);
  return sum;
}

// A thread's memory.
struct Room {
  float *key_columns, *value_columns, *key_rows;  // packed, for the whole head
  float *query_rows, *grad_rows;                  // packed, for the block
  float *weights, *grads, *products;
  float *key_sums, *value_sums;  // (keys, depth), rows padded
};

class Gradients {
 public:
  explicit Gradients(KernelContext& ctx) : at_(ctx), s_(at_.spec()), loops_(at_.loops()) {}

  void run() {
    const int64_t heads = s_.batch * s_.heads;
    if (heads == 0) return;
    const int64_t pieces = std::min<int64_t>(num_threads(), heads);
    int64_t floats = 0;
    lay_out(nullptr, &floats);
    float* memory = at_.scratch(pieces * floats);
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        int64_t used = 0;
        const Room room = lay_out(memory + piece * floats, &used);
        for (int64_t h = heads * piece / pieces; h < heads * (piece + 1) / pieces; ++h) head(h, room);
      }
    });
  }

 private:
  Room lay_out(float* memory, int64_t* used) const {
    auto take = [&](int64_t n) {
      float* p = memory ? memory + *used : nullptr;
      *used += at_.aligned(n);
      return p;
    };
    const int64_t keys = at_.padded(s_.keys);
    const int64_t depth = at_.padded(s_.depth);
    const int64_t value_depth = at_.padded(s_.value_depth);
    const int64_t rows = at_.block_rows();
    Room r;
    r.key_columns = take(keys * s_.depth);
    r.value_columns = take(keys * s_.value_depth);
    r.key_rows = take(s_.keys * depth);
    r.query_rows = take(rows * depth);
    r.grad_rows = take(rows * value_depth);
    r.weights = take(rows * at_.scores_step());
    r.grads = take(rows * at_.scores_step());
    r.products = take(s_.keys);
    r.key_sums = take(s_.keys * depth);
    r.value_sums = take(s_.keys * value_depth);
    return r;
  }

  void head(int64_t head, const Room& room) const {
    const AttentionMatrix q = at_.input(s_.query, head);
    const AttentionMatrix k = at_.input(s_.key, head);
    const AttentionMatrix v = at_.input(s_.value, head);
    const AttentionMatrix g = at_.input(s_.output, head);
    loops_.pack(k.data, k.column, k.row, s_.depth, s_.keys, room.key_columns);
    loops_.pack(v.data, v.column, v.row, s_.value_depth, s_.keys, room.value_columns);
    if (s_.query_grad.operand >= 0) loops_.pack(k.data, k.row, k.column, s_.keys, s_.depth, room.key_rows);
    std::memset(room.key_sums, 0, size_t(s_.keys * at_.padded(s_.depth)) * sizeof(float));
    std::memset(room.value_sums, 0, size_t(s_.keys * at_.padded(s_.value_depth)) * sizeof(float));
    for (int64_t b = 0; b < at_.blocks(); ++b) block(head, b, q, g, room);
    store(s_.key_grad, head, room.key_sums, s_.depth);
    store(s_.value_grad, head, room.value_sums, s_.value_depth);
  }

  void block(int64_t head, int64_t block, const AttentionMatrix& q, const AttentionMatrix& g,
             const Room& room) const {
    const int64_t first = block * at_.block_rows();
    const int64_t rows = at_.block_size(block);
    const KeyRange keys = at_.weights(head, block, q, room.key_columns, room.weights);
    if (s_.value_grad.operand >= 0) {
      loops_.pack(g.data + first * g.row, g.row, g.column, rows, s_.value_depth, room.grad_rows);
      add_transposed(room.weights, keys, rows, room.grad_rows, s_.value_depth, room.value_sums);
    }
    if (s_.query_grad.operand < 0 && s_.key_grad.operand < 0) return;
    loops_.product({.a = g.data + first * g.row,
                    .a_row = g.row,
                    .a_depth = g.column,
                    .b = room.value_columns + keys.begin * s_.value_depth,
                    .b_panel = loops_.panel * s_.value_depth,
                    .c = room.grads,
                    .c_row = at_.scores_step(),
                    .rows = rows,
                    .columns = at_.padded(keys.size(), loops_.panel),
                    .depth = s_.value_depth,
                    .add = false});
    softmax_grad(head, first, rows, keys, room);
    if (s_.query_grad.operand >= 0) {
      const AttentionMatrix dq = at_.output(s_.query_grad, head);
      loops_.product({.a = room.grads,
                      .a_row = at_.scores_step(),
                      .a_depth = 1,
                      .b = room.key_rows + keys.begin * loops_.panel,
                      .b_panel = s_.keys * loops_.panel,
                      .c = dq.data + first * dq.row,
                      .c_row = dq.row,
                      .rows = rows,
                      .columns = s_.depth,
                      .depth = keys.size(),
                      .add = false});
    }
    if (s_.key_grad.operand >= 0) {
      loops_.pack(q.data + first * q.row, q.row, q.column, rows, s_.depth, room.query_rows);
      add_transposed(room.grads, keys, rows, room.query_rows, s_.depth, room.key_sums);
    }
  }

  // sums (keys, depth) += x^T y, where x is (rows, keys) and y (rows, depth) in panels.
  void add_transposed(const float* x, KeyRange keys, int64_t rows, const float* y, int64_t depth,
                      float* sums) const {
    loops_.product({.a = x,
                    .a_row = 1,
                    .a_depth = at_.scores_step(),
                    .b = y,
                    .b_panel = rows * loops_.panel,
                    .c = sums + keys.begin * at_.padded(depth),
                    .c_row = at_.padded(depth),
                    .rows = keys.size(),
                    .columns = at_.padded(depth, loops_.panel),
                    .depth = rows,
                    .add = true});
  }

  void softmax_grad(int64_t head, int64_t first, int64_t rows, KeyRange keys, const Room& room) const {
    float* products = room.products;
    for (int64_t r = 0; r < rows; ++r) {
      const float* p = room.weights + r * at_.scores_step();
      float* dp = room.grads + r * at_.scores_step();
      // Weights of keys that are left out are 0.
      std::memset(products, 0, size_t(keys.begin) * sizeof(float));
      loops_.multiply_pair(dp, p, products + keys.begin, keys.size());
      std::memset(products + keys.end, 0, size_t(s_.keys - keys.end) * sizeof(float));
      loops_.softmax_grad(dp, p, sum_of_row(products, s_.keys), keys.size());
      at_.steps_grad(head, first + r, keys, dp);
    }
  }

  void store(const AttentionView& to, int64_t head, const float* sums, int64_t depth) const {
    if (to.operand < 0) return;
    const AttentionMatrix out = at_.output(to, head);
    for (int64_t i = 0; i < s_.keys; ++i)
      std::memcpy(out.data + i * out.row, sums + i * at_.padded(depth), size_t(depth) * sizeof(float));
  }

  const Attention at_;
  const AttentionSpec& s_;
  const AttentionLoops& loops_;
};

}  // namespace

void attention_grad(KernelContext& ctx) { Gradients(ctx).run(); }

}  // namespace rw
