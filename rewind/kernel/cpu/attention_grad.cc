// Gradients of fused attention. The weights p of a block of rows are made again; then, with the output's
// gradient g:
//   dp = g v^T,  ds = steps'((dp - sum(dp p)) p),  dq = ds k,  dk += ds^T q,  dv += p^T g.
// Sums over queries are made block by block, in order, however threads share the work.
#include <cstring>

#include "rewind/device/parallel.h"
#include "rewind/device/shares.h"
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

// Memory for a head.
struct HeadRoom {
  float *key_columns, *value_columns, *key_rows;  // packed
  float *key_sums, *value_sums;                   // (keys, depth), rows padded
};

// Memory for a block of rows.
struct BlockRoom {
  float *query_rows, *grad_rows;  // packed
  float *weights, *grads;
  float* products;  // a row
  KeyRange keys;    // of weights and grads
};

class Gradients {
 public:
  explicit Gradients(KernelContext& ctx) : at_(ctx), s_(at_.spec()), loops_(at_.loops()) {}

  void run() {
    const int64_t heads = s_.batch * s_.heads;
    const int64_t threads = num_threads();
    if (heads == 0) return;
    if (heads >= threads) share_heads(heads, threads);
    else share_blocks(heads, std::min(threads, at_.blocks()));
  }

 private:
  // A thread takes whole heads.
  void share_heads(int64_t heads, int64_t pieces) const {
    const int64_t floats = head_floats() + block_floats();
    float* memory = at_.scratch(pieces * floats);
    Shares shares(heads, pieces);
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const HeadRoom room = head_room(memory + piece * floats);
        BlockRoom part = block_room(memory + piece * floats + head_floats());
        for (int64_t h = 0, next = 0; shares.take(piece, 1, h, next);) {
          begin_head(h, room);
          for (int64_t b = 0; b < at_.blocks(); ++b) {
            rows_of(h, b, room, &part);
            add_sums(b, room, part, {0, s_.keys});
          }
          end_head(h, room);
        }
      }
    });
  }

  // There are more threads than heads: a thread takes a block of rows, and then some keys of all the blocks.
  void share_blocks(int64_t heads, int64_t threads) const {
    float* memory = at_.scratch(head_floats() + threads * block_floats());
    const HeadRoom room = head_room(memory);
    SmallVector<BlockRoom, 64> parts;
    for (int64_t i = 0; i < threads; ++i)
      parts.push_back(block_room(memory + head_floats() + i * block_floats()));
    const int64_t some_keys = at_.padded((s_.keys + threads - 1) / threads);
    for (int64_t h = 0; h < heads; ++h) {
      begin_head(h, room);
      for (int64_t first = 0; first < at_.blocks(); first += threads) {
        const int64_t count = std::min(threads, at_.blocks() - first);
        parallel_for(count, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) rows_of(h, first + i, room, &parts[size_t(i)]);
        });
        parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
          const KeyRange mine{begin * some_keys, std::min(end * some_keys, s_.keys)};
          for (int64_t i = 0; i < count; ++i) add_sums(first + i, room, parts[size_t(i)], mine);
        });
      }
      end_head(h, room);
    }
  }

  int64_t head_floats() const {
    const int64_t depths = at_.padded(s_.depth) + at_.padded(s_.value_depth);
    return 2 * at_.padded(s_.keys) * depths + at_.padded(s_.keys) * at_.padded(s_.depth);
  }
  int64_t block_floats() const {
    const int64_t depths = at_.padded(s_.depth) + at_.padded(s_.value_depth);
    return at_.block_rows() * (depths + 2 * at_.scores_step()) + at_.aligned(s_.keys);
  }
  HeadRoom head_room(float* memory) const {
    const int64_t keys = at_.padded(s_.keys);
    const int64_t by_depth = keys * at_.padded(s_.depth);
    const int64_t by_value = keys * at_.padded(s_.value_depth);
    HeadRoom r;
    r.key_columns = memory;
    r.key_rows = r.key_columns + by_depth;
    r.key_sums = r.key_rows + by_depth;
    r.value_columns = r.key_sums + by_depth;
    r.value_sums = r.value_columns + by_value;
    return r;
  }
  BlockRoom block_room(float* memory) const {
    const int64_t rows = at_.block_rows();
    BlockRoom r;
    r.query_rows = memory;
    r.grad_rows = r.query_rows + rows * at_.padded(s_.depth);
    r.weights = r.grad_rows + rows * at_.padded(s_.value_depth);
    r.grads = r.weights + rows * at_.scores_step();
    r.products = r.grads + rows * at_.scores_step();
    r.keys = {0, 0};
    return r;
  }

  void begin_head(int64_t head, const HeadRoom& room) const {
    const AttentionMatrix k = at_.input(s_.key, head);
    at_.pack_turned(k, s_.keys, s_.depth, room.key_columns);
    at_.pack_turned(at_.input(s_.value, head), s_.keys, s_.value_depth, room.value_columns);
    if (s_.query_grad.operand >= 0) loops_.pack(k.data, k.row, k.column, s_.keys, s_.depth, room.key_rows);
    std::memset(room.key_sums, 0, size_t(s_.keys * at_.padded(s_.depth)) * sizeof(float));
    std::memset(room.value_sums, 0, size_t(s_.keys * at_.padded(s_.value_depth)) * sizeof(float));
  }
  void end_head(int64_t head, const HeadRoom& room) const {
    store(s_.key_grad, head, room.key_sums, s_.depth);
    store(s_.value_grad, head, room.value_sums, s_.value_depth);
  }

  // Weights and gradients of a block, and its rows of dq.
  void rows_of(int64_t head, int64_t block, const HeadRoom& room, BlockRoom* part) const {
    const int64_t first = block * at_.block_rows();
    const int64_t rows = at_.block_size(block);
    const AttentionMatrix q = at_.input(s_.query, head);
    const AttentionMatrix g = at_.input(s_.output, head);
    const KeyRange keys = part->keys = at_.weights(head, block, q, room.key_columns, part->weights);
    if (s_.value_grad.operand >= 0)
      loops_.pack(g.data + first * g.row, g.row, g.column, rows, s_.value_depth, part->grad_rows);
    if (s_.query_grad.operand < 0 && s_.key_grad.operand < 0) return;
    loops_.product({.a = g.data + first * g.row,
                    .a_row = g.row,
                    .a_depth = g.column,
                    .b = room.value_columns + keys.begin * s_.value_depth,
                    .b_panel = loops_.panel * s_.value_depth,
                    .c = part->grads,
                    .c_row = at_.scores_step(),
                    .rows = rows,
                    .columns = at_.padded(keys.size(), loops_.panel),
                    .depth = s_.value_depth,
                    .add = false});
    const SmallVector<ScoreStep, 4> steps = at_.steps_of(head, block, keys);
    loops_.weights_grad({part->grads, at_.scores_step(), rows, keys.size(), steps.data(), int(steps.size())},
                        part->weights, sum_of_row, keys.begin, s_.keys, part->products);
    if (s_.key_grad.operand >= 0)
      loops_.pack(q.data + first * q.row, q.row, q.column, rows, s_.depth, part->query_rows);
    if (s_.query_grad.operand < 0) return;
    const AttentionMatrix dq = at_.output(s_.query_grad, head);
    loops_.product({.a = part->grads,
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

  // A block's part of dk and dv, for keys of `mine`.
  void add_sums(int64_t block, const HeadRoom& room, const BlockRoom& part, KeyRange mine) const {
    const KeyRange keys{std::max(mine.begin, part.keys.begin), std::min(mine.end, part.keys.end)};
    if (keys.size() <= 0) return;
    const auto add = [&](const float* x, const float* y, int64_t depth, float* sums) {
      loops_.product({.a = x + keys.begin - part.keys.begin,
                      .a_row = 1,
                      .a_depth = at_.scores_step(),
                      .b = y,
                      .b_panel = at_.block_size(block) * loops_.panel,
                      .c = sums + keys.begin * at_.padded(depth),
                      .c_row = at_.padded(depth),
                      .rows = keys.size(),
                      .columns = at_.padded(depth, loops_.panel),
                      .depth = at_.block_size(block),
                      .add = true});
    };
    if (s_.value_grad.operand >= 0) add(part.weights, part.grad_rows, s_.value_depth, room.value_sums);
    if (s_.key_grad.operand >= 0) add(part.grads, part.query_rows, s_.depth, room.key_sums);
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
