#include "rewind/data/iterator_ops.h"

#include "rewind/autodiff/rule.h"
#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/base/float_mode.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/op/families.h"
#include "rewind/runtime/eager.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw::data {
namespace {

using Inputs = std::span<const Value* const>;

class RecipeObject final : public Object {
 public:
  RecipeObject(Recipe r, std::vector<bool> d) : recipe(std::move(r)), is_dataset(std::move(d)) {}
  std::string describe() const override { return "<recipe of a dataset>"; }
  const Recipe recipe;
  const std::vector<bool> is_dataset;  // by input
};

Tensor object_tensor(DType dtype, Ref<Object> object) {
  Value handle = Value::allocate(cpu_device(), dtype, {});
  *static_cast<Ref<Object>*>(handle.data) = std::move(object);
  return make_tensor(std::move(handle));
}

template <class T>
T& object_in(const Value& v, const Op& op, const char* what) {
  if ((v.dtype == DType::kVariant || v.dtype == DType::kResource) && v.size == 1)
    if (auto* object = dynamic_cast_to<T*>(static_cast<const Ref<Object>*>(v.data)->get())) return *object;
  fail_invalid(op.tag, std::string("the handle must be ") + what + ": got " + v.view().describe());
}

void give(ValueList& outputs, const Tensor& t) { outputs.push_back(*t.impl()); }

void run_dataset(const Op& op, const Attrs&, Inputs in, ValueList& outputs) {
  const auto& recipe = object_in<RecipeObject>(*in[0], op, "a recipe");
  std::vector<Ref<Node>> datasets;
  std::vector<Tensor> tensors;
  for (size_t i = 1; i < in.size(); ++i) {
    if (recipe.is_dataset[i - 1]) datasets.push_back(Ref<Node>(&object_in<Node>(*in[i], op, "a dataset")));
    else tensors.push_back(make_tensor(Value(*in[i])));
  }
  const OutsideTraces outside;
  const CallersFloatMode callers;
  give(outputs, handle_of(recipe.recipe(datasets, tensors)));
}

void run_make_iterator(const Op& op, const Attrs&, Inputs in, ValueList& outputs) {
  Node& node = object_in<Node>(*in[0], op, "a dataset");
  give(outputs, handle_of(Ref<Pass>::adopt(new Pass(Ref<Node>(&node)))));
}

void run_has_next(const Op& op, const Attrs&, Inputs in, ValueList& outputs) {
  Pass& pass = object_in<Pass>(*in[0], op, "an iterator");
  const bool more = [&] {
    const CallersFloatMode callers;
    return pass.has_next();
  }();
  Value flag = Value::allocate(cpu_device(), DType::kBool, {});
  *static_cast<bool*>(flag.data) = more;
  outputs.push_back(std::move(flag));
}

void run_next(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  Pass& pass = object_in<Pass>(*in[0], op, "an iterator");
  Element element;
  const bool more = [&] {
    const CallersFloatMode callers;
    return pass.next(&element);
  }();
  if (!more) fail_out_of_range(op.tag, "the dataset has no further element");
  const auto types = attr_as<std::vector<DType>>(op, attrs, "output_types");
  const auto shapes = attr_as<std::vector<Shape>>(op, attrs, "output_shapes");
  if (element.size() != types.size())
    fail_invalid(op.tag, "an element has " + std::to_string(element.size()) +
                             " tensors where the graph was "
                             "traced for " +
                             std::to_string(types.size()));
  if (op.outputs.size() == 2) give(outputs, constant(true));
  for (size_t i = 0; i < types.size(); ++i) {
    if (element[i].dtype() != types[i] || !shapes[i].compatible_with(element[i].shape()))
      fail_invalid(op.tag, "tensor " + std::to_string(i) + " of an element is " +
                               element[i].shape().to_string() + " " +
                               std::string(name_of(element[i].dtype())) + " where the graph was traced for " +
                               shapes[i].to_string() + " " + std::string(name_of(types[i])));
    give(outputs, element[i]);
  }
}

void element_shapes(ShapeContext& ctx) {
  const auto shapes = ctx.attr<std::vector<Shape>>("output_shapes");
  const auto types = ctx.attr<std::vector<DType>>("output_types");
  if (shapes.size() != types.size())
    fail_invalid(ctx.op().tag, "output_shapes must hold a shape for each of output_types: expected " +
                                   std::to_string(types.size()) + ", got " + std::to_string(shapes.size()));
  int at = 0;
  if (ctx.op().outputs.size() == 2) ctx.output(at++, {});
  for (const Shape& s : shapes) ctx.output(at++, s);
}

Attrs element_attrs(const Specs& specs) {
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (const LeafSpec& s : specs) {
    types.push_back(s.dtype);
    shapes.push_back(s.exact);
  }
  return {{"output_types", types}, {"output_shapes", shapes}};
}

}  // namespace

Pass::Pass(Ref<Node> node) : node_(std::move(node)) {
  const OutsideTraces outside;
  cursor_ = node_->cursor();
}
Pass::~Pass() = default;

bool Pass::take(Element* out) {
  const OutsideTraces outside;
  return cursor_->next(out);
}
bool Pass::has_next() {
  const std::lock_guard lock(mutex_);
  if (seen_) return true;
  Element element;
  if (!take(&element)) return false;
  seen_.emplace(std::move(element));
  return true;
}
bool Pass::next(Element* out) {
  const std::lock_guard lock(mutex_);
  if (!seen_) return take(out);
  *out = std::move(*seen_);
  seen_.reset();
  return true;
}
std::string Pass::position() {
  const std::lock_guard lock(mutex_);
  const OutsideTraces outside;
  PositionWriter to;
  to.mark("iterator");
  to.number(seen_.has_value());
  if (seen_) to.element(*seen_);
  cursor_->save(to);
  return to.take();
}
void Pass::set_position(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  const OutsideTraces outside;
  PositionReader from(bytes);
  from.mark("iterator");
  seen_.reset();
  if (from.number(0, 1) != 0) seen_.emplace(from.element());
  cursor_ = node_->cursor();
  cursor_->load(from);
  from.finish();
}

Tensor handle_of(const Ref<Pass>& pass) { return object_tensor(DType::kResource, Ref<Object>(pass.get())); }

Ref<Pass> pass_of(const Tensor& handle) {
  if (handle.defined() && !is_symbol(handle))
    if (auto* pass = dynamic_cast_to<Pass*>(static_cast<const Ref<Object>*>(handle.impl()->data)->get()))
      return Ref<Pass>(pass);
  fail_invalid("iterator", "the resource must be an iterator's handle");
}

bool in_trace() { return current_trace() != nullptr; }

void require_eager(const char* what) {
  if (in_trace())
    fail_staged(what,
                "a C++ loop over a dataset inside a function would be unrolled; rw::for_each and "
                "reduce become one loop of the graph");
}

Made make_dataset(const std::vector<Made>& datasets, std::vector<Tensor> tensors, Recipe recipe) {
  std::vector<Ref<Node>> nodes;
  for (const Made& d : datasets) nodes.push_back(d.node);
  Made made;
  if (!in_trace()) {
    made.node = recipe(nodes, tensors);
    made.handle = handle_of(made.node);
    return made;
  }
  std::vector<bool> is_dataset(datasets.size(), true);
  is_dataset.resize(datasets.size() + tensors.size(), false);
  made.node = recipe(nodes, tensors);  // for its specs: it is never iterated
  std::vector<Tensor> inputs{
      object_tensor(DType::kVariant, Ref<Object>::adopt(new RecipeObject(std::move(recipe), is_dataset)))};
  for (const Made& d : datasets) inputs.push_back(d.handle);
  inputs.insert(inputs.end(), tensors.begin(), tensors.end());
  made.handle = rw::apply(RW_OP("_Dataset"), inputs)[0];
  ShadowScope::note(made.handle, made.node);
  return made;
}

Made made_from(Tensor handle, const Ref<Node>& like) {
  if (!is_symbol(handle)) return {handle, node_of(handle)};
  // An argument of a function: other calls bring other datasets, with other numbers of elements.
  Ref<Node> node = ShadowScope::find(handle);
  if (!node && like) node = make_unknown(like->specs());
  return {std::move(handle), std::move(node)};
}

Tensor make_iterator(const Made& dataset) { return apply_one(RW_OP("_MakeIterator"), {&dataset.handle}); }
Tensor iterator_has_next(const Tensor& iterator) { return apply_one(RW_OP("_IteratorHasNext"), {&iterator}); }

Element iterator_get_next(const Tensor& iterator, const Specs& specs) {
  Element out;
  if (!in_trace()) {
    if (!pass_of(iterator)->next(&out)) fail_out_of_range("get_next", "the dataset has no further element");
    return out;
  }
  for (Tensor& t : rw::apply(RW_OP("IteratorGetNext"), {&iterator}, element_attrs(specs)))
    out.push_back(std::move(t));
  return out;
}

Element iterator_next(const Tensor& iterator, const Specs& specs) {
  Element out;
  for (Tensor& t : rw::apply(RW_OP("_IteratorNext"), {&iterator}, element_attrs(specs)))
    out.push_back(std::move(t));
  return out;
}

Tensor wanted_and_there(const Tensor& wanted, const Tensor& iterator) {
  const Tensor there = iterator_has_next(iterator);
  const bool always =
      !is_symbol(wanted) && wanted.dtype() == DType::kBool && wanted.size() == 1 && wanted.item<bool>();
  return always ? there : logical_and(reshape(cast(wanted, DType::kBool), Shape{}), there);
}

bool fully_known(const Specs& specs) {
  for (const LeafSpec& s : specs)
    if (!s.exact.fully_known()) return false;
  return true;
}

}  // namespace rw::data

namespace rw {

void register_data_rules() {
  using namespace data;
  OpTable& t = op_table();
  const std::string element = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; stateful";
  t.add("_Dataset(recipe: variant, inputs: Tin) -> (handle: variant); Tin: list(type) >= 0; stateful")
      .shape(scalar_output)
      .tag("Dataset");
  t.add("_MakeIterator(dataset: variant) -> (iterator: resource); stateful")
      .shape(scalar_output)
      .tag("iterator");
  t.add("_IteratorHasNext(iterator: resource) -> (has_next: bool); stateful")
      .shape(scalar_output)
      .tag("iterator");
  t.add("IteratorGetNext(iterator: resource) -> (components: output_types); " + element)
      .shape(element_shapes)
      .tag("get_next");
  t.add("_IteratorNext(iterator: resource) -> (has_value: bool, components: output_types); " + element)
      .shape(element_shapes)
      .tag("get_next");
  for (const char* op : {"_Dataset", "_MakeIterator", "IteratorGetNext", "_IteratorNext"})
    register_not_differentiable(op);
  register_runtime_kernel("_Dataset", run_dataset);
  register_runtime_kernel("_MakeIterator", run_make_iterator);
  register_runtime_kernel("_IteratorHasNext", run_has_next);
  register_runtime_kernel("IteratorGetNext", run_next);
  register_runtime_kernel("_IteratorNext", run_next);
}

}  // namespace rw
