#include "rewind/data/node.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/device/parallel.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::data {
namespace {

constexpr int64_t kGrainBytes = 64 << 10;  // of a copy, for one thread

// Copies `count` elements of the tensor's type.
void copy_elements(DType dtype, void* to, const void* from, int64_t count) {
  if (count == 0) return;
  if (dtype == DType::kString)
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  else std::memcpy(to, from, size_t(count) * size_of(dtype));
}

const Value& value_of(const Tensor& t) { return *t.impl(); }

Tensor part_of(const Tensor& column, int64_t first_row, Shape shape) {
  const Value& whole = value_of(column);
  const int64_t row_size = whole.shape[0] == 0 ? 0 : whole.size / whole.shape[0];
  Value part;
  part.dtype = whole.dtype;
  part.size = shape.num_elements();
  part.shape = std::move(shape);
  part.storage = whole.storage;
  part.data = static_cast<char*>(whole.data) + first_row * row_size * int64_t(size_of(whole.dtype));
  return make_tensor(std::move(part));
}

Shape row_shape(const Tensor& column) {
  Shape shape = column.shape();
  shape.erase(0);
  return shape;
}

void require_plain(const Tensor& t, const char* tag) {
  if (t.dtype() == DType::kVariant || t.dtype() == DType::kResource)
    fail_invalid(tag, "datasets inside elements cannot be joined; flat_map first");
}

}  // namespace

int64_t Cursor::next_rows(int64_t*, int64_t) {
  fail_internal(__FILE__, __LINE__, "a cursor without a table");
}

const Specs& Node::specs() const {
  std::call_once(once_, [&] { specs_ = find_specs(); });
  return specs_;
}

Tensor row_of(const Tensor& column, int64_t row) { return part_of(column, row, row_shape(column)); }

void rows_of(const Table& table, int64_t row, Element* out) {
  out->clear();
  for (const Tensor& column : table.columns) out->push_back(row_of(column, row));
}

Tensor gather_rows(const Tensor& column, std::span<const int64_t> rows) {
  const int64_t n = int64_t(rows.size());
  Shape shape = row_shape(column);
  const int64_t row_size = shape.num_elements();
  shape.insert(0, n);
  bool together = true;
  for (int64_t i = 1; i < n && together; ++i) together = rows[size_t(i)] == rows[0] + i;
  if (together && n > 0) return part_of(column, rows[0], std::move(shape));
  const Value& from = value_of(column);
  Value to = Value::allocate(cpu_device(), from.dtype, std::move(shape));
  const size_t stride = size_of(from.dtype) * size_t(row_size);
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / int64_t(stride + 1));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      copy_elements(from.dtype, static_cast<char*>(to.data) + size_t(i) * stride,
                    static_cast<const char*>(from.data) + size_t(rows[size_t(i)]) * stride, row_size);
  });
  return make_tensor(std::move(to));
}

Element stack(std::span<const Element> elements, const char* tag) {
  const Element& first = elements[0];
  Element out;
  for (size_t c = 0; c < first.size(); ++c) {
    require_plain(first[c], tag);
    Shape shape = first[c].shape();
    const int64_t row_size = shape.num_elements();
    for (size_t i = 1; i < elements.size(); ++i) {
      const Tensor& t = elements[i][c];
      if (t.dtype() == first[c].dtype() && t.shape() == first[c].shape()) continue;
      fail_invalid(tag, "elements of a batch must have one shape and dtype: component " + std::to_string(c) +
                            " of element " + std::to_string(i) + " is " + t.shape().to_string() + " " +
                            std::string(name_of(t.dtype())) + ", of element 0 " +
                            first[c].shape().to_string() + " " + std::string(name_of(first[c].dtype())) +
                            "; padded_batch takes elements of different sizes");
    }
    shape.insert(0, int64_t(elements.size()));
    Value to = Value::allocate(cpu_device(), first[c].dtype(), std::move(shape));
    const size_t stride = size_of(to.dtype) * size_t(row_size);
    for (size_t i = 0; i < elements.size(); ++i)
      copy_elements(to.dtype, static_cast<char*>(to.data) + i * stride, value_of(elements[i][c]).data,
                    row_size);
    out.push_back(make_tensor(std::move(to)));
  }
  return out;
}

Tensor handle_of(const Ref<Node>& node) {
  Value handle = Value::allocate(cpu_device(), DType::kVariant, {});
  *static_cast<Ref<Object>*>(handle.data) = Ref<Object>(node.get());
  return make_tensor(std::move(handle));
}

Ref<Node> node_of(const Tensor& handle) {
  if (handle.defined() && handle.dtype() == DType::kVariant && !is_symbol(handle) && handle.size() == 1)
    if (auto* node = dynamic_cast_to<Node*>(static_cast<const Ref<Object>*>(value_of(handle).data)->get()))
      return Ref<Node>(node);
  fail_invalid("Dataset", "the variant must be a dataset");
}

static thread_local ShadowScope* t_shadows = nullptr;

ShadowScope::ShadowScope() : outer_(t_shadows) { t_shadows = this; }
ShadowScope::~ShadowScope() { t_shadows = outer_; }
void ShadowScope::note(const Tensor& handle, Ref<Node> node) {
  if (t_shadows && is_symbol(handle)) t_shadows->nodes_.emplace_back(handle, std::move(node));
}
Ref<Node> ShadowScope::find(const Tensor& handle) {
  for (const ShadowScope* s = t_shadows; s; s = s->outer_)
    for (const auto& [tensor, node] : s->nodes_)
      if (tensor.impl() == handle.impl()) return node;
  return {};
}

Specs specs_through(const ElementFn& f, const Specs& in, const std::function<bool(Element*)>& first) {
  Specs out;
  try {
    const auto trace = Ref<Trace>::adopt(new Trace("dataset_fn"));
    trace->is_trial = true;
    const TraceScope scope(*trace);
    const ShadowScope shadows;
    Element symbols, results;
    for (const LeafSpec& s : in) {
      symbols.push_back(trace->add_argument(s.dtype, s.shape));
      if (s.inner) ShadowScope::note(symbols.back(), Ref<Node>(static_cast<Node*>(s.inner.get())));
    }
    f(symbols, &results);
    trace->throw_failure();
    for (const Tensor& t : results) {
      Ref<Node> inner = ShadowScope::find(t);
      if (inner) inner->specs();  // now: its functions may use tensors of this trace
      out.push_back({t.dtype(), t.shape(), t.shape(), Ref<Object>(inner.get())});
    }
    return out;
  } catch (const Error&) { out.clear(); }
  // Errors of f itself come again here, or with the first element that is asked for.
  Element element;
  if (!first(&element)) return out;
  for (const Tensor& t : element) {
    LeafSpec& s = out.emplace_back(LeafSpec{.dtype = t.dtype()});
    if (t.dtype() == DType::kVariant) s.inner = Ref<Object>(node_of(t).get());
  }
  return out;
}

int64_t min_cardinality(int64_t a, int64_t b) {
  if (a == kInfiniteCardinality) return b;
  if (b == kInfiniteCardinality) return a;
  if (a == kUnknownCardinality || b == kUnknownCardinality) return kUnknownCardinality;
  return std::min(a, b);
}

}  // namespace rw::data
