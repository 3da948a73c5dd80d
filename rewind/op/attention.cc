// The rows of fused attention. They come up in compiled graphs only, behind differentiation; a node carries
// its meaning as a function of TensorFlow's ops.
#include "rewind/op/attention.h"

#include "rewind/base/error.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

void shapes_of_meaning(ShapeContext& ctx) {
  const std::vector<Shape> shapes = ctx.attr<BodyRef>("f")->output_shapes();
  if (shapes.size() != size_t(ctx.num_outputs())) ctx.fail("f must give one result for each output");
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, shapes[size_t(i)]);
}

constexpr size_t kViewNumbers = 6;
constexpr size_t kStepNumbers = 6;

// The views in the order of the attribute.
template <class Spec>
auto views_of(Spec& s) {
  return std::array{&s.query, &s.key, &s.value, &s.output, &s.query_grad, &s.key_grad, &s.value_grad};
}

template <class T>
const T& list_attr(const Op& op, const Attrs& attrs, const char* name) {
  const T* list = attr_value(op, attrs, name).template get_if<T>();
  RW_CHECK(list);
  return *list;
}

}  // namespace

Attrs AttentionSpec::to_attrs(const BodyRef& meaning, const std::vector<DType>& results) const {
  std::vector<int64_t> views;
  for (const AttentionView* v : views_of(*this)) {
    views.insert(views.end(), {v->operand, v->offset});
    views.insert(views.end(), v->step, v->step + 4);
  }
  std::vector<int64_t> changes;
  std::vector<double> numbers;
  for (const AttentionStep& s : steps) {
    changes.insert(changes.end(), {int64_t(s.kind), s.operand});
    changes.insert(changes.end(), s.step, s.step + 4);
    numbers.push_back(s.number);
  }
  const std::vector<int64_t> sizes{batch, heads, queries, keys, depth, value_depth};
  return {{"sizes", sizes},     {"views", views}, {"steps", changes},
          {"numbers", numbers}, {"f", meaning},   {"Tout", results}};
}

AttentionSpec AttentionSpec::from_attrs(const Op& op, const Attrs& attrs) {
  using Ints = std::vector<int64_t>;
  AttentionSpec s;
  const Ints& sizes = list_attr<Ints>(op, attrs, "sizes");
  RW_CHECK(sizes.size() == 6);
  s.batch = sizes[0], s.heads = sizes[1], s.queries = sizes[2], s.keys = sizes[3];
  s.depth = sizes[4], s.value_depth = sizes[5];
  const Ints& views = list_attr<Ints>(op, attrs, "views");
  const auto all = views_of(s);
  RW_CHECK(views.size() == all.size() * kViewNumbers);
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t* from = views.data() + i * kViewNumbers;
    *all[i] = {from[0], from[1], {from[2], from[3], from[4], from[5]}};
  }
  const Ints& changes = list_attr<Ints>(op, attrs, "steps");
  const auto& numbers = list_attr<std::vector<double>>(op, attrs, "numbers");
  RW_CHECK(changes.size() == numbers.size() * kStepNumbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t* from = changes.data() + i * kStepNumbers;
    s.steps.push_back(
        {AttentionStep::Kind(from[0]), from[1], {from[2], from[3], from[4], from[5]}, numbers[i]});
  }
  return s;
}

void register_attention_ops(OpTable& t) {
  const std::string rest =
      "(args: Tin) -> (output: Tout); Tin: list(type) >= 3; Tout: list(type) >= 1; sizes: list(int); "
      "views: list(int); steps: list(int); numbers: list(float); f: func";
  // softmax(steps(query key^T)) value.
  t.add("_Attention" + rest).shape(shapes_of_meaning).tag("attention");
  // The gradients of query, key and value from that of the output; the softmax is made again.
  t.add("_AttentionGrad" + rest).shape(shapes_of_meaning).tag("attention_grad");
}

}  // namespace rw
