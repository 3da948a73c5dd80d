#include "rewind/kernel/cpu/attention.h"

#include "rewind/device/parallel.h"
#include "rewind/device/shares.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/normalization.h"
#include "rewind/kernel/cpu/transpose_tile.h"

namespace rw {

Attention::Attention(KernelContext& ctx)
    : ctx_(ctx),
      spec_(AttentionSpec::from_attrs(ctx.op(), ctx.attrs())),
      loops_(*isa_loops().attention),
      block_rows_(int64_t{4} * loops_.rows) {
  find_ranges();
}

// The keys that some row of the block sees; all keys when a row sees none.
KeyRange Attention::seen(const AttentionStep& mask, const uint8_t* data, int64_t block) const {
  const uint8_t keeps = mask.kind == AttentionStep::kKeep;
  KeyRange some{spec_.keys, 0};
  const int64_t rows = mask.step[2] == 0 ? 1 : block_size(block);
  for (int64_t r = 0; r < rows; ++r) {
    const uint8_t* row = data + (block * block_rows_ + r) * mask.step[2];
    int64_t first = 0;
    while (first < spec_.keys && row[first] != keeps) ++first;
    if (first == spec_.keys) return {0, spec_.keys};
    int64_t last = spec_.keys;
    while (last > some.end && row[last - 1] != keeps) --last;
    some = {std::min(some.begin, first), std::max(some.end, last)};
  }
  return {some.begin / kKeyAlign * kKeyAlign, some.end};
}

void Attention::find_ranges() {
  if (spec_.steps.empty() || !spec_.steps.back().masks()) return;
  const AttentionStep& mask = spec_.steps.back();
  if (mask.step[3] == 0) return;
  const int64_t last_head = spec_.batch * spec_.heads - 1;
  const int64_t slices = mask_slice(last_head) + 1;
  ranges_ = ctx_.scratch<KeyRange>(size_t(slices * blocks()));
  const uint8_t* data = ctx_.in(int(mask.operand)).as<uint8_t>();
  parallel_for(slices * blocks(), std::max<int64_t>(1, 65536 / (block_rows_ * spec_.keys)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t slice = i / blocks();
                   const int64_t entry = mask.step[1] == 0 ? slice : slice / spec_.heads;
                   const int64_t head = mask.step[1] == 0 ? 0 : slice % spec_.heads;
                   ranges_[i] =
                       seen(mask, data + mask_at(mask, entry * spec_.heads + head, 0, 0), i % blocks());
                 }
               });
}

void Attention::pack_turned(const AttentionMatrix& m, int64_t positions, int64_t depth, float* panels) const {
  const int64_t panel = loops_.panel;
  const int64_t whole = m.column == 1 ? positions / panel * panel : 0;
  for (int64_t i = 0; i < whole; i += panel)
    transpose_band(panels + i * depth, panel, m.data + i * m.row, m.row, panel, depth);
  loops_.pack(m.data + whole * m.row, m.column, m.row, depth, positions - whole, panels + whole * depth);
}

SmallVector<ScoreStep, 4> Attention::steps_of(int64_t head, int64_t block, KeyRange keys) const {
  SmallVector<ScoreStep, 4> list;
  for (const AttentionStep& s : spec_.steps) {
    const void* data = nullptr;
    if (s.operand >= 0) {
      const View& x = ctx_.in(int(s.operand));
      const int64_t at = mask_at(s, head, block * block_rows_, keys.begin);
      data = x.as<char>() + at * int64_t(size_of(x.dtype));
    }
    list.push_back({ScoreStep::Kind(s.kind), float(s.number), data, s.step[2], s.step[3]});
  }
  return list;
}

bool Attention::weights_of(int64_t head, int64_t block, KeyRange keys, const AttentionMatrix& query,
                           const float* key_panels, float* scores) const {
  const int64_t rows = block_size(block);
  loops_.product({.a = query.data + block * block_rows_ * query.row,
                  .a_row = query.row,
                  .a_depth = query.column,
                  .b = key_panels + keys.begin * spec_.depth,
                  .b_panel = loops_.panel * spec_.depth,
                  .c = scores,
                  .c_row = scores_step(),
                  .rows = rows,
                  .columns = padded(keys.size(), loops_.panel),
                  .depth = spec_.depth,
                  .add = false});
  const SmallVector<ScoreStep, 4> steps = steps_of(head, block, keys);
  const bool leaves_out = keys.size() < spec_.keys;
  return loops_.weights({scores, scores_step(), rows, keys.size(), steps.data(), int(steps.size())},
                        leaves_out, leaves_out ? steps.back().number : 0);
}

KeyRange Attention::weights(int64_t head, int64_t block, const AttentionMatrix& query,
                            const float* key_panels, float* scores) const {
  const KeyRange all{0, spec_.keys};
  const KeyRange keys = ranges_ ? ranges_[mask_slice(head) * blocks() + block] : all;
  if (weights_of(head, block, keys, query, key_panels, scores)) return keys;
  weights_of(head, block, all, query, key_panels, scores);
  return all;
}

namespace {

// Blocks of rows of all heads, shared out in order: a thread packs the keys and values of a head once.
void attention(KernelContext& ctx) {
  const Attention at(ctx);
  const AttentionSpec& s = at.spec();
  const AttentionLoops& loops = at.loops();
  const int64_t units = s.batch * s.heads * at.blocks();
  if (units == 0 || s.value_depth == 0) return;
  const int64_t key_floats = at.padded(s.keys) * s.depth;
  const int64_t value_floats = s.keys * at.padded(s.value_depth);
  const int64_t floats =
      at.aligned(key_floats) + at.aligned(value_floats) + at.block_rows() * at.scores_step();
  const int64_t pieces = std::min<int64_t>(num_threads(), units);
  float* memory = at.scratch(pieces * floats);
  Shares shares(units, pieces);
  parallel_for(pieces, 1, [&](int64_t first_piece, int64_t last_piece) {
    for (int64_t piece = first_piece; piece < last_piece; ++piece) {
      float* key_panels = memory + piece * floats;
      float* value_panels = key_panels + at.aligned(key_floats);
      float* scores = value_panels + at.aligned(value_floats);
      int64_t packed = -1;
      for (int64_t u = 0, end = 0; shares.take(piece, 1, u, end);) {
        const int64_t head = u / at.blocks();
        const int64_t block = u % at.blocks();
        if (packed != head) {
          const AttentionMatrix k = at.input(s.key, head);
          const AttentionMatrix v = at.input(s.value, head);
          at.pack_turned(k, s.keys, s.depth, key_panels);
          loops.pack(v.data, v.row, v.column, s.keys, s.value_depth, value_panels);
          packed = head;
        }
        const KeyRange keys = at.weights(head, block, at.input(s.query, head), key_panels, scores);
        const AttentionMatrix out = at.output(s.output, head);
        loops.product({.a = scores,
                       .a_row = at.scores_step(),
                       .a_depth = 1,
                       .b = value_panels + keys.begin * loops.panel,
                       .b_panel = s.keys * loops.panel,
                       .c = out.data + block * at.block_rows() * out.row,
                       .c_row = out.row,
                       .rows = at.block_size(block),
                       .columns = s.value_depth,
                       .depth = keys.size(),
                       .add = false});
      }
    }
  });
}

}  // namespace

void register_attention_cpu_kernels() {
  register_kernel("_Attention", DeviceType::kCpu, attention);
  register_kernel("_AttentionGrad", DeviceType::kCpu, attention_grad);
}

}  // namespace rw
