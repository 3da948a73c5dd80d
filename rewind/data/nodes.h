// The nodes of all sources and transformations, by what makes them. Each checks its numbers and throws
// InvalidArgumentError with the public name.
#pragma once

#include <optional>

#include "rewind/data/node.h"

namespace rw::data {

// ---- sources
Ref<Node> make_slices(std::vector<Tensor> columns);
Ref<Node> make_single(std::vector<Tensor> tensors);
Ref<Node> make_range(int64_t start, int64_t stop, int64_t step, DType dtype);
// Elements that are there already: what a window holds.
class ElementsNode final : public Node {
 public:
  ElementsNode(std::vector<Element> elements, Specs specs)
      : elements_(std::move(elements)), known_(std::move(specs)) {}
  const char* name() const override { return "elements"; }
  std::unique_ptr<Cursor> cursor() const override;
  int64_t cardinality() const override { return int64_t(elements_.size()); }
  const std::vector<Element>& elements() const { return elements_; }

 protected:
  Specs find_specs() const override { return known_; }

 private:
  std::vector<Element> elements_;
  Specs known_;
};
// Stands for a dataset of which only the specs are known.
Ref<Node> make_unknown(Specs specs);
// Gives elements until it returns false.
using NextFn = std::function<bool(Element*)>;
// `start` begins a pass.
Ref<Node> make_generator(std::function<NextFn()> start, std::optional<Specs> specs);

// ---- order and number
Ref<Node> make_take(Ref<Node> input, int64_t count);    // -1: all
Ref<Node> make_skip(Ref<Node> input, int64_t count);    // -1: all
Ref<Node> make_repeat(Ref<Node> input, int64_t count);  // -1: without end
Ref<Node> make_shard(Ref<Node> input, int64_t num_shards, int64_t index);
Ref<Node> make_shuffle(Ref<Node> input, int64_t buffer_size, int64_t seed, int64_t seed2,
                       bool reshuffle_each_iteration);
Ref<Node> make_concatenate(Ref<Node> first, Ref<Node> second);
Ref<Node> make_zip(std::vector<Ref<Node>> inputs);
Ref<Node> make_enumerate(Ref<Node> input, int64_t start);

// ---- batches
Ref<Node> make_batch(Ref<Node> input, int64_t size, bool drop_remainder);
// Shapes and values one per tensor of the element; empty lists stand for unknown sizes and zeros.
Ref<Node> make_padded_batch(Ref<Node> input, int64_t size, std::vector<Shape> shapes,
                            std::vector<Tensor> values, bool drop_remainder);
Ref<Node> make_unbatch(Ref<Node> input);
// Each element a dataset of every component.
Ref<Node> make_window(Ref<Node> input, int64_t size, int64_t shift, int64_t stride, bool drop_remainder,
                      bool whole_elements);

// ---- functions
Ref<Node> make_map(Ref<Node> input, ElementFn f, int64_t num_parallel_calls, bool deterministic);
Ref<Node> make_filter(Ref<Node> input, ElementFn predicate);
Ref<Node> make_interleave(Ref<Node> input, ElementFn f, int64_t cycle_length, int64_t block_length,
                          bool parallel, const char* name);

// ---- buffers
Ref<Node> make_cache(Ref<Node> input, std::string filename);  // an empty name: in memory
Ref<Node> make_prefetch(Ref<Node> input, int64_t buffer_size);

template <class N, class... A>
Ref<Node> new_node(A&&... args) {
  return Ref<Node>::adopt(new N(std::forward<A>(args)...));
}

}  // namespace rw::data
