// Sources that need no files: tensors, numbers, functions of the user's.
#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::data {
namespace {

constexpr DTypeSet kCastTypes = kRealTypes | kComplexTypes | set_of(DType::kBool);

class SlicesNode final : public Node {
 public:
  explicit SlicesNode(Table table) : table_(std::move(table)) {}
  const char* name() const override { return "from_tensor_slices"; }
  int64_t cardinality() const override { return table_.rows < 0 ? kUnknownCardinality : table_.rows; }
  const Table* table() const override { return &table_; }

  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const Table& t) : table(t) {}
      bool next(Element* out) override {
        if (at >= table.rows) return false;
        rows_of(table, at++, out);
        return true;
      }
      int64_t next_rows(int64_t* rows, int64_t n) override {
        n = std::min(n, table.rows - at);
        for (int64_t i = 0; i < n; ++i) rows[i] = at++;
        return n;
      }
      void save(PositionWriter& to) override {
        to.mark("from_tensor_slices");
        to.number(at);
      }
      void load(PositionReader& from) override {
        from.mark("from_tensor_slices");
        at = from.number(0, table.rows);
      }
      const Table& table;
      int64_t at = 0;
    };
    return std::make_unique<Pass>(table_);
  }

 protected:
  Specs find_specs() const override {
    Specs specs;
    for (const Tensor& t : table_.columns) {
      Shape shape = t.shape();
      if (shape.has_rank()) shape.erase(0);
      specs.push_back({t.dtype(), shape, shape});
    }
    return specs;
  }

 private:
  Table table_;
};

class UnknownNode final : public Node {
 public:
  explicit UnknownNode(Specs specs) : known_(std::move(specs)) {}
  const char* name() const override { return "unknown"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Cursor> cursor() const override {
    fail_internal(__FILE__, __LINE__, "a dataset that is only known by its specs");
  }

 protected:
  Specs find_specs() const override { return known_; }

 private:
  Specs known_;
};

struct ElementsPass final : Cursor {
  ElementsPass(const std::vector<Element>& list, const char* mark) : elements(list), name(mark) {}
  bool next(Element* out) override {
    if (at >= elements.size()) return false;
    *out = elements[at++];
    return true;
  }
  void save(PositionWriter& to) override {
    to.mark(name);
    to.number(int64_t(at));
  }
  void load(PositionReader& from) override {
    from.mark(name);
    at = size_t(from.number(0, int64_t(elements.size())));
  }
  const std::vector<Element>& elements;
  const char* name;
  size_t at = 0;
};

class RangeNode final : public Node {
 public:
  RangeNode(int64_t start, int64_t stop, int64_t step, DType dtype)
      : start_(start), step_(step), dtype_(dtype) {
    const auto first = __int128(start), last = __int128(stop), by = __int128(step);
    const __int128 span = by > 0 ? last - first + by - 1 : first - last - by - 1;
    count_ = span <= 0 ? 0 : int64_t(span / (by > 0 ? by : -by));
  }
  const char* name() const override { return "range"; }
  int64_t cardinality() const override { return count_; }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const RangeNode& n) : node(n) {}
      bool next(Element* out) override {
        if (at >= node.count_) return false;
        out->clear();
        out->push_back(scalar_tensor(node.start_ + at++ * node.step_, node.dtype_));
        return true;
      }
      void save(PositionWriter& to) override {
        to.mark("range");
        to.number(at);
      }
      void load(PositionReader& from) override {
        from.mark("range");
        at = from.number(0, node.count_);
      }
      const RangeNode& node;
      int64_t at = 0;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override { return {{dtype_, {}, {}}}; }

 private:
  int64_t start_, step_, count_;
  DType dtype_;
};

// An element as the signature wants it: numbers are cast, the rest must fit.
void fit_to_signature(const Specs& specs, int64_t number, Element* element) {
  const auto fail = [&](const std::string& what) {
    fail_invalid("from_generator",
                 "elements must fit output_signature: element " + std::to_string(number) + " " + what);
  };
  if (element->size() != specs.size())
    fail("has " + std::to_string(element->size()) + " tensors, the signature has " +
         std::to_string(specs.size()));
  for (size_t i = 0; i < specs.size(); ++i) {
    Tensor& t = (*element)[i];
    const std::string which = specs.size() == 1 ? "" : "in tensor " + std::to_string(i) + " ";
    const bool numbers = contains(kCastTypes, t.dtype()) && contains(kCastTypes, specs[i].dtype);
    if (t.dtype() != specs[i].dtype && !numbers)
      fail(which + "is " + std::string(name_of(t.dtype())) + ", which does not convert to " +
           std::string(name_of(specs[i].dtype)));
    if (!t.shape().compatible_with(specs[i].shape))
      fail(which + "has shape " + t.shape().to_string() + ", the signature says " +
           specs[i].shape.to_string());
    if (t.dtype() != specs[i].dtype) t = cast(t, specs[i].dtype);
  }
}

class GeneratorNode final : public Node {
 public:
  GeneratorNode(std::function<NextFn()> start, std::optional<Specs> specs)
      : start_(std::move(start)), known_(std::move(specs)) {}
  const char* name() const override { return "from_generator"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const GeneratorNode& n) : node(n) {}
      bool next(Element* out) override {
        if (ended) return false;
        if (!step) step = node.start_();
        out->clear();
        ended = !step(out);
        if (ended) return false;
        ++made;
        if (node.known_) fit_to_signature(*node.known_, made - 1, out);
        return true;
      }
      // A function has no position but the number of its calls: they are made again.
      void save(PositionWriter& to) override {
        to.mark("from_generator");
        to.number(made);
        to.number(ended);
      }
      void load(PositionReader& from) override {
        from.mark("from_generator");
        const int64_t count = from.number(0, INT64_MAX);
        const bool at_end = from.number(0, 1) != 0;
        Element unused;
        while (made < count)
          if (!next(&unused))
            from.fail("the generator ended after " + std::to_string(made) + " of " + std::to_string(count) +
                      " elements");
        ended = at_end;
      }
      const GeneratorNode& node;
      NextFn step;
      int64_t made = 0;
      bool ended = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    if (known_) return *known_;
    const OutsideTraces outside;
    Element first;
    Specs specs;
    if (start_()(&first))
      for (const Tensor& t : first)
        specs.push_back({t.dtype(), Shape::unknown_rank(), Shape::unknown_rank()});
    return specs;
  }

 private:
  std::function<NextFn()> start_;
  std::optional<Specs> known_;
};

}  // namespace

std::unique_ptr<Cursor> ElementsNode::cursor() const {
  return std::make_unique<ElementsPass>(elements_, "elements");
}

Ref<Node> make_unknown(Specs specs) { return new_node<UnknownNode>(std::move(specs)); }

Ref<Node> make_slices(std::vector<Tensor> columns) {
  if (columns.empty()) fail_invalid("from_tensor_slices", "there must be at least one tensor");
  Table table{std::move(columns), -1};
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Shape& shape = table.columns[i].shape();
    if (!shape.has_rank()) continue;
    if (shape.rank() == 0)
      fail_invalid("from_tensor_slices", "tensors must have a first axis to slice: component " +
                                             std::to_string(i) + " is a scalar; from_tensors takes it whole");
    if (shape[0] < 0) continue;
    if (table.rows >= 0 && shape[0] != table.rows)
      fail_invalid("from_tensor_slices", "first sizes must be equal: component " + std::to_string(i) +
                                             " is " + shape.to_string() + ", others have " +
                                             std::to_string(table.rows) + " rows");
    table.rows = shape[0];
  }
  return new_node<SlicesNode>(std::move(table));
}

Ref<Node> make_single(std::vector<Tensor> tensors) {
  Specs specs;
  Element element;
  for (Tensor& t : tensors) {
    specs.push_back({t.dtype(), t.shape(), t.shape()});
    element.push_back(std::move(t));
  }
  return new_node<ElementsNode>(std::vector<Element>{std::move(element)}, std::move(specs));
}

Ref<Node> make_range(int64_t start, int64_t stop, int64_t step, DType dtype) {
  if (step == 0) fail_invalid("range", "step must not be 0");
  if (!contains(kRealTypes, dtype))
    fail_invalid("range", "output_type must be a real number's: got " + std::string(name_of(dtype)));
  return new_node<RangeNode>(start, stop, step, dtype);
}

Ref<Node> make_generator(std::function<NextFn()> start, std::optional<Specs> specs) {
  return new_node<GeneratorNode>(std::move(start), std::move(specs));
}

}  // namespace rw::data
