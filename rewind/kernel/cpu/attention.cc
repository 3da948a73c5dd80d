#include "rewind/kernel/cpu/attention.h"

#include "rewind/base/math/exp_log.h"
#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/nn.h"
#include "rewind/kernel/cpu/normalization.h"

namespace rw {

Attention::Attention(KernelContext& ctx)
    : ctx_(ctx),
      spec_(AttentionSpec::from_attrs(ctx.op(), ctx.attrs())),
      loops_(*isa_loops().attention),
      block_rows_(4 * loops_.rows) {
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

void Attention::scores_of(int64_t head, int64_t block, KeyRange keys, const AttentionMatrix& query,
                          const float* key_panels, float* scores) const {
  const int64_t first = block * block_rows_;
  const int64_t rows = block_size(block);
  loops_.product({.a = query.data + first * query.row,
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
  for (const AttentionStep& s : spec_.steps) {
    for (int64_t r = 0; r < rows; ++r) {
      float* row = scores + r * scores_step();
      const float number = float(s.number);
      if (s.kind == AttentionStep::kMultiply) {
        loops_.multiply(row, number, keys.size());
      } else if (s.kind == AttentionStep::kDivide) {
        loops_.divide(row, number, keys.size());
      } else {
        const View& x = ctx_.in(int(s.operand));
        const int64_t at = mask_at(s, head, first + r, keys.begin);
        if (s.kind == AttentionStep::kAdd) loops_.add(row, x.as<float>() + at, s.step[3], keys.size());
        else
          loops_.hide(row, x.as<uint8_t>() + at, s.step[3], s.kind == AttentionStep::kKeep, number,
                      keys.size());
      }
    }
  }
}

bool Attention::hidden_weigh_nothing(int64_t rows, KeyRange keys, const float* scores) const {
  const float number = float(spec_.steps.back().number);
  for (int64_t r = 0; r < rows; ++r) {
    const float top = loops_.largest(scores + r * scores_step(), keys.size());
    if (!(number - top <= -float(scalar::kExpBound<float>))) return false;
  }
  return true;
}

KeyRange Attention::weights(int64_t head, int64_t block, const AttentionMatrix& query,
                            const float* key_panels, float* scores) const {
  const KeyRange all{0, spec_.keys};
  KeyRange keys = ranges_ ? ranges_[mask_slice(head) * blocks() + block] : all;
  const int64_t rows = block_size(block);
  scores_of(head, block, keys, query, key_panels, scores);
  if (keys.size() < spec_.keys && !hidden_weigh_nothing(rows, keys, scores)) {
    keys = all;
    scores_of(head, block, keys, query, key_panels, scores);
  }
  const SoftmaxLoop softmax = isa_loops().nn->softmax[size_t(DType::kFloat32)];
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scores + r * scores_step();
    softmax(row, row, nullptr, 1, keys.size());
  }
  return keys;
}

void Attention::steps_grad(int64_t head, int64_t row, KeyRange keys, float* grad) const {
  for (size_t i = spec_.steps.size(); i-- > 0;) {
    const AttentionStep& s = spec_.steps[i];
    if (s.kind == AttentionStep::kMultiply) {
      loops_.multiply(grad, float(s.number), keys.size());
    } else if (s.kind == AttentionStep::kDivide) {
      loops_.divide(grad, float(s.number), keys.size());
    } else if (s.masks()) {
      const uint8_t* mask = ctx_.in(int(s.operand)).as<uint8_t>() + mask_at(s, head, row, keys.begin);
      loops_.hide(grad, mask, s.step[3], s.kind == AttentionStep::kKeep, 0.0f, keys.size());
    }
  }
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
  parallel_for(pieces, 1, [&](int64_t first_piece, int64_t last_piece) {
    for (int64_t piece = first_piece; piece < last_piece; ++piece) {
      float* key_panels = memory + piece * floats;
      float* value_panels = key_panels + at.aligned(key_floats);
      float* scores = value_panels + at.aligned(value_floats);
      int64_t packed = -1;
      for (int64_t u = units * piece / pieces; u < units * (piece + 1) / pieces; ++u) {
        const int64_t head = u / at.blocks();
        const int64_t block = u % at.blocks();
        if (packed != head) {
          const AttentionMatrix k = at.input(s.key, head);
          const AttentionMatrix v = at.input(s.value, head);
          loops.pack(k.data, k.column, k.row, s.depth, s.keys, key_panels);
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
