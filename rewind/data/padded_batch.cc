// padded_batch: elements of different sizes, filled up to one size.
#include <cstring>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::data {
namespace {

// Copies a row-major block into the corner of a larger one. `size` is the bytes of an element.
void copy_corner(const Shape& from_shape, const Shape& to_shape, int axis, const char* from, char* to,
                 const Tensor& like) {
  const DType dtype = like.dtype();
  if (axis == from_shape.rank()) {
    if (dtype == DType::kString)
      *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(from);
    else std::memcpy(to, from, size_of(dtype));
    return;
  }
  int64_t from_step = int64_t(size_of(dtype));
  int64_t to_step = from_step;
  for (int k = axis + 1; k < from_shape.rank(); ++k) {
    from_step *= from_shape[k];
    to_step *= to_shape[k];
  }
  if (axis + 1 == from_shape.rank() && dtype != DType::kString) {
    std::memcpy(to, from, size_t(from_step * from_shape[axis]));
    return;
  }
  for (int64_t i = 0; i < from_shape[axis]; ++i)
    copy_corner(from_shape, to_shape, axis + 1, from + i * from_step, to + i * to_step, like);
}

void fill_with(const Value& to, const Tensor& value) {
  auto* at = static_cast<char*>(to.data);
  const size_t size = size_of(to.dtype);
  for (int64_t i = 0; i < to.size; ++i) {
    if (to.dtype == DType::kString)
      static_cast<std::string*>(to.data)[i] = *static_cast<const std::string*>(value.impl()->data);
    else std::memcpy(at + size_t(i) * size, value.impl()->data, size);
  }
}

class PaddedBatchNode final : public PassNode {
 public:
  PaddedBatchNode(Ref<Node> input, int64_t size, std::vector<Shape> shapes, std::vector<Tensor> values,
                  bool drop_remainder)
      : PassNode(std::move(input)),
        size_(size),
        shapes_(std::move(shapes)),
        values_(std::move(values)),
        drop_remainder_(drop_remainder) {}
  const char* name() const override { return "padded_batch"; }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n < 0 ? n : drop_remainder_ ? n / size_ : (n + size_ - 1) / size_;
  }

  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const PaddedBatchNode& n) : node(n), input(n.input_->cursor()) {}
      bool next(Element* out) override {
        if (ended) return false;
        std::vector<Element> elements(1);
        while (input->next(&elements.back()) && int64_t(elements.size()) < node.size_)
          elements.emplace_back();
        if (elements.back().empty()) {
          ended = true;
          elements.pop_back();
        }
        if (elements.empty() || (ended && node.drop_remainder_)) return false;
        *out = node.pad(elements);
        return true;
      }
      void save(PositionWriter& to) override {
        to.mark("padded_batch");
        to.number(ended);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("padded_batch");
        ended = from.number(0, 1) != 0;
        input->load(from);
      }
      const PaddedBatchNode& node;
      std::unique_ptr<Cursor> input;
      bool ended = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    Specs specs = input_->specs();
    const int64_t n = input_->cardinality();
    const bool all_full = drop_remainder_ || n == kInfiniteCardinality || (n >= 0 && n % size_ == 0);
    for (size_t i = 0; i < specs.size(); ++i) {
      Shape shape = i < shapes_.size() ? shapes_[i] : specs[i].shape;
      if (!shape.has_rank() && specs[i].shape.has_rank())
        shape = Shape::unknown_of_rank(specs[i].shape.rank());
      specs[i].shape = specs[i].exact = shape;
      if (!shape.has_rank()) continue;
      specs[i].shape.insert(0, drop_remainder_ ? size_ : Shape::kUnknown);
      specs[i].exact.insert(0, all_full ? size_ : Shape::kUnknown);
    }
    return specs;
  }

 private:
  Element pad(const std::vector<Element>& elements) const {
    const size_t columns = elements[0].size();
    if (!shapes_.empty() && shapes_.size() != columns)
      fail_invalid("padded_batch", "padded_shapes must hold one shape per tensor of an element: got " +
                                       std::to_string(shapes_.size()) + " for " + std::to_string(columns));
    if (!values_.empty() && values_.size() != columns)
      fail_invalid("padded_batch", "padding_values must hold one value per tensor of an element: got " +
                                       std::to_string(values_.size()) + " for " + std::to_string(columns));
    Element out;
    for (size_t c = 0; c < columns; ++c) out.push_back(pad_column(elements, c));
    return out;
  }

  Tensor pad_column(const std::vector<Element>& elements, size_t c) const {
    const Tensor& first = elements[0][c];
    const bool open = shapes_.empty() || !shapes_[c].has_rank();
    Shape shape = open ? Shape::unknown_of_rank(first.rank()) : shapes_[c];
    const Shape wanted = shape;
    for (size_t i = 0; i < elements.size(); ++i) {
      const Tensor& t = elements[i][c];
      const std::string who = "component " + std::to_string(c) + " of element " + std::to_string(i) + " is " +
                              t.shape().to_string() + " " + std::string(name_of(t.dtype()));
      if (t.dtype() != first.dtype() || t.rank() != shape.rank())
        fail_invalid("padded_batch", "elements must have one rank and dtype: " + who + ", expected rank " +
                                         std::to_string(shape.rank()) + " " +
                                         std::string(name_of(first.dtype())));
      for (int k = 0; k < t.rank(); ++k) {
        if (wanted[k] >= 0 && t.shape()[k] > wanted[k])
          fail_invalid("padded_batch", "padded_shapes must be at least as large as the elements: " + who +
                                           ", to be padded to " + wanted.to_string());
        if (wanted[k] < 0) shape.set(k, std::max(shape[k], t.shape()[k]));
      }
    }
    Shape batch = shape;
    batch.insert(0, int64_t(elements.size()));
    Value to = Value::allocate(cpu_device(), first.dtype(), batch);
    if (values_.empty()) {
      if (to.dtype != DType::kString && to.size > 0)
        std::memset(to.data, 0, size_t(to.size) * size_of(to.dtype));
    } else {
      if (values_[c].dtype() != first.dtype() || values_[c].rank() != 0)
        fail_invalid("padded_batch", "padding value " + std::to_string(c) + " must be a scalar " +
                                         std::string(name_of(first.dtype())) + ": got " +
                                         values_[c].shape().to_string() + " " +
                                         std::string(name_of(values_[c].dtype())));
      fill_with(to, values_[c]);
    }
    const int64_t step = shape.num_elements() * int64_t(size_of(to.dtype));
    for (size_t i = 0; i < elements.size(); ++i) {
      const Tensor& t = elements[i][c];
      if (t.size() > 0)
        copy_corner(t.shape(), shape, 0, static_cast<const char*>(t.impl()->data),
                    static_cast<char*>(to.data) + int64_t(i) * step, t);
    }
    return make_tensor(std::move(to));
  }

  const int64_t size_;
  const std::vector<Shape> shapes_;
  const std::vector<Tensor> values_;
  const bool drop_remainder_;
};

}  // namespace

Ref<Node> make_padded_batch(Ref<Node> input, int64_t size, std::vector<Shape> shapes,
                            std::vector<Tensor> values, bool drop_remainder) {
  if (size < 1) fail_invalid("padded_batch", "batch_size must be at least 1: got " + std::to_string(size));
  return new_node<PaddedBatchNode>(std::move(input), size, std::move(shapes), std::move(values),
                                   drop_remainder);
}

}  // namespace rw::data
