// window: each element a dataset (one per component, or one of whole elements) of elements that follow each
// other.
#include <deque>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"

namespace rw::data {
namespace {

class WindowNode final : public PassNode {
 public:
  WindowNode(Ref<Node> input, int64_t size, int64_t shift, int64_t stride, bool drop_remainder, bool whole)
      : PassNode(std::move(input)),
        size_(size),
        shift_(shift),
        stride_(stride),
        drop_remainder_(drop_remainder),
        whole_(whole) {}
  const char* name() const override { return "window"; }
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n;
    const int64_t needed = (size_ - 1) * stride_ + 1;
    if (drop_remainder_) return n < needed ? 0 : (n - needed) / shift_ + 1;
    return (n + shift_ - 1) / shift_;
  }

  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      explicit Pass(const WindowNode& n) : node(n), input(n.input_->cursor()) {}
      bool next(Element* out) override {
        const auto needed = size_t((node.size_ - 1) * node.stride_ + 1);
        Element element;
        while (!ended && skip > 0) advance_one();
        while (!ended && buffer.size() < needed) {
          if (input->next(&element)) buffer.push_back(std::move(element));
          else ended = true;
        }
        if (buffer.empty() || (node.drop_remainder_ && buffer.size() < needed)) {
          buffer.clear();
          return false;
        }
        std::vector<Element> taken;
        for (size_t i = 0; i < buffer.size() && i < needed; i += size_t(node.stride_))
          taken.push_back(buffer[i]);
        for (int64_t i = 0; i < node.shift_; ++i) {
          if (!buffer.empty()) buffer.pop_front();
          else ++skip;
        }
        *out = node.datasets(taken);
        return true;
      }
      void advance_one() {
        Element unused;
        if (input->next(&unused)) --skip;
        else ended = true;
      }
      void save(PositionWriter& to) override {
        to.mark("window");
        to.number(ended);
        to.number(skip);
        to.number(int64_t(buffer.size()));
        for (const Element& e : buffer) to.element(e);
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("window");
        ended = from.number(0, 1) != 0;
        skip = from.number(0, INT64_MAX);
        const int64_t n = from.number(0, INT64_MAX);
        for (int64_t i = 0; i < n; ++i) buffer.push_back(from.element());
        input->load(from);
      }
      const WindowNode& node;
      std::unique_ptr<Cursor> input;
      std::deque<Element> buffer;
      int64_t skip = 0;  // elements that no window wants
      bool ended = false;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    Specs out;
    auto add = [&](Specs inner) {
      const Ref<Node> node = make_unknown(std::move(inner));
      out.push_back({DType::kVariant, {}, {}, Ref<Object>(node.get())});
    };
    if (whole_) add(input_->specs());
    else
      for (const LeafSpec& s : input_->specs()) add({s});
    return out;
  }

 private:
  Element datasets(const std::vector<Element>& elements) const {
    const Specs& specs = input_->specs();
    Element out;
    if (whole_) {
      out.push_back(handle_of(new_node<ElementsNode>(elements, specs)));
      return out;
    }
    for (size_t c = 0; c < elements[0].size(); ++c) {
      std::vector<Element> column;
      for (const Element& e : elements) column.emplace_back().push_back(e[c]);
      out.push_back(handle_of(new_node<ElementsNode>(std::move(column), Specs{specs[c]})));
    }
    return out;
  }

  const int64_t size_, shift_, stride_;
  const bool drop_remainder_, whole_;
};

}  // namespace

Ref<Node> make_window(Ref<Node> input, int64_t size, int64_t shift, int64_t stride, bool drop_remainder,
                      bool whole_elements) {
  for (const auto& [name, n] : {std::pair{"size", size}, {"shift", shift}, {"stride", stride}})
    if (n < 1) fail_invalid("window", std::string(name) + " must be at least 1: got " + std::to_string(n));
  return new_node<WindowNode>(std::move(input), size, shift, stride, drop_remainder, whole_elements);
}

}  // namespace rw::data
