// Batching of strings: most ops are elementwise and need no rule.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching/fold.h"

namespace rw {
namespace {

// Patterns are one for all elements.
void pattern_rule(BatchContext& c) {
  std::vector<Tensor> inputs{c.input(0)};
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.batched(i)) return batch_by_loop(c);
    inputs.push_back(c.input(i));
  }
  c.set(0, apply(c.op(), inputs, c.attrs())[0]);
}

void substr_rule(BatchContext& c) {
  if (!c.input(0).shape().has_rank() || !c.input(1).shape().has_rank() || c.rank(1) != c.rank(2))
    return batch_by_loop(c);
  const int rank = std::max(c.rank(0), c.rank(1));
  Tensor pos = c.input(1), len = c.input(2);
  if (c.batched(1) || c.batched(2)) {
    pos = c.with_batch(1);
    len = c.with_batch(2);
    Sizes sizes = sizes_of(pos);
    sizes.insert(sizes.begin() + 1, size_t(rank - c.rank(1)), Size(1));
    pos = reshape_sizes(pos, sizes);
    len = reshape_sizes(len, sizes);
  }
  const Tensor strings = c.aligned(0, rank);
  c.set(0, apply_one(c.op(), {&strings, &pos, &len}, c.attrs()));
}

void reduce_join_rule(BatchContext& c) {
  if (c.batched(1) || !value_known(c.input(1))) return batch_by_loop(c);
  std::vector<int64_t> list = known_ints(c.input(1));
  for (int64_t& a : list) a += a >= 0;
  const Tensor axes = constant(list, c.input(1).shape(), c.input(1).dtype());
  const Tensor x = c.with_batch(0);
  c.set(0, apply_one(c.op(), {&x, &axes}, c.attrs()));
}

// With one set of ids, the batch goes behind the segments' axes and back.
void segment_join_rule(BatchContext& c) {
  if (c.batched(1) || c.batched(2)) return batch_by_loop(c);
  const Tensor data = move_axis(c.input(0), 0, c.rank(1));
  c.set(0, move_axis(apply_one(c.op(), {&data, &c.input(1), &c.input(2)}, c.attrs()), 1, 0));
}

void decode_raw_rule(BatchContext& c) {
  if (c.num_inputs() > 1 && c.batched(1)) return batch_by_loop(c);
  std::vector<Tensor> inputs{c.input(0)};
  if (c.num_inputs() > 1) inputs.push_back(c.input(1));
  c.set(0, apply(c.op(), inputs, c.attrs())[0]);
}

void fingerprint_rule(BatchContext& c) {
  if (c.batched(1) || !c.input(0).shape().has_rank() || c.rank(0) == 0) return batch_by_loop(c);
  const Tensor data = fold_first(c.input(0));
  c.set(0, unfold_first(apply_one(c.op(), {&data, &c.input(1)}, c.attrs()), c.batch()));
}

}  // namespace

void register_string_batching() {
  register_batching("RegexReplace", pattern_rule);
  register_batching("RegexFullMatch", pattern_rule);
  register_batching("Substr", substr_rule);
  register_batching("ReduceJoin", reduce_join_rule);
  register_batching("UnsortedSegmentJoin", segment_join_rule);
  register_batching("DecodeRaw", decode_raw_rule);
  register_batching("DecodePaddedRaw", decode_raw_rule);
  register_batching("UnicodeEncode", batch_by_loop);
  register_batching("Fingerprint", fingerprint_rule);
}

}  // namespace rw
