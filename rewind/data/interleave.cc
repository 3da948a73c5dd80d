// flat_map and interleave: a function gives a dataset for every element, and theirs are joined.
#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"

namespace rw::data {
namespace {

class InterleaveNode final : public PassNode {
 public:
  InterleaveNode(Ref<Node> input, ElementFn f, int64_t cycle, int64_t block, bool parallel, const char* name)
      : PassNode(std::move(input)),
        f_(std::move(f)),
        cycle_(size_t(cycle)),
        block_(block),
        parallel_(parallel),
        name_(name) {}
  const char* name() const override { return name_; }
  int64_t cardinality() const override { return kUnknownCardinality; }

  std::unique_ptr<Cursor> cursor() const override {
    struct Open {
      Element from;
      Ref<Node> node;
      std::unique_ptr<Cursor> cursor;
    };
    struct Pass final : Cursor {
      explicit Pass(const InterleaveNode& n) : node(n), input(n.input_->cursor()), open(n.cycle_) {}
      bool next(Element* out) override {
        while (!ended || num_open > 0) {
          Open& here = open[at];
          if (here.cursor) {
            if (here.cursor->next(out)) {
              if (++taken == node.block_) turn();
              return true;
            }
            here = {};
            --num_open;
            turn();
          } else if (!ended) {
            Element element;
            if (input->next(&element)) start(here, std::move(element));
            else ended = true;
          } else {
            turn();
          }
        }
        return false;
      }
      void turn() {
        taken = 0;
        at = (at + 1) % open.size();
      }
      void start(Open& place, Element element) {
        Element made;
        node.f_(element, &made);
        place.node = node_of(made[0]);
        if (node.parallel_) place.node = make_prefetch(place.node, std::max<int64_t>(2, node.block_));
        place.cursor = place.node->cursor();
        place.from = std::move(element);
        ++num_open;
      }
      void save(PositionWriter& to) override {
        to.mark(node.name_);
        to.number(ended);
        to.number(int64_t(at));
        to.number(taken);
        for (Open& o : open) {
          to.number(o.cursor != nullptr);
          if (!o.cursor) continue;
          to.element(o.from);
          o.cursor->save(to);
        }
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark(node.name_);
        ended = from.number(0, 1) != 0;
        at = size_t(from.number(0, int64_t(open.size()) - 1));
        taken = from.number(0, node.block_);
        for (Open& o : open) {
          if (from.number(0, 1) == 0) continue;
          start(o, from.element());
          o.cursor->load(from);
        }
        input->load(from);
      }
      const InterleaveNode& node;
      std::unique_ptr<Cursor> input;
      std::vector<Open> open;
      size_t at = 0;
      int64_t taken = 0;  // of the current block
      int64_t num_open = 0;
      bool ended = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    const Specs made = specs_through(f_, input_->specs(), [&](Element* out) {
      Element in;
      if (!input_->cursor()->next(&in)) return false;
      f_(in, out);
      return true;
    });
    if (made.empty() || !made[0].inner) return {};
    return static_cast<const Node*>(made[0].inner.get())->specs();
  }

 private:
  const ElementFn f_;
  const size_t cycle_;
  const int64_t block_;
  const bool parallel_;
  const char* name_;
};

}  // namespace

Ref<Node> make_interleave(Ref<Node> input, ElementFn f, int64_t cycle_length, int64_t block_length,
                          bool parallel, const char* name) {
  if (cycle_length < 1 || cycle_length > (1 << 20))
    fail_invalid(name, "cycle_length must be at least 1: got " + std::to_string(cycle_length));
  if (block_length < 1)
    fail_invalid(name, "block_length must be at least 1: got " + std::to_string(block_length));
  return new_node<InterleaveNode>(std::move(input), std::move(f), cycle_length, block_length, parallel, name);
}

}  // namespace rw::data
