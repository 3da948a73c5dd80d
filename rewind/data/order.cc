// Transformations that pick, repeat and join elements as they are: take, skip, repeat, shard, concatenate,
// zip, enumerate.
#include "rewind/base/error.h"
#include "rewind/base/function_ref.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"

namespace rw::data {
namespace {

// Finite numbers only.
template <class F>
int64_t change_cardinality(int64_t n, F f) {
  return n < 0 ? n : f(n);
}

class TakeNode final : public PassNode {
 public:
  TakeNode(Ref<Node> input, int64_t count) : PassNode(std::move(input)), count_(count) {}
  const char* name() const override { return "take"; }
  const Table* table() const override { return input_->table(); }
  bool only_copies() const override { return input_->only_copies(); }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return count_ < 0 ? n : count_ == 0 ? 0 : min_cardinality(n, count_);
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      Pass(std::unique_ptr<Cursor> c, int64_t n) : input(std::move(c)), left(n) {}
      bool next(Element* out) override {
        if (left == 0) return false;
        if (!input->next(out)) {
          left = 0;
          return false;
        }
        if (left > 0) --left;
        return true;
      }
      int64_t next_rows(int64_t* rows, int64_t n) override {
        if (left >= 0) n = std::min(n, left);
        const int64_t got = input->next_rows(rows, n);
        if (left >= 0) left -= got;
        return got;
      }
      void save(PositionWriter& to) override {
        to.mark("take");
        to.number(left);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("take");
        left = from.number(-1, INT64_MAX);
        input->load(from);
      }
      std::unique_ptr<Cursor> input;
      int64_t left;
    };
    return std::make_unique<Pass>(input_->cursor(), count_);
  }

 private:
  int64_t count_;
};

class SkipNode final : public PassNode {
 public:
  SkipNode(Ref<Node> input, int64_t count) : PassNode(std::move(input)), count_(count) {}
  const char* name() const override { return "skip"; }
  const Table* table() const override { return input_->table(); }
  bool only_copies() const override { return input_->only_copies(); }
  int64_t cardinality() const override {
    if (count_ < 0) return 0;
    return change_cardinality(input_->cardinality(),
                              [&](int64_t n) { return std::max<int64_t>(0, n - count_); });
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      Pass(std::unique_ptr<Cursor> c, int64_t n, bool rows) : input(std::move(c)), left(n), by_rows(rows) {}
      bool next(Element* out) override { return pass_over() && input->next(out); }
      int64_t next_rows(int64_t* rows, int64_t n) override {
        return pass_over() ? input->next_rows(rows, n) : 0;
      }
      // False when nothing is left.
      bool pass_over() {
        while (left > 0 && by_rows) {
          int64_t unused[256];
          const int64_t n = std::min<int64_t>(left, 256);
          const int64_t got = input->next_rows(unused, n);
          left = got < n ? 0 : left - got;
        }
        Element unused;
        while (left > 0) left = input->next(&unused) ? left - 1 : 0;
        return left == 0;
      }
      void save(PositionWriter& to) override {
        to.mark("skip");
        to.number(left);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("skip");
        left = from.number(-1, INT64_MAX);
        input->load(from);
      }
      std::unique_ptr<Cursor> input;
      int64_t left;  // -1: everything
      bool by_rows;
    };
    return std::make_unique<Pass>(input_->cursor(), count_, table() != nullptr);
  }

 private:
  int64_t count_;
};

class RepeatNode final : public PassNode {
 public:
  RepeatNode(Ref<Node> input, int64_t count) : PassNode(std::move(input)), count_(count) {}
  const char* name() const override { return "repeat"; }
  const Table* table() const override { return input_->table(); }
  bool only_copies() const override { return input_->only_copies(); }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (count_ < 0) return n == 0 ? 0 : kInfiniteCardinality;
    if (count_ == 0) return 0;
    return change_cardinality(n, [&](int64_t k) { return k * count_; });
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      // The first pass opens at once: a shuffle in it has drawn its seeds, which a position then holds.
      explicit Pass(const RepeatNode& n) : node(n), left(n.count_) {
        if (left == 0) return;
        input = node.input_->cursor();
        open = true;
        unused = true;
      }
      bool next(Element* out) override {
        bool made = false;
        return again([&] { return made = input->next(out); }) && made;
      }
      int64_t next_rows(int64_t* rows, int64_t n) override {
        int64_t got = 0;
        while (got < n && again([&] {
                 const int64_t more = input->next_rows(rows + got, n - got);
                 got += more;
                 return more > 0;
               })) {}
        return got;
      }
      // Runs f on the pass that is open, or on the next ones. A pass without any element ends an endless
      // repetition.
      bool again(FunctionRef<bool()> f) {
        while (left != 0) {
          const bool fresh = !open || unused;
          unused = false;
          if (!open) {
            input.reset();
            input = node.input_->cursor();
            open = true;
          }
          if (f()) return true;
          open = false;
          if (left > 0) --left;
          else if (fresh) left = 0;
        }
        return false;
      }
      void save(PositionWriter& to) override {
        to.mark("repeat");
        to.number(left);
        to.number(open);
        to.number(input != nullptr);
        if (input) input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("repeat");
        left = from.number(-1, INT64_MAX);
        open = from.number(0, 1) != 0;
        unused = false;
        input.reset();
        if (from.number(0, 1) == 0) return;
        input = node.input_->cursor();
        input->load(from);
      }
      const RepeatNode& node;
      int64_t left;
      // Of the pass at hand; one that ended stays, for a shuffle in it tells how many passes there were.
      std::unique_ptr<Cursor> input;
      bool open = false;
      bool unused = false;  // opened, and nobody has asked it for an element
    };
    return std::make_unique<Pass>(*this);
  }

 private:
  int64_t count_;
};

class ShardNode final : public PassNode {
 public:
  ShardNode(Ref<Node> input, int64_t shards, int64_t index)
      : PassNode(std::move(input)), shards_(shards), index_(index) {}
  const char* name() const override { return "shard"; }
  const Table* table() const override { return input_->table(); }
  bool only_copies() const override { return input_->only_copies(); }
  int64_t cardinality() const override {
    return change_cardinality(input_->cardinality(),
                              [&](int64_t n) { return n / shards_ + (index_ < n % shards_ ? 1 : 0); });
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      Pass(std::unique_ptr<Cursor> c, int64_t n, int64_t i) : input(std::move(c)), shards(n), index(i) {}
      bool next(Element* out) override {
        while (input->next(out))
          if (seen++ % shards == index) return true;
        return false;
      }
      int64_t next_rows(int64_t* rows, int64_t n) override {
        int64_t got = 0;
        while (got < n && input->next_rows(rows + got, 1) == 1) got += seen++ % shards == index;
        return got;
      }
      void save(PositionWriter& to) override {
        to.mark("shard");
        to.number(seen);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("shard");
        seen = from.number(0, INT64_MAX);
        input->load(from);
      }
      std::unique_ptr<Cursor> input;
      int64_t shards, index, seen = 0;
    };
    return std::make_unique<Pass>(input_->cursor(), shards_, index_);
  }

 private:
  int64_t shards_, index_;
};

// What two shapes have in common.
Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape shape = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) shape.set(k, Shape::kUnknown);
  return shape;
}

class ConcatenateNode final : public PassNode {
 public:
  ConcatenateNode(Ref<Node> first, Ref<Node> second)
      : PassNode(std::move(first)), second_(std::move(second)) {}
  const char* name() const override { return "concatenate"; }
  int64_t cardinality() const override {
    const int64_t a = input_->cardinality();
    const int64_t b = second_->cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) return kInfiniteCardinality;
    return a < 0 || b < 0 ? kUnknownCardinality : a + b;
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const ConcatenateNode& n) : node(n), input(n.input_->cursor()) {}
      bool next(Element* out) override {
        if (input->next(out)) return true;
        if (in_second) return false;
        in_second = true;
        input = node.second_->cursor();
        return input->next(out);
      }
      void save(PositionWriter& to) override {
        to.mark("concatenate");
        to.number(in_second);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("concatenate");
        in_second = from.number(0, 1) != 0;
        if (in_second) input = node.second_->cursor();
        input->load(from);
      }
      const ConcatenateNode& node;
      std::unique_ptr<Cursor> input;
      bool in_second = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    Specs a = input_->specs();
    const Specs& b = second_->specs();
    if (a.empty()) return b;
    if (b.empty()) return a;
    bool fits = a.size() == b.size();
    for (size_t i = 0; fits && i < a.size(); ++i) fits = a[i].dtype == b[i].dtype;
    if (!fits)
      fail_invalid("concatenate", "both datasets must have elements of the same structure and dtypes");
    for (size_t i = 0; i < a.size(); ++i) {
      a[i].shape = common_shape(a[i].shape, b[i].shape);
      a[i].exact = common_shape(a[i].exact, b[i].exact);
    }
    return a;
  }

 private:
  Ref<Node> second_;
};

class ZipNode final : public Node {
 public:
  explicit ZipNode(std::vector<Ref<Node>> inputs) : inputs_(std::move(inputs)) {}
  const char* name() const override { return "zip"; }
  int64_t cardinality() const override {
    int64_t n = kInfiniteCardinality;
    for (const Ref<Node>& in : inputs_) n = min_cardinality(n, in->cardinality());
    return n;
  }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      bool next(Element* out) override {
        Element all, part;
        for (auto& in : inputs) {
          if (ended || !in->next(&part)) {
            ended = true;
            return false;
          }
          for (Tensor& t : part) all.push_back(std::move(t));
        }
        *out = std::move(all);
        return true;
      }
      void save(PositionWriter& to) override {
        to.mark("zip");
        to.number(ended);
        for (auto& in : inputs) in->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("zip");
        ended = from.number(0, 1) != 0;
        for (auto& in : inputs) in->load(from);
      }
      std::vector<std::unique_ptr<Cursor>> inputs;
      bool ended = false;
    };
    auto pass = std::make_unique<Pass>();
    for (const Ref<Node>& in : inputs_) pass->inputs.push_back(in->cursor());
    return pass;
  }

 protected:
  Specs find_specs() const override {
    Specs all;
    for (const Ref<Node>& in : inputs_) {
      const Specs& specs = in->specs();
      all.insert(all.end(), specs.begin(), specs.end());
    }
    return all;
  }

 private:
  std::vector<Ref<Node>> inputs_;
};

}  // namespace

Ref<Node> make_take(Ref<Node> input, int64_t count) {
  return new_node<TakeNode>(std::move(input), std::max<int64_t>(count, -1));
}
Ref<Node> make_skip(Ref<Node> input, int64_t count) {
  return new_node<SkipNode>(std::move(input), std::max<int64_t>(count, -1));
}
Ref<Node> make_repeat(Ref<Node> input, int64_t count) {
  return new_node<RepeatNode>(std::move(input), std::max<int64_t>(count, -1));
}
Ref<Node> make_shard(Ref<Node> input, int64_t num_shards, int64_t index) {
  if (num_shards < 1)
    fail_invalid("shard", "num_shards must be at least 1: got " + std::to_string(num_shards));
  if (index < 0 || index >= num_shards)
    fail_invalid("shard",
                 "index must be in [0, " + std::to_string(num_shards) + "): got " + std::to_string(index));
  return new_node<ShardNode>(std::move(input), num_shards, index);
}
Ref<Node> make_concatenate(Ref<Node> first, Ref<Node> second) {
  return new_node<ConcatenateNode>(std::move(first), std::move(second));
}
Ref<Node> make_zip(std::vector<Ref<Node>> inputs) {
  if (inputs.empty()) fail_invalid("zip", "there must be at least one dataset");
  return new_node<ZipNode>(std::move(inputs));
}
Ref<Node> make_enumerate(Ref<Node> input, int64_t start) {
  return make_zip({make_range(start, INT64_MAX, 1, DType::kInt64), std::move(input)});
}

}  // namespace rw::data
