#include "rewind/compiler/rewrite.h"

#include "rewind/base/dispatch.h"
#include "rewind/op/table.h"

namespace rw {

ValueId reshape_to(Graph& g, ValueId x, const Shape& shape) {
  if (g.value(x).shape == shape) return x;
  static const Op& op = find_op("Reshape");
  auto dims = std::make_shared<std::vector<int64_t>>(shape.begin(), shape.end());
  dims->reserve(1);  // a scalar's list of sizes has a place too
  const ValueId sizes =
      g.add_constant({DType::kInt64, Shape{shape.rank()}, std::shared_ptr<const void>(dims, dims->data())});
  return g.node(g.add_node(op, {}, std::vector<ValueId>{x, sizes})).outputs[0];
}

double known_element(const HostTensor& t, int64_t i) {
  double number = 0;
  dispatch<kRealTypes | set_of(DType::kBool)>(t.dtype, [&]<class T>() {
    number = double(static_cast<Compute<T>>(static_cast<const T*>(t.data.get())[i]));
  });
  return number;
}

bool known_splat(const GraphValue& v, double number) {
  constexpr int64_t kMostLooked = 4096;
  if (!v.known->data || is_host_only(v.dtype)) return false;
  const int64_t n = v.known->shape.num_elements();
  if (n > kMostLooked) return false;
  for (int64_t i = 0; i < n; ++i)
    if (known_element(v.known, i) != number) return false;
  return true;
}

std::optional<SplitPart> split_part(const Graph& g, ValueId v) {
  const Node* n = g.producer(v);
  const bool split = n && n->op->name == "Split";
  if (!split && !(n && n->op->name == "SplitV")) return std::nullopt;
  const ValueId whole = n->inputs[split ? 1 : 0];
  const HostTensor& along = g.value(n->inputs[split ? 0 : 2]).known;
  if (!along.data || !g.value(whole).shape.fully_known()) return std::nullopt;
  auto axis = int(known_element(along, 0));
  if (axis < 0) axis += g.value(whole).shape.rank();
  SplitPart part{whole, axis, 0};
  for (const ValueId other : n->outputs) {
    if (!g.value(other).shape.fully_known()) return std::nullopt;
    if (g.value(other).index < g.value(v).index) part.start += g.value(other).shape[axis];
  }
  return part;
}

}  // namespace rw
