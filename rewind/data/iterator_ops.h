// Datasets and iterators in graphs. A dataset that is made in a trace is a node of the graph that makes it
// anew at every call; iterators are resources, and taking an element is an effect.
//
//   _Dataset          runs a recipe (an object that the graph holds) on tensors and datasets
//   _MakeIterator     starts a pass
//   _IteratorHasNext  looks whether an element is left, without taking it
//   IteratorGetNext   takes an element; OutOfRangeError at the end
//   _IteratorNext     the same, with a true behind it
#pragma once

#include <optional>

#include "rewind/data/node.h"

namespace rw::data {

// One pass over a dataset with a lock around it: what an iterator's resource handle points to.
class Pass final : public Object {
 public:
  explicit Pass(Ref<Node> node);
  ~Pass() override;
  std::string describe() const override { return "<ResourceHandle of an iterator>"; }
  bool has_next();
  bool next(Element* out);
  std::string position();
  void set_position(std::string_view bytes);
  const Node& node() const { return *node_; }

 private:
  bool take(Element* out);
  Ref<Node> node_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Cursor> cursor_;
  std::optional<Element> seen_;  // looked at, not taken
};

Tensor handle_of(const Ref<Pass>& pass);
Ref<Pass> pass_of(const Tensor& handle);

// How to make a dataset from others and from tensors.
using Recipe = std::function<Ref<Node>(std::span<const Ref<Node>> datasets, std::span<const Tensor> tensors)>;
// A dataset: the tensor that stands for it, and a node that knows its specs. Outside of traces the node is
// the dataset itself.
struct Made {
  Tensor handle;
  Ref<Node> node;
};
Made make_dataset(const std::vector<Made>& datasets, std::vector<Tensor> tensors, Recipe recipe);
// A dataset's handle with its node; in a trace the one that is known for it, or else one with the specs of
// `like`.
Made made_from(Tensor handle, const Ref<Node>& like);

bool in_trace();
// Throws FailedPreconditionError in a trace: C++ loops would unroll there.
void require_eager(const char* what);

// In traces and outside.
Tensor make_iterator(const Made& dataset);
Tensor iterator_has_next(const Tensor& iterator);
Element iterator_get_next(const Tensor& iterator, const Specs& specs);
// In traces; the first is true.
Element iterator_next(const Tensor& iterator, const Specs& specs);
// wanted && has_next.
Tensor wanted_and_there(const Tensor& wanted, const Tensor& iterator);
// Whether the graph knows all sizes of elements.
bool fully_known(const Specs& specs);

}  // namespace rw::data
