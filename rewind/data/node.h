// The untyped core of datasets. A Node describes how elements are made and never changes; a Cursor is one
// pass over them. An element is a flat list of tensors; its C++ type lives in dataset.h alone.
//
// Where all elements are rows of the same tensors (from_tensor_slices, and what only picks and orders rows of
// it), a node has a Table and its cursors speak of row numbers: a batch is then one gather, and a shuffle
// buffer holds numbers.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/function/concrete_function.h"
#include "rewind/op/object.h"
#include "rewind/tensor/tensor.h"

namespace rw::data {

class PositionReader;
class PositionWriter;

using Element = SmallVector<Tensor, 4>;

// As TensorFlow's: numbers of elements that are not numbers.
inline constexpr int64_t kInfiniteCardinality = -1;
inline constexpr int64_t kUnknownCardinality = -2;
inline constexpr int64_t kAutotune = -1;

// What is known of one tensor of every element. `exact` may know sizes that TensorFlow's rule leaves open: a
// batch is full when the number of elements says so.
class Node;
struct LeafSpec {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown_rank();
  Shape exact = Shape::unknown_rank();
  Ref<Object> inner = {};  // of a dataset inside the element: a node that knows its specs
};
using Specs = std::vector<LeafSpec>;

// Columns with one row an element.
struct Table {
  std::vector<Tensor> columns;
  int64_t rows = 0;
};

// Used by one thread at a time; elements are made on that thread, unless a transformation has its own.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // The next element; false at the end, and ever after. May throw, and may be called again then.
  virtual bool next(Element* out) = 0;
  // Only where the node has a table: the numbers of the next rows. Fewer than n only at the end.
  virtual int64_t next_rows(int64_t* rows, int64_t n);
  // What is needed to go on from here; load() comes before the first next().
  virtual void save(PositionWriter& to) = 0;
  virtual void load(PositionReader& from) = 0;
};

class Node : public Object {
 public:
  std::string describe() const override { return std::string("<Dataset of ") + name() + ">"; }
  virtual const char* name() const = 0;
  // A pass from the beginning. The node must outlive it.
  virtual std::unique_ptr<Cursor> cursor() const = 0;
  virtual int64_t cardinality() const = 0;
  virtual const Table* table() const { return nullptr; }
  // Whether an element costs no more than a copy of its bytes: no thread should run ahead for that.
  virtual bool only_copies() const { return table() != nullptr; }
  const Specs& specs() const;  // any thread; found on first asking

 protected:
  virtual Specs find_specs() const = 0;

 private:
  mutable std::once_flag once_;
  mutable Specs specs_;
};

// With an input whose elements it hands on.
class PassNode : public Node {
 public:
  explicit PassNode(Ref<Node> input) : input_(std::move(input)) {}
  const Node& input() const { return *input_; }

 protected:
  Specs find_specs() const override { return input_->specs(); }
  Ref<Node> input_;
};

// ---- tensors as elements

// Row `row` of a tensor, sharing its memory.
Tensor row_of(const Tensor& column, int64_t row);
void rows_of(const Table& table, int64_t row, Element* out);
// Rows gathered into a batch; rows that follow each other are shared, not copied.
Tensor gather_rows(const Tensor& column, std::span<const int64_t> rows);
// Elements stacked along a new first axis. Throws InvalidArgumentError naming the element that does not fit.
Element stack(std::span<const Element> elements, const char* tag);

// ---- handles

// A scalar variant that stands for the dataset.
Tensor handle_of(const Ref<Node>& node);
// Throws InvalidArgumentError when the tensor is no dataset.
Ref<Node> node_of(const Tensor& handle);

// While it lives, this thread remembers which nodes stand behind handles of datasets that are traced.
class ShadowScope {
 public:
  ShadowScope();
  ~ShadowScope();
  ShadowScope(const ShadowScope&) = delete;
  ShadowScope& operator=(const ShadowScope&) = delete;
  static void note(const Tensor& handle, Ref<Node> node);
  static Ref<Node> find(const Tensor& handle);  // nullptr: unknown

 private:
  std::vector<std::pair<Tensor, Ref<Node>>> nodes_;
  ShadowScope* outer_;
};

using ElementFn = std::function<void(const Element& in, Element* out)>;
// What f gives for elements of these specs: found by tracing it. An f that needs values of tensors cannot be
// traced; then `first` makes an element, and only its types are believed.
Specs specs_through(const ElementFn& f, const Specs& in, const std::function<bool(Element*)>& first);

// Sizes with kInfinite and kUnknown.
int64_t min_cardinality(int64_t a, int64_t b);

}  // namespace rw::data
