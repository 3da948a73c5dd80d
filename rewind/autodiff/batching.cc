#include "rewind/autodiff/batching.h"

#include <algorithm>
#include <utility>

#include "rewind/autodiff/batching_scope.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/base/error.h"
#include "rewind/base/thread_own.h"
#include "rewind/device/device.h"
#include "rewind/graph/bodies.h"
#include "rewind/op/rule_list.h"
#include "rewind/op/table.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"

namespace rw {

namespace {

struct Rule {
  BatchRule run;
  bool draws = false;
};

// Of the batches around this point, by level; those below the thread's depth are known.
struct Batches {
  std::vector<const Size*> by_level;
};
std::vector<const Size*>& batches() { return ThreadOwn<Batches>::get().by_level; }

const Rule* find_rule(const Op& op) { return static_cast<const Rule*>(op.rule(RuleSlot::kBatching)); }

// In a trace, calls for so many elements stand one after the other; more become a loop.
constexpr int64_t kUnrolled = 16;

// A loop of the graph takes rows of numbers, not of handles.
bool loops_over(const BatchContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i)
    if (ctx.batched(i) &&
        (ctx.input(i).dtype() == DType::kVariant || ctx.input(i).dtype() == DType::kResource))
      return false;
  return true;
}

Tensor row_of(const Tensor& t, int64_t i) {
  const Tensor begin = constant(std::vector<int64_t>{i});
  const Tensor end = constant(std::vector<int64_t>{i + 1});
  const Tensor step = constant(std::vector<int64_t>{1});
  return apply_one(RW_OP("StridedSlice"), {&t, &begin, &end, &step}, {{"shrink_axis_mask", 1}});
}

void run_elementwise(BatchContext& ctx) {
  int rank = 0;
  for (int i = 0; i < ctx.num_inputs(); ++i) rank = std::max(rank, ctx.rank(i));
  std::vector<Tensor> inputs;
  for (int i = 0; i < ctx.num_inputs(); ++i) inputs.push_back(ctx.aligned(i, rank));
  const Tensors results = rw::apply(ctx.op(), inputs, ctx.attrs());
  // Equal of shapes that do not fit gives one false, if it is told to.
  if (results[0].rank() == 0) return batch_by_loop(ctx);
  ctx.set_all(results);
}

// Whether random numbers are drawn, by the op or in its bodies.
bool draws(const Op& op, const Attrs& attrs) {
  const Rule* rule = find_rule(op);
  bool any = rule && rule->draws;
  for_each_body(attrs, [&](const BodyRef& body) {
    any = any || any_node(graph_of(*body), [](const Node& n) {
            const Rule* r = n.op->stateful ? find_rule(*n.op) : nullptr;
            return r && r->draws;
          });
  });
  return any;
}

// The elements of an input where they are known and the same for the whole batch.
void* shared_data(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  if (impl.kind == TensorKind::kSymbol) return const_cast<void*>(known_data(impl));
  return impl.kind == TensorKind::kEager && !impl.movable() ? impl.data : nullptr;
}

// What one element of the batch gives.
struct ElementResults {
  DTypeVector types;
  SmallVector<Shape, 2> shapes;
};

// The checks that the call of one element would pass outside of a batch, so that a rule sees legal calls
// only. The values of batched inputs are not looked at: rules leave to other ops, or to batch_by_loop, what
// depends on them.
ElementResults check_element(const Op& op, TensorPointers pointers, const Attrs& attrs, int level) {
  const size_t n = pointers.size();
  DTypeVector types(n);
  SmallVector<View, 4> views(n);
  for (size_t i = 0; i < n; ++i) {
    const TensorImpl& impl = *pointers[i]->impl();
    types[i] = impl.dtype;
    void* data = is_batched_at(*pointers[i], level) ? nullptr : shared_data(*pointers[i]);
    views[i] = {data, &impl.shape, impl.dtype, impl.shape.num_elements()};
  }
  ElementResults results;
  check_call(op, types.data(), n, attrs, &results.types);
  results.shapes.resize(results.types.size());
  ShapeContext ctx(op, attrs, views.data(), n, results.shapes.data(), results.shapes.size());
  op.shape_rule(ctx);
  return results;
}

// A rule knows the rank of each input; bodies of control flow are traced with what is known.
bool ranks_known(const BatchContext& ctx) {
  if (ctx.op().runtime) return true;
  for (int i = 0; i < ctx.num_inputs(); ++i)
    if (!ctx.input(i).shape().has_rank()) return false;
  return true;
}

void run_rule(BatchContext& ctx) {
  if (!ranks_known(ctx)) return batch_by_loop(ctx);
  if (const Rule* rule = find_rule(ctx.op())) rule->run(ctx);
  else if (ctx.op().elementwise) run_elementwise(ctx);
  else batch_by_loop(ctx);
}

// An output of no elements, of the shape that one would have.
Tensor no_elements(const ElementResults& element, size_t i) {
  Shape shape = element.shapes[i];
  shape.insert(0, 0);
  return make_tensor(Value::allocate(cpu_device(), element.types[i], shape));
}

// Values that an element may not have are refused by some op that the rule calls, in that op's words and
// numbers. Run element by element, the op refuses them in its own; and what only the rule cannot do, works.
void run_rule_or_loop(BatchContext& ctx, const ElementResults& element) {
  try {
    return run_rule(ctx);
  } catch (const Error& e) {
    const bool of_call = e.code() == ErrorCode::kInvalidArgument || e.code() == ErrorCode::kOutOfRange ||
                         e.code() == ErrorCode::kUnimplemented;
    if (!of_call || ctx.op().stateful || ctx.batch_size() < 0) throw;
    for (const Shape& shape : element.shapes)
      if (ctx.batch_size() == 0 && !shape.fully_known()) throw;
  }
  if (ctx.batch_size() > 0) return batch_by_loop(ctx);
  for (size_t i = 0; i < element.shapes.size(); ++i) ctx.set(int(i), no_elements(element, i));
}
}  // namespace

Tensors run_batched(const Op& op, TensorPointers pointers, const Attrs& attrs, int level) {
  std::vector<Tensor> inputs;
  std::vector<bool> batched;
  bool any = false;
  for (const Tensor* t : pointers) {
    const bool is = is_batched_at(*t, level);
    inputs.push_back(is ? t->impl()->inner : *t);
    batched.push_back(is);
    any |= is;
  }
  const DepthScope below(level - 1);
  // What will be repeated draws once, whatever depth it is repeated at.
  if (!any && (thread_state().effects || !draws(op, attrs))) return apply(op, inputs, attrs);
  const ElementResults element = check_element(op, pointers, attrs, level);
  const Size& batch = *batches()[size_t(level) - 1];
  BatchContext ctx(op, attrs, std::move(inputs), std::move(batched), batch, element.types.size());
  run_rule_or_loop(ctx, element);
  Tensors outputs;
  for (size_t i = 0; i < ctx.outputs().size(); ++i) {
    Tensor t = ctx.outputs()[i];
    RW_CHECK(t.defined());
    RW_CHECK(t.dtype() == element.types[i]);
    if (ctx.same(i)) {
      outputs.push_back(t);
      continue;
    }
    // Rules that join the batch with an axis of the element cannot tell that axis from 0 elements.
    if (batch.is(0) && element.shapes[i].fully_known()) t = no_elements(element, i);
    if (!t.shape().has_rank())
      fail_unimplemented(op.tag,
                         "arguments that differ within a vectorized_map leave the rank of the result open; "
                         "outside of a function it is known");
    RW_CHECK(t.rank() >= 1 && (t.dim(0) == batch.number() || t.dim(0) < 0 || !batch.known()));
    outputs.push_back(make_batched(t, level));
    RW_CHECK(outputs.back().shape().compatible_with(element.shapes[i]));
  }
  return outputs;
}

DepthScope::DepthScope(int depth) : outer_(thread_state().depth) { thread_state().depth = depth; }
DepthScope::DepthScope(int depth, const Size& batch) : DepthScope(depth) {
  entered_ = depth;
  if (batches().size() < size_t(depth)) batches().resize(size_t(depth));
  outer_batch_ = std::exchange(batches()[size_t(depth) - 1], &batch);
}
DepthScope::~DepthScope() {
  thread_state().depth = outer_;
  if (entered_ > 0) batches()[size_t(entered_) - 1] = outer_batch_;
}

bool is_batched_at(const Tensor& t, int level) {
  return t.impl()->kind == TensorKind::kBatched && t.impl()->level == level;
}

Tensor make_batched(const Tensor& inner, int level) {
  RW_CHECK(inner.rank() >= 1);
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->kind = TensorKind::kBatched;
  impl->level = uint8_t(level);
  impl->dtype = inner.dtype();
  impl->shape = inner.shape();
  impl->shape.erase(0);
  impl->inner = inner;
  return Tensor(std::move(impl));
}

Tensor strip_batch(const Tensor& t, int level, const Size& batch_size) {
  if (is_batched_at(t, level)) return t.impl()->inner;
  return repeat_in_front(t, batch_size);
}

Tensor repeat_in_front(const Tensor& t, const Size& count) {
  Sizes sizes = sizes_of(t);
  sizes.insert(sizes.begin(), count);
  return broadcast_sizes(t, sizes);
}

Tensor BatchContext::with_batch(int i) const {
  return batched(i) ? input(i) : repeat_in_front(input(i), batch());
}

Tensor BatchContext::aligned(int i, int rank) const {
  const Tensor& t = input(i);
  if (!batched(i) || this->rank(i) >= rank) return t;
  Sizes sizes = sizes_of(t);
  while (int(sizes.size()) - 1 < rank) sizes.insert(sizes.begin() + 1, Size(1));
  return reshape_sizes(t, sizes);
}

// Right for every op: one call per element, results stacked.
void batch_by_loop(BatchContext& ctx) {
  const bool few = ctx.batch_size() > 0 && (ctx.batch_size() <= kUnrolled || !current_trace());
  if (!few && loop_over_batch && loops_over(ctx)) return loop_over_batch(ctx);
  if (ctx.batch_size() == 0)
    fail_unimplemented(ctx.op().tag,
                       "vectorized_map over no elements needs a batching rule, and there is none");
  if (ctx.batch_size() < 0)
    fail_unimplemented(
        ctx.op().tag,
        "vectorized_map over a number of elements that the trace does not know needs a "
        "batching rule, and there is none for these arguments; give the input_signature this size");
  std::vector<std::vector<Tensor>> rows(size_t(ctx.num_outputs()));
  for (int64_t b = 0; b < ctx.batch_size(); ++b) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < ctx.num_inputs(); ++i)
      inputs.push_back(ctx.batched(i) ? row_of(ctx.input(i), b) : ctx.input(i));
    const Tensors outputs = rw::apply(ctx.op(), inputs, ctx.attrs());
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(outputs[i]);
  }
  for (size_t i = 0; i < rows.size(); ++i) ctx.set(int(i), rw::apply(RW_OP("Pack"), rows[i])[0]);
}

void register_batching(std::string_view op, BatchRule rule) {
  set_rule(find_op(op), RuleSlot::kBatching, Rule{std::move(rule)});
}
void register_draw_batching(std::string_view op, BatchRule rule) {
  set_rule(find_op(op), RuleSlot::kBatching, Rule{std::move(rule), true});
}

bool has_batching(const Op& op) { return op.elementwise || find_rule(op) != nullptr; }

std::vector<Tensor> vectorized_map(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                   const std::vector<Tensor>& elements) {
  if (elements.empty()) fail_invalid("vectorized_map", "there must be at least one tensor of elements");
  for (const Tensor& t : elements) {
    if (t.rank() < 1) fail_invalid("vectorized_map", "elements lie along axis 0: got a scalar");
    if (t.dim(0) != elements[0].dim(0) && t.dim(0) >= 0 && elements[0].dim(0) >= 0) {
      fail_invalid("vectorized_map", "all tensors must have the same first size: got " +
                                         elements[0].shape().to_string() + " and " + t.shape().to_string());
    }
  }
  const int level = thread_state().depth + 1;
  if (level > 200) fail_invalid("vectorized_map", "more than 200 calls are nested");
  // A size that a trace leaves open is the first one's.
  Size batch_size = sizes_of(elements[0])[0];
  for (const Tensor& t : elements)
    if (!batch_size.known() && t.dim(0) >= 0) batch_size = t.dim(0);
  std::vector<Tensor> results;
  {
    const DepthScope inside(level, batch_size);
    std::vector<Tensor> batched;
    for (const Tensor& t : elements) batched.push_back(make_batched(t, level));
    results = f(batched);
  }
  for (Tensor& t : results)
    if (t.defined()) t = strip_batch(t, level, batch_size);
  return results;
}

Tensor vectorized_map(const std::function<Tensor(const Tensor&)>& f, const Tensor& elements) {
  return vectorized_map([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{f(x[0])}; },
                        std::vector<Tensor>{elements})[0];
}

}  // namespace rw
