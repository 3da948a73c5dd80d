// batch and unbatch.
#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::data {
namespace {

int64_t batches_of(int64_t n, int64_t size, bool drop_remainder) {
  return n < 0 ? n : drop_remainder ? n / size : (n + size - 1) / size;
}

class BatchNode final : public PassNode {
 public:
  BatchNode(Ref<Node> input, int64_t size, bool drop_remainder)
      : PassNode(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}
  const char* name() const override { return "batch"; }
  bool only_copies() const override { return input_->table() != nullptr; }
  int64_t cardinality() const override { return batches_of(input_->cardinality(), size_, drop_remainder_); }

  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const BatchNode& n) : node(n), input(n.input_->cursor()) {}
      bool next(Element* out) override {
        if (ended) return false;
        if (const Table* table = node.input_->table()) {
          rows.resize(size_t(node.size_));
          const int64_t got = input->next_rows(rows.data(), node.size_);
          if (!full(got)) return false;
          out->clear();
          for (const Tensor& column : table->columns)
            out->push_back(gather_rows(column, {rows.data(), size_t(got)}));
          return true;
        }
        // What came before an error is kept: the batch goes on behind it.
        while (int64_t(elements.size()) < node.size_) {
          Element element;
          if (!input->next(&element)) break;
          elements.push_back(std::move(element));
        }
        std::vector<Element> taken;
        taken.swap(elements);
        if (!full(int64_t(taken.size()))) return false;
        *out = stack(taken, "batch");
        return true;
      }
      bool full(int64_t got) {
        ended = got < node.size_;
        return got == node.size_ || (got > 0 && !node.drop_remainder_);
      }
      void save(PositionWriter& to) override {
        to.mark("batch");
        to.number(ended);
        to.number(int64_t(elements.size()));
        for (const Element& e : elements) to.element(e);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("batch");
        ended = from.number(0, 1) != 0;
        const int64_t n = from.number(0, node.size_);
        for (int64_t i = 0; i < n; ++i) elements.push_back(from.element());
        input->load(from);
      }
      const BatchNode& node;
      std::unique_ptr<Cursor> input;
      std::vector<int64_t> rows;
      std::vector<Element> elements;
      bool ended = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    Specs specs = input_->specs();
    const int64_t n = input_->cardinality();
    const bool all_full = drop_remainder_ || n == kInfiniteCardinality || (n >= 0 && n % size_ == 0);
    for (LeafSpec& s : specs) {
      if (s.shape.has_rank()) s.shape.insert(0, drop_remainder_ ? size_ : Shape::kUnknown);
      if (s.exact.has_rank()) s.exact.insert(0, all_full ? size_ : Shape::kUnknown);
    }
    return specs;
  }

 private:
  const int64_t size_;
  const bool drop_remainder_;
};

class UnbatchNode final : public PassNode {
 public:
  explicit UnbatchNode(Ref<Node> input) : PassNode(std::move(input)) {}
  const char* name() const override { return "unbatch"; }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n == kInfiniteCardinality || n == 0) return n;
    for (const LeafSpec& s : input_->specs())
      if (s.shape.has_rank() && s.shape.rank() > 0 && s.shape[0] >= 0 && n >= 0) return n * s.shape[0];
    return kUnknownCardinality;
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(std::unique_ptr<Cursor> c) : input(std::move(c)) {}
      bool next(Element* out) override {
        while (at >= table.rows) {
          Element batch;
          if (!input->next(&batch)) return false;
          open(batch, 0);
        }
        rows_of(table, at++, out);
        return true;
      }
      void open(const Element& batch, int64_t from) {
        Table fresh{{batch.begin(), batch.end()}, -1};
        for (const Tensor& t : fresh.columns) {
          if (t.rank() == 0) fail_invalid("unbatch", "elements must have a first axis: got a scalar");
          if (fresh.rows >= 0 && t.dim(0) != fresh.rows)
            fail_invalid("unbatch", "first sizes of an element must be equal: got " +
                                        std::to_string(fresh.rows) + " and " + std::to_string(t.dim(0)));
          fresh.rows = t.dim(0);
        }
        table = std::move(fresh);
        at = from;
      }
      void save(PositionWriter& to) override {
        to.mark("unbatch");
        const bool inside = at < table.rows;
        to.number(inside ? at : 0);
        to.number(inside);
        if (inside) to.element({table.columns.begin(), table.columns.end()});
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("unbatch");
        const int64_t row = from.number(0, INT64_MAX);
        if (from.number(0, 1) != 0) open(from.element(), row);
        input->load(from);
      }
      std::unique_ptr<Cursor> input;
      Table table;
      int64_t at = 0;
    };
    return std::make_unique<Pass>(input_->cursor());
  }

 protected:
  Specs find_specs() const override {
    Specs specs = input_->specs();
    for (LeafSpec& s : specs) {
      for (Shape* shape : {&s.shape, &s.exact})
        if (shape->has_rank() && shape->rank() > 0) shape->erase(0);
    }
    return specs;
  }
};

}  // namespace

Ref<Node> make_batch(Ref<Node> input, int64_t size, bool drop_remainder) {
  if (size < 1) fail_invalid("batch", "batch_size must be at least 1: got " + std::to_string(size));
  return new_node<BatchNode>(std::move(input), size, drop_remainder);
}
Ref<Node> make_unbatch(Ref<Node> input) { return new_node<UnbatchNode>(std::move(input)); }

}  // namespace rw::data
