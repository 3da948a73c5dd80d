// Fused attention on float: softmax(steps(q k^T)) v and its gradients, a few rows of queries at a time, so
// that the (queries, keys) matrices are never stored whole.
//
// A block of rows is as wide as there are keys, and is worked on in the order of the ops that it stands for:
// the products sum along their inner axis one by one, softmax and the gradient's sum are the library's own
// loops. So the bits are those of the ops one after the other, wherever their products sum in that order too.
//
// Keys that a mask hides from all rows of a block are left out where that changes nothing: exp(number - the
// row's largest score) is 0 for each row, so their weights are, and their part of every sum.
#pragma once

#include <algorithm>

#include "rewind/kernel/cpu/isa/attention.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/attention.h"

namespace rw {

// A (positions, depth) matrix: one head of one batch entry.
struct AttentionMatrix {
  float* data;
  int64_t row, column;  // steps
};

struct KeyRange {
  int64_t begin, end;  // begin is a multiple of kKeyAlign
  int64_t size() const { return end - begin; }
};

class Attention {
 public:
  static constexpr int64_t kKeyAlign = 32;  // whole panels, and whole turns of the sums' lanes

  // Takes scratch from the kernel and finds what masks hide.
  explicit Attention(KernelContext& ctx);

  const AttentionSpec& spec() const { return spec_; }
  const AttentionLoops& loops() const { return loops_; }
  int64_t block_rows() const { return block_rows_; }
  int64_t blocks() const { return (spec_.queries + block_rows_ - 1) / block_rows_; }
  int64_t block_size(int64_t block) const {
    return std::min(block_rows_, spec_.queries - block * block_rows_);
  }
  // Elements between rows of scores; padded, so that rows do not fall on the same lines of a cache.
  int64_t scores_step() const { return padded(spec_.keys) + 16; }
  static int64_t padded(int64_t n, int64_t to = kKeyAlign) { return (n + to - 1) / to * to; }
  static int64_t aligned(int64_t floats) { return padded(floats, 16); }
  // Memory until the kernel returns, aligned to a cache line.
  float* scratch(int64_t floats) const {
    float* memory = ctx_.scratch<float>(size_t(floats) + 16);
    return memory + (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64 / sizeof(float);
  }

  AttentionMatrix input(const AttentionView& v, int64_t head) const {
    return matrix(ctx_.in(int(v.operand)), v, head);
  }
  AttentionMatrix output(const AttentionView& v, int64_t head) const {
    return matrix(ctx_.out(int(v.operand)), v, head);
  }

  // A (positions, depth) matrix to panels of positions: the right factor of a product with its transpose.
  void pack_turned(const AttentionMatrix& m, int64_t positions, int64_t depth, float* panels) const;
  // Softmax weights of a block of a head (counted over the batch) into `scores`, whose columns begin with the
  // first key of the result. key_panels: the head's keys, packed.
  KeyRange weights(int64_t head, int64_t block, const AttentionMatrix& query, const float* key_panels,
                   float* scores) const;
  // The steps for a block's rows and these keys.
  SmallVector<ScoreStep, 4> steps_of(int64_t head, int64_t block, KeyRange keys) const;

 private:
  AttentionMatrix matrix(const View& x, const AttentionView& v, int64_t head) const {
    const int64_t at = v.offset + head / spec_.heads * v.step[0] + head % spec_.heads * v.step[1];
    return {x.as<float>() + at, v.step[2], v.step[3]};
  }
  int64_t mask_at(const AttentionStep& s, int64_t head, int64_t row, int64_t key) const {
    return head / spec_.heads * s.step[0] + head % spec_.heads * s.step[1] + row * s.step[2] +
           key * s.step[3];
  }
  bool weights_of(int64_t head, int64_t block, KeyRange keys, const AttentionMatrix& query,
                  const float* key_panels, float* scores) const;
  // The last step's mask may be one for all heads or batch entries.
  int64_t mask_slice(int64_t head) const {
    const AttentionStep& m = spec_.steps.back();
    const int64_t entry = m.step[0] == 0 ? 0 : head / spec_.heads;
    return m.step[1] == 0 ? entry : entry * spec_.heads + head % spec_.heads;
  }
  void find_ranges();
  KeyRange seen(const AttentionStep& mask, const uint8_t* data, int64_t block) const;

  KernelContext& ctx_;
  const AttentionSpec spec_;
  const AttentionLoops& loops_;
  const int64_t block_rows_;
  KeyRange* ranges_ = nullptr;  // (mask_slices, blocks): keys that a block sees; null: all
};

void attention_grad(KernelContext& ctx);

}  // namespace rw
