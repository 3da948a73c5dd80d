// Control flow on a batch. Where the choice is the same for all elements, the bodies run on the batch; where
// it differs, both branches run and each element takes its own result, and a loop runs until the last element
// is done, with finished ones held fast.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching_scope.h"
#include "rewind/function/branches.h"
#include "rewind/function/control_rules.h"
#include "rewind/function/functional.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw {
namespace {

using Flags = std::vector<bool>;

// Whether bodies may also run for elements that do not take them.
bool harmless(const BatchContext& ctx) {
  const Effects e = effects_of(ctx.op(), ctx.attrs());
  return !e.writes && !e.other;
}

bool selectable(DType dtype) { return dtype != DType::kVariant && dtype != DType::kResource; }

// condition ? a : b for each element; the condition has shape (batch).
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Sizes sizes = sizes_of(condition);
  while (int(sizes.size()) < a.rank()) sizes.emplace_back(1);
  const Tensor wide = reshape_sizes(condition, sizes);
  return apply_one(RW_OP("SelectV2"), {&wide, &a, &b});
}

// A body's arguments in the open trace: with the batch in front where they are flagged. Elements have the
// shapes that the body states; where it leaves the rank open, those that are known of what it is called with.
std::vector<Tensor> batch_arguments(Trace& trace, const Graph& g, const std::vector<Shape>& elements,
                                    const Flags& flags, int64_t batch_size) {
  std::vector<Tensor> symbols;
  for (size_t i = 0; i < g.arguments.size(); ++i) {
    const GraphValue& v = g.value(g.arguments[i]);
    Shape shape = v.shape.has_rank() ? v.shape : elements[i];
    if (flags[i] && shape.has_rank()) shape.insert(0, batch_size);
    symbols.push_back(trace.add_argument(v.dtype, shape));
    GraphValue& here = trace.graph().value(trace.graph().arguments.back());
    here.variable = v.variable;
    if (!flags[i]) here.known = v.known;
  }
  return symbols;
}

Shape element_shape(const BatchContext& ctx, int i) {
  Shape shape = ctx.input(i).shape();
  if (ctx.batched(i)) shape.erase(0);
  return shape;
}

// Runs a graph on tensors whose flagged ones have the batch in front; gives the results, and which of them
// have it.
std::vector<Tensor> run_on_batch(const Graph& g, const std::vector<Tensor>& inputs, const Flags& flags,
                                 const Size& batch, Flags* batched) {
  std::vector<Tensor> results;
  {
    const DepthScope inside(1, batch);
    std::vector<Tensor> in;
    for (size_t i = 0; i < inputs.size(); ++i)
      in.push_back(flags[i] ? make_batched(inputs[i], 1) : inputs[i]);
    results = replay(g, in);
  }
  batched->clear();
  for (Tensor& t : results) {
    batched->push_back(is_batched_at(t, 1));
    if (batched->back()) t = t.impl()->inner;
  }
  return results;
}

// The graph on a batch, as a graph; results all with the batch in front.
Ref<Trace> on_batch(const Graph& g, const std::vector<Shape>& elements, const Flags& flags,
                    const Size& batch) {
  const Ref<Trace> trace = new_body("batch");
  trace->graph().name = g.name + "_batch";
  const TraceScope scope(*trace);
  Flags batched;
  std::vector<Tensor> results =
      run_on_batch(g, batch_arguments(*trace, g, elements, flags, batch.number()), flags, batch, &batched);
  for (size_t i = 0; i < results.size(); ++i)
    if (!batched[i]) results[i] = repeat_in_front(results[i], batch);
  trace->finish(results);
  return trace;
}

void batch_branches(BatchContext& ctx) {
  const bool call = row_of(ctx.op()) == BranchRow::kCall;
  const int first = call ? 0 : 1;
  const std::vector<BodyRef> bodies = branches_of(ctx.op(), ctx.attrs());
  Flags flags;
  std::vector<Tensor> inputs;
  std::vector<Shape> elements;
  for (int i = first; i < ctx.num_inputs(); ++i) {
    flags.push_back(ctx.batched(i));
    inputs.push_back(ctx.input(i));
    elements.push_back(element_shape(ctx, i));
  }
  const bool choice_differs = !call && ctx.batched(0);
  if (choice_differs) {
    bool can = harmless(ctx);
    for (const DType t : bodies[0]->output_types()) can &= selectable(t);
    if (!can) return batch_by_loop(ctx);
  }
  std::vector<Ref<Trace>> traces;
  for (const BodyRef& b : bodies) traces.push_back(on_batch(graph_of(*b), elements, flags, ctx.batch()));
  const std::vector<Tensor> captures = share_captures(traces);
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  if (!choice_differs) {
    std::vector<BodyRef> now;
    for (const Ref<Trace>& t : traces) now.emplace_back(t->graph_ref());
    if (!call) inputs.insert(inputs.begin(), ctx.input(0));
    const Attrs attrs = with_branches(ctx.op(), {}, now, bodies[0]->output_types());
    ctx.set_all(rw::apply(control_row(ctx.op(), attrs), inputs, attrs));
    return;
  }
  std::vector<std::vector<Tensor>> results;
  for (const Ref<Trace>& t : traces) results.push_back(replay(*t->graph_ref(), inputs));
  const Tensor choice = reshape_sizes(ctx.input(0), {ctx.batch()});
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    // An index outside means the last branch; a predicate of 1 the first of two.
    Tensor out = results.back()[size_t(i)];
    for (size_t b = results.size() - 1; b-- > 0;) {
      const Tensor number = constant(int32_t(b));
      const Tensor taken = row_of(ctx.op()) == BranchRow::kIf ? cast(choice, DType::kBool)
                                                              : apply_one(RW_OP("Equal"), {&choice, &number});
      out = select(taken, results[b][size_t(i)], out);
    }
    ctx.set(i, out);
  }
}

// The two functions of a loop on a batch.
class BatchedLoop {
 public:
  explicit BatchedLoop(BatchContext& ctx)
      : ctx_(ctx),
        cond_(graph_ref(ctx.attr<BodyRef>("cond"))),
        body_(graph_ref(ctx.attr<BodyRef>("body"))),
        batch_(ctx.batch()) {
    for (int i = 0; i < ctx.num_inputs(); ++i) flags_.push_back(ctx.batched(i));
    elements_ = loop_shapes();
    find_flags();
    if (!ranks_known()) return;
    ends_differ_ = condition_is_batched();
    if (!ends_differ_) return;
    for (size_t i = 0; i < flags_.size(); ++i)
      if (body_->outputs[i] != body_->arguments[i]) flags_[i] = true;
    find_flags();
  }

  // Whether it can run as one loop; otherwise once per element.
  bool possible() const {
    if (!ranks_known()) return false;
    if (!ends_differ_) return true;
    for (size_t i = 0; i < flags_.size(); ++i)
      if (body_->outputs[i] != body_->arguments[i] && !selectable(body_->value(body_->arguments[i]).dtype))
        return false;
    return harmless(ctx_);
  }

  void run() {
    const std::vector<Ref<Trace>> traces{trace_cond(), trace_body()};
    std::vector<Tensor> inputs;
    auto shapes = ctx_.attr<std::vector<Shape>>("output_shapes");
    for (int i = 0; i < ctx_.num_inputs(); ++i) {
      inputs.push_back(flags_[size_t(i)] ? ctx_.with_batch(i) : ctx_.input(i));
      if (!shapes.empty() && flags_[size_t(i)] && shapes[size_t(i)].has_rank())
        shapes[size_t(i)].insert(0, batch_.number());
    }
    const std::vector<Tensor> captures = share_captures(traces);
    Graph& g = traces[1]->graph();
    for (size_t i = traces[1]->num_arguments(); i < g.arguments.size(); ++i)
      g.outputs.push_back(g.arguments[i]);
    for (const Tensor& t : captures) {
      inputs.push_back(t);
      if (!shapes.empty()) shapes.push_back(t.shape());
    }
    const Attrs attrs = ctx_.attrs()
                            .with("cond", BodyRef(traces[0]->graph_ref()))
                            .with("body", BodyRef(traces[1]->graph_ref()))
                            .with("output_shapes", shapes);
    const Tensors results = rw::apply(control_row(ctx_.op(), attrs), inputs, attrs);
    for (int i = 0; i < ctx_.num_outputs(); ++i)
      ctx_.set(i, flags_[size_t(i)] ? results[size_t(i)] : repeat_in_front(results[size_t(i)], batch_));
  }

 private:
  bool ranks_known() const {
    for (size_t i = 0; i < flags_.size(); ++i)
      if (flags_[i] && !elements_[i].has_rank()) return false;
    return true;
  }
  // What is true of an element's loop variables before every iteration.
  std::vector<Shape> loop_shapes() const {
    std::vector<Shape> shapes;
    const std::vector<Shape> next = body_->output_shapes();
    for (int i = 0; i < ctx_.num_inputs(); ++i) {
      const Shape& stated = body_->value(body_->arguments[size_t(i)]).shape;
      const Shape first = element_shape(ctx_, i);
      const bool same_rank = first.has_rank() && next[size_t(i)].rank() == first.rank();
      if (stated.has_rank()) shapes.push_back(stated);
      else if (same_rank)
        shapes.push_back(first == next[size_t(i)] ? first : Shape::unknown_of_rank(first.rank()));
      else shapes.push_back(Shape::unknown_rank());
    }
    return shapes;
  }
  // A loop variable has the batch if it enters with it or one iteration gives it the batch.
  void find_flags() {
    for (bool changed = true; changed && ranks_known();) {
      changed = false;
      const Ref<Trace> trace = new_body("batch");
      const TraceScope scope(*trace);
      Flags batched;
      run_on_batch(*body_, batch_arguments(*trace, *body_, elements_, flags_, batch_.number()), flags_,
                   batch_, &batched);
      for (size_t i = 0; i < flags_.size(); ++i)
        if (batched[i] && !flags_[i]) flags_[i] = changed = true;
    }
  }
  bool condition_is_batched() const {
    const Ref<Trace> trace = new_body("batch");
    const TraceScope scope(*trace);
    Flags batched;
    run_on_batch(*cond_, batch_arguments(*trace, *cond_, elements_, flags_, batch_.number()), flags_, batch_,
                 &batched);
    return batched[0];
  }

  // Of a loop whose elements end at different steps: which go on, bool (batch).
  Tensor going(const std::vector<Tensor>& state) const {
    Flags batched;
    const Tensor more = run_on_batch(*cond_, state, flags_, batch_, &batched)[0];
    return reshape_sizes(cast(more, DType::kBool), {batch_});
  }
  Ref<Trace> trace_cond() const {
    const Ref<Trace> trace = new_body("batch");
    trace->graph().name = cond_->name + "_batch";
    const TraceScope scope(*trace);
    const std::vector<Tensor> state = batch_arguments(*trace, *cond_, elements_, flags_, batch_.number());
    Flags batched;
    const Tensor more =
        ends_differ_ ? reduce_any(going(state)) : run_on_batch(*cond_, state, flags_, batch_, &batched)[0];
    trace->finish({&more, 1});
    return trace;
  }
  Ref<Trace> trace_body() const {
    const Ref<Trace> trace = new_body("batch");
    trace->graph().name = body_->name + "_batch";
    const TraceScope scope(*trace);
    const std::vector<Tensor> state = batch_arguments(*trace, *body_, elements_, flags_, batch_.number());
    const Tensor more = ends_differ_ ? going(state) : Tensor();
    Flags batched;
    std::vector<Tensor> next = run_on_batch(*body_, state, flags_, batch_, &batched);
    for (size_t i = 0; i < next.size(); ++i) {
      if (!flags_[i]) continue;
      if (!batched[i]) next[i] = repeat_in_front(next[i], batch_);
      if (ends_differ_ && body_->outputs[i] != body_->arguments[i]) next[i] = select(more, next[i], state[i]);
    }
    trace->finish(next);
    return trace;
  }

  BatchContext& ctx_;
  const std::shared_ptr<const Graph> cond_, body_;
  const Size& batch_;
  Flags flags_;  // loop variables with the batch in front
  std::vector<Shape> elements_;
  bool ends_differ_ = false;
};

void batch_while(BatchContext& ctx) {
  BatchedLoop loop(ctx);
  if (loop.possible()) loop.run();
  else batch_by_loop(ctx);
}

}  // namespace

// An op without a rule, once for each element.
void loop_over_batch(BatchContext& ctx) {
  DTypeVector types;
  DTypeVector results;
  std::vector<Tensor> elements;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    types.push_back(ctx.input(i).dtype());
    if (ctx.batched(i)) elements.push_back(ctx.input(i));
  }
  if (elements.empty()) elements.push_back(numbers_below(ctx.batch()));
  check_call(ctx.op(), types.data(), types.size(), ctx.attrs(), &results);
  MapFnOptions options;
  for (const DType t : results) options.fn_output_signature.push_back({Shape::unknown_rank(), t});
  const auto one = [&](const std::vector<Tensor>& element) {
    std::vector<Tensor> inputs;
    size_t next = 0;
    for (int i = 0; i < ctx.num_inputs(); ++i)
      inputs.push_back(ctx.batched(i) ? element[next++] : ctx.input(i));
    const Tensors out = rw::apply(ctx.op(), inputs, ctx.attrs());
    return std::vector<Tensor>(out.begin(), out.end());
  };
  ctx.set_all(map_fn(one, elements, options));
}

void register_control_flow_batching() {
  for (const char* op :
       {"If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall"})
    register_batching(op, batch_branches);
  for (const char* op : {"While", "StatelessWhile"}) register_batching(op, batch_while);
}

}  // namespace rw
