#include "rewind/data/position.h"

#include <cstring>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::data {

void PositionWriter::length(size_t value) {
  const auto wide = uint64_t(value);
  raw(&wide, sizeof(wide));
}
void PositionWriter::mark(std::string_view name) {
  bytes_ += 'm';
  length(name.size());
  bytes_ += name;
}
void PositionWriter::number(int64_t value) {
  bytes_ += 'n';
  raw(&value, sizeof(value));
}
void PositionWriter::text(std::string_view value) {
  bytes_ += 's';
  length(value.size());
  bytes_ += value;
}
void PositionWriter::tensor(const Tensor& value) {
  if (value.dtype() == DType::kVariant) {
    const Ref<Node> node = node_of(value);
    if (const auto* window = dynamic_cast<const ElementsNode*>(node.get())) {
      bytes_ += 'd';
      number(int64_t(window->elements().size()));
      for (const Element& e : window->elements()) element(e);
      return;
    }
  }
  if (value.dtype() == DType::kVariant || value.dtype() == DType::kResource)
    fail_unimplemented(
        "position",
        "a pass that holds datasets as elements (other than windows) has no position; flat_map before "
        "shuffle, prefetch and cache");
  bytes_ += 't';
  number(int64_t(value.dtype()));
  number(value.rank());
  for (const int64_t d : value.shape()) number(d);
  if (value.dtype() == DType::kString) {
    for (int64_t i = 0; i < value.size(); ++i) text(static_cast<const std::string*>(value.impl()->data)[i]);
  } else {
    raw(value.impl()->data, size_t(value.size()) * size_of(value.dtype()));
  }
}
void PositionWriter::element(const Element& value) {
  number(int64_t(value.size()));
  for (const Tensor& t : value) tensor(t);
}

void PositionReader::fail(const std::string& what) const {
  fail_invalid("position",
               source_ + " does not fit this dataset: " + what + " at byte " + std::to_string(at_));
}
const char* PositionReader::raw(size_t size) {
  if (size > bytes_.size() - at_) fail("it ends too early");
  const char* p = bytes_.data() + at_;
  at_ += size;
  return p;
}
size_t PositionReader::length() {
  uint64_t value;
  std::memcpy(&value, raw(sizeof(value)), sizeof(value));
  if (value > bytes_.size() - at_) fail("it ends too early");
  return size_t(value);
}
void PositionReader::kind(char wanted, const char* what) {
  if (*raw(1) == wanted) return;
  --at_;
  fail(std::string("expected ") + what);
}
void PositionReader::mark(std::string_view name) {
  kind('m', "a mark");
  const size_t n = length();
  const std::string_view found(raw(n), n);
  if (found != name)
    fail("it was taken from '" + std::string(found) + "' where '" + std::string(name) + "' stands now");
}
int64_t PositionReader::number() {
  kind('n', "a number");
  int64_t value;
  std::memcpy(&value, raw(sizeof(value)), sizeof(value));
  return value;
}
int64_t PositionReader::number(int64_t low, int64_t high) {
  const int64_t value = number();
  if (value < low || value > high) fail("the number " + std::to_string(value) + " is out of range");
  return value;
}
std::string PositionReader::text() {
  kind('s', "a text");
  const size_t n = length();
  return {raw(n), n};
}
Tensor PositionReader::window() {
  ++at_;
  std::vector<Element> elements;
  const int64_t n = number(0, INT64_MAX);
  for (int64_t i = 0; i < n; ++i) elements.push_back(element());
  Specs specs;
  if (n > 0)
    for (const Tensor& t : elements[0]) specs.push_back(LeafSpec{.dtype = t.dtype()});
  return handle_of(new_node<ElementsNode>(std::move(elements), std::move(specs)));
}
Tensor PositionReader::tensor() {
  if (at_ < bytes_.size() && bytes_[at_] == 'd') return window();
  kind('t', "a tensor");
  const int64_t type = number(1, 63);
  const auto dtype = DType(type);
  constexpr DTypeSet kSaved = kAllTypes & ~set_of(DType::kResource, DType::kVariant);
  if (!contains(kSaved, dtype)) fail("no such dtype");
  const int64_t rank = number(0, Shape::kMaxRank);
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(number(0, INT64_MAX));
  const Shape shape(dims);
  int64_t count = 0;
  if (!shape.checked_num_elements(&count)) fail("a tensor of impossible size");
  const size_t each = dtype == DType::kString ? 9 : size_of(dtype);
  if (count > 0 && size_t(count) > (bytes_.size() - at_) / each) fail("it ends too early");
  if (dtype == DType::kString) {
    std::vector<std::string> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(text());
    return tensor_from_strings(values, shape);
  }
  const char* data = raw(size_t(count) * each);
  Value value = Value::allocate(cpu_device(), dtype, shape);
  if (count > 0) std::memcpy(value.data, data, size_t(count) * each);
  return make_tensor(std::move(value));
}
Element PositionReader::element() {
  Element out;
  const int64_t n = number(0, 1 << 20);
  for (int64_t i = 0; i < n; ++i) out.push_back(tensor());
  return out;
}
void PositionReader::finish() const {
  if (at_ != bytes_.size()) fail("something stands behind its end");
}

}  // namespace rw::data
