#include <algorithm>
// Batched products that are one product: a batch times one matrix is a taller matrix times it, and a sum of
// products over the batch is a product over a longer inner axis. So is an Einsum that sums over neighbouring
// axes; one with a batch, as attention has it in files of Keras, is a batched product between transposes.
// Transposes of the last two axes become flags.
#include "rewind/compiler/passes/passes.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/op/einsum.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

ValueId transposed(Graph& g, ValueId x, const std::vector<int32_t>& order = {1, 0}) {
  static const Op& op = find_op("Transpose");
  const auto kept = std::make_shared<const std::vector<int32_t>>(order);
  const ValueId perm = g.add_constant(
      {DType::kInt32, Shape{int64_t(order.size())}, std::shared_ptr<const void>(kept, kept->data())});
  return g.node(g.add_node(op, {}, std::vector<ValueId>{x, perm})).outputs[0];
}

bool counts_up(const Graph& g, ValueId v, int64_t n) {
  const GraphValue& value = g.value(v);
  if (value.known->data) {
    if (value.known->shape.num_elements() != n) return false;
    for (int64_t i = 0; i < n; ++i)
      if (known_element(value.known, i) != double(i)) return false;
    return true;
  }
  const Node* p = g.producer(v);
  return p && p->op->name == "Range" && value.shape == Shape{n} && known_splat(g.value(p->inputs[0]), 0) &&
         known_splat(g.value(p->inputs[2]), 1);
}

// Rows of zeros with a one each, as jacobian seeds its backward pass.
bool is_identity(const Graph& g, ValueId v) {
  const Shape& shape = g.value(v).shape;
  if (shape.rank() != 2 || shape[0] != shape[1]) return false;
  const Node* p = g.producer(v);
  while (p && p->op->view) p = g.producer(p->inputs[0]);
  return p && p->op->name == "OneHot" && attr_as<int64_t>(*p->op, p->attrs, "axis") == -1 &&
         known_splat(g.value(p->inputs[1]), double(shape[0])) && known_splat(g.value(p->inputs[2]), 1) &&
         known_splat(g.value(p->inputs[3]), 0) && counts_up(g, p->inputs[0], shape[0]);
}

ValueId matmul(Graph& g, ValueId a, ValueId b, bool transpose_a, bool transpose_b) {
  if (is_identity(g, a)) return transpose_b ? transposed(g, b) : b;
  if (is_identity(g, b)) return transpose_a ? transposed(g, a) : a;
  static const Op& op = find_op("MatMul");
  const Attrs attrs{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
  return g.node(g.add_node(op, attrs, std::vector<ValueId>{a, b})).outputs[0];
}

// (rows of all batches, columns).
Shape flattened(const Shape& s) { return Shape{s.num_elements() / std::max<int64_t>(1, s.back()), s.back()}; }

// MatMul has fewer types than BatchMatMulV2.
bool has_matmul(DType dtype) {
  static const AttrDef& types = *find_op("MatMul").find_attr("T");
  return contains(types.allowed_types, dtype);
}

bool is_batch_matmul(const Node& n) { return n.op->name == "BatchMatMulV2" || n.op->name == "BatchMatMul"; }
bool same_batch(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int k = 0; k + 2 < a.rank(); ++k)
    if (a[k] != b[k]) return false;
  return true;
}

// An operand of an Einsum: a value whose axes have names, each once.
struct NamedAxes {
  ValueId value;
  std::string labels;
  Shape shape;

  bool has(char c) const { return labels.find(c) != std::string::npos; }
  int64_t size(char c) const { return shape[int(labels.find(c))]; }
  int64_t size(const std::string& of) const {
    int64_t n = 1;
    for (const char c : of) n *= size(c);
    return n;
  }
  // Whether its elements lie in the order of these axes: those of size 1 lie anywhere.
  bool lies(const std::string& order) const {
    const auto longer = [&](const std::string& all) {
      std::string some;
      for (const char c : all)
        if (size(c) != 1) some += c;
      return some;
    };
    return longer(labels) == longer(order);
  }
  std::vector<int32_t> places(const std::string& order) const {
    std::vector<int32_t> list;
    for (const char c : order) list.push_back(int32_t(labels.find(c)));
    return list;
  }
};

// As the kernel of Einsum takes it: (batch, rows, columns), or, where it lies so, (batch, columns, rows).
struct Matrices {
  ValueId value;
  bool turned;
};
Matrices matrices(Graph& g, const NamedAxes& x, const std::string& batch, const std::string& rows,
                  const std::string& columns) {
  const bool straight = x.lies(batch + rows + columns);
  const bool turned = !straight && x.lies(batch + columns + rows);
  ValueId v = x.value;
  if (!straight && !turned) v = transposed(g, v, x.places(batch + rows + columns));
  std::vector<int64_t> dims;
  for (const char c : batch) dims.push_back(x.size(c));
  dims.push_back(x.size(turned ? columns : rows));
  dims.push_back(x.size(turned ? rows : columns));
  return {reshape_to(g, v, Shape(dims)), turned};
}

class Shaping {
 public:
  explicit Shaping(const Graph& from) : from_(from), uses_(from) {}

  Graph run() {
    return rewrite(from_, [&](NodeId id, GraphCopy& copy, Graph& to) {
      const Node& n = from_.node(id);
      ValueId v = -1;
      if (is_batch_matmul(n)) v = by_one_matrix(n, copy, to);
      else if (n.op->name == "Einsum") v = einsum(n, copy, to);
      else if (n.op->name == "Sum") v = sum_of_products(n, copy, to);
      else if (n.op->name == "MatMul") v = take_transposes(n, copy, to, "transpose_a", "transpose_b");
      if (v < 0 && n.op->name == "Einsum") v = batched_einsum(n, copy, to);
      if (v < 0 && is_batch_matmul(n)) v = take_transposes(n, copy, to, "adj_x", "adj_y");
      if (v >= 0) copy.set(n.outputs[0], v);
      else copy.node(id);
    });
  }

 private:
  ValueId by_one_matrix(const Node& n, const GraphCopy& copy, Graph& to) {
    const ValueId a = copy[n.inputs[0]];
    const ValueId b = copy[n.inputs[1]];
    const Shape& out = from_.value(n.outputs[0]).shape;
    const Shape as = to.value(a).shape;
    if (!out.fully_known() || !as.fully_known() || to.value(b).shape.rank() != 2 || flag(n, "adj_x") ||
        as.rank() < 3)
      return -1;
    if (out.num_elements() == 0 || as.num_elements() == 0 || !has_matmul(to.value(a).dtype)) return -1;
    return reshape_to(to, matmul(to, reshape_to(to, a, flattened(as)), b, false, flag(n, "adj_y")), out);
  }

  // "abc,cd->abd", and its gradients "abd,cd->abc" and "abd,abc->cd": the left axes of the result come from
  // one input, the right ones from the other, the rest are summed over.
  ValueId einsum(const Node& n, const GraphCopy& copy, Graph& to) {
    const auto e = EinsumEquation::parse(attr_as<std::string>(*n.op, n.attrs, "equation"));
    const Shape& out = from_.value(n.outputs[0]).shape;
    if (e.inputs.size() != 2 || !out.fully_known() || out.num_elements() == 0) return -1;
    const bool swapped = !e.output.empty() && e.inputs[1].find(e.output[0]) != std::string::npos;
    const std::string &a = e.inputs[swapped], &b = e.inputs[!swapped];
    for (const std::string* part : {&a, &b, &e.output})
      for (size_t i = 0; i < part->size(); ++i)
        if ((*part)[i] == '.' || part->find((*part)[i], i + 1) != std::string::npos) return -1;
    const auto has = [](const std::string& part, char c) { return part.find(c) != std::string::npos; };
    std::string left, right, inner;
    for (const char c : e.output) {
      if (has(a, c) == has(b, c) || (has(a, c) && !right.empty())) return -1;
      (has(a, c) ? left : right) += c;
    }
    for (const char c : a)
      if (!has(left, c)) inner += c;
    if (left.empty() || right.empty() || inner.empty()) return -1;
    const bool turned_a = a == inner + left, turned_b = b == right + inner;
    if ((!turned_a && a != left + inner) || (!turned_b && b != inner + right)) return -1;
    const ValueId x = copy[n.inputs[swapped]], y = copy[n.inputs[!swapped]];
    const Shape xs = to.value(x).shape, ys = to.value(y).shape;
    if (!xs.fully_known() || !ys.fully_known() || xs.num_elements() == 0 || !has_matmul(to.value(x).dtype))
      return -1;
    int64_t rows = 1, columns = 1;
    for (size_t i = 0; i < left.size(); ++i) rows *= out[int(i)];
    for (size_t i = left.size(); i < e.output.size(); ++i) columns *= out[int(i)];
    const int64_t depth = xs.num_elements() / rows;
    const Shape as = turned_a ? Shape{depth, rows} : Shape{rows, depth};
    const Shape bs = turned_b ? Shape{columns, depth} : Shape{depth, columns};
    return reshape_to(to, matmul(to, reshape_to(to, x, as), reshape_to(to, y, bs), turned_a, turned_b), out);
  }

  // "BTNH,BSNH->BNTS" and the like, as the kernel does it: the same products of the same matrices.
  ValueId batched_einsum(const Node& n, const GraphCopy& copy, Graph& to) {
    const auto e = EinsumEquation::parse(attr_as<std::string>(*n.op, n.attrs, "equation"));
    const Shape& shape = from_.value(n.outputs[0]).shape;
    if (e.inputs.size() != 2 || !shape.fully_known() || shape.num_elements() == 0) return -1;
    for (const std::string* part : {&e.inputs[0], &e.inputs[1], &e.output})
      for (size_t i = 0; i < part->size(); ++i)
        if ((*part)[i] == '.' || part->find((*part)[i], i + 1) != std::string::npos) return -1;
    NamedAxes x{copy[n.inputs[0]], e.inputs[0], to.value(copy[n.inputs[0]]).shape};
    NamedAxes y{copy[n.inputs[1]], e.inputs[1], to.value(copy[n.inputs[1]]).shape};
    for (const NamedAxes* side : {&x, &y})
      if (!side->shape.fully_known() || side->shape.rank() != int(side->labels.size()) ||
          side->shape.num_elements() == 0)
        return -1;
    if (!has_matmul(to.value(x.value).dtype)) return -1;
    const auto is_output = [&](char c) { return e.output.find(c) != std::string::npos; };
    std::string batch, left, right, inner;
    for (const char c : e.output) {
      if (x.has(c) && y.has(c) && x.size(c) != y.size(c)) return -1;
      (x.has(c) && y.has(c) ? batch : x.has(c) ? left : right) += c;
    }
    for (const char c : x.labels)
      if (!is_output(c)) inner += c;
    for (const char c : inner)
      if (!y.has(c) || x.size(c) != y.size(c)) return -1;
    for (const char c : y.labels)
      if (!is_output(c) && !x.has(c)) return -1;
    if (batch.empty() || left.empty() || right.empty() || inner.empty()) return -1;
    if (e.output == batch + right + left) {
      std::swap(x, y);
      std::swap(left, right);
      inner.clear();  // as the operand in front now has it
      for (const char c : y.labels)
        if (!is_output(c)) inner += c;
    }
    if (!x.lies(batch + left + inner) && !x.lies(batch + inner + left)) {
      inner.clear();
      for (const char c : y.labels)
        if (!is_output(c)) inner += c;
    }
    const Matrices a = matrices(to, x, batch, left, inner), b = matrices(to, y, batch, inner, right);
    static const Op& op = find_op("BatchMatMulV2");
    const Attrs attrs{{"adj_x", a.turned}, {"adj_y", b.turned}};
    const ValueId product =
        to.node(to.add_node(op, attrs, std::vector<ValueId>{a.value, b.value})).outputs[0];
    NamedAxes result{product, batch + left + right, {}};
    std::vector<int64_t> dims;
    for (const char c : result.labels) dims.push_back(x.has(c) ? x.size(c) : y.size(c));
    result.shape = Shape(dims);
    result.value = reshape_to(to, product, result.shape);
    return result.lies(e.output) ? reshape_to(to, result.value, shape)
                                 : transposed(to, result.value, result.places(e.output));
  }

  // sum over the batch of a^T b.
  ValueId sum_of_products(const Node& n, const GraphCopy& copy, Graph& to) {
    const Node* product = from_.producer(n.inputs[0]);
    const GraphValue& axes = from_.value(n.inputs[1]);
    if (!product || !is_batch_matmul(*product) || uses_.count[size_t(n.inputs[0])] != 1 || !axes.known->data)
      return -1;
    const Shape& a = from_.value(product->inputs[0]).shape;
    const Shape& b = from_.value(product->inputs[1]).shape;
    if (!a.fully_known() || !b.fully_known() || !same_batch(a, b) || a.rank() < 3 || a.num_elements() == 0)
      return -1;
    if (b.num_elements() == 0 || !has_matmul(from_.value(product->inputs[0]).dtype)) return -1;
    if (!flag(*product, "adj_x") || flag(*product, "adj_y") || flag(n, "keep_dims")) return -1;
    std::vector<bool> summed(size_t(a.rank()), false);
    for (int64_t i = 0; i < axes.known->shape.num_elements(); ++i) {
      const int axis = int(known_element(axes.known, i));
      summed[size_t(axis < 0 ? axis + a.rank() : axis)] = true;
    }
    for (int k = 0; k < a.rank(); ++k)
      if (summed[size_t(k)] != (k + 2 < a.rank())) return -1;
    const ValueId x = reshape_to(to, copy[product->inputs[0]], flattened(a));
    const ValueId y = reshape_to(to, copy[product->inputs[1]], flattened(b));
    return matmul(to, x, y, true, false);
  }

  // What a swap of the last two axes was given, if v is one.
  static ValueId before_swap(const Graph& g, ValueId v) {
    const Node* t = g.producer(v);
    if (!t || t->op->name != "Transpose") return -1;
    const GraphValue& order = g.value(t->inputs[1]);
    if (!order.known->data) return -1;
    const int rank = int(order.known->shape.num_elements());
    for (int k = 0; k < rank; ++k) {
      const int swapped = k == rank - 1 ? rank - 2 : k == rank - 2 ? rank - 1 : k;
      if (int(known_element(order.known, k)) != swapped) return -1;
    }
    return t->inputs[0];
  }

  ValueId take_transposes(const Node& n, const GraphCopy& copy, Graph& to, const char* flag_a,
                          const char* flag_b) {
    if (is_identity(to, copy[n.inputs[0]]) || is_identity(to, copy[n.inputs[1]]))
      return n.op->name == "MatMul"
                 ? matmul(to, copy[n.inputs[0]], copy[n.inputs[1]], flag(n, flag_a), flag(n, flag_b))
                 : -1;
    const ValueId a = before_swap(to, copy[n.inputs[0]]);
    const ValueId b = before_swap(to, copy[n.inputs[1]]);
    if (a < 0 && b < 0) return -1;
    Attrs attrs = n.attrs;
    if (a >= 0) attrs = attrs.with(flag_a, !flag(n, flag_a));
    if (b >= 0) attrs = attrs.with(flag_b, !flag(n, flag_b));
    const std::vector<ValueId> inputs{a >= 0 ? a : copy[n.inputs[0]], b >= 0 ? b : copy[n.inputs[1]]};
    return to.node(to.add_node(*n.op, attrs, inputs)).outputs[0];
  }

  const Graph& from_;
  const Uses uses_;
};

}  // namespace

Graph shape_matmuls(Graph graph) {
  const bool products = std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& n) {
    return is_batch_matmul(n) || n.op->name == "MatMul" || n.op->name == "Einsum";
  });
  return products ? Shaping(graph).run() : std::move(graph);
}

}  // namespace rw
