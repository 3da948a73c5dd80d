// Control flow and calls: ops whose bodies are functions.
#include <algorithm>

#include "rewind/base/error.h"
#include "rewind/op/table.h"

namespace rw {
namespace {

// The most that is true of both.
Shape common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape out = a;
  for (int k = 0; k < a.rank(); ++k)
    if (a[k] != b[k]) out.set(k, Shape::kUnknown);
  return out;
}

// A predicate, or what a condition gives: one bool or number.
constexpr DTypeSet kConditions =
    set_of(DType::kBool, DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64);

void check_condition(ShapeContext& ctx, DType dtype, const Shape& shape) {
  if (!contains(kConditions, dtype))
    ctx.fail("a condition must be a bool or a number: got " + std::string(name_of(dtype)));
  if (shape.fully_known() && shape.num_elements() != 1)
    ctx.fail("a condition must be one value: got shape " + shape.to_string());
}

void check_loop_condition(ShapeContext& ctx, const FunctionBody& cond) {
  const std::vector<DType> types = cond.output_types();
  if (types.size() != 1) ctx.fail("cond must give one result: it gives " + std::to_string(types.size()));
  check_condition(ctx, types[0], cond.output_shapes()[0]);
}

// The inputs from `first` on are the body's arguments; further ones may follow if `more`.
void check_arguments(ShapeContext& ctx, const FunctionBody& body, const char* what, int first,
                     bool more = false) {
  const std::vector<DType> wanted = body.input_types();
  const int given = ctx.num_inputs() - first;
  bool fits = more ? given >= int(wanted.size()) : given == int(wanted.size());
  for (size_t i = 0; fits && i < wanted.size(); ++i) fits = wanted[i] == ctx.dtype(int(i) + first);
  if (!fits)
    ctx.fail(std::string(what) + " does not take these inputs: it has " + std::to_string(wanted.size()) +
             " arguments, " + std::to_string(std::max(0, given)) + " are given, or types differ");
}

std::string types_text(const std::vector<DType>& types) {
  std::string text;
  for (const DType t : types) text += (text.empty() ? "" : ", ") + std::string(name_of(t));
  return text;
}

void set_outputs(ShapeContext& ctx, const std::vector<Shape>& shapes) {
  if (shapes.size() != size_t(ctx.num_outputs()))
    ctx.fail("the function gives " + std::to_string(shapes.size()) + " results, the op has " +
             std::to_string(ctx.num_outputs()));
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, shapes[size_t(i)]);
}

void check_results(ShapeContext& ctx, const FunctionBody& body) {
  if (body.output_types() != ctx.attr<std::vector<DType>>("Tout"))
    ctx.fail("the function must give results of the types in Tout");
}

void branches(ShapeContext& ctx, const std::vector<BodyRef>& bodies) {
  std::vector<Shape> shapes;
  for (size_t b = 0; b < bodies.size(); ++b) {
    check_arguments(ctx, *bodies[b], "a branch", 1);
    const std::vector<Shape> own = bodies[b]->output_shapes();
    if (bodies[b]->output_types() != bodies[0]->output_types() ||
        own.size() != bodies[0]->output_types().size())
      ctx.fail("all branches must give results of the same types");
    if (b == 0) shapes = own;
    else
      for (size_t i = 0; i < own.size(); ++i) shapes[i] = common(shapes[i], own[i]);
  }
  check_results(ctx, *bodies[0]);
  set_outputs(ctx, shapes);
}

void if_shape(ShapeContext& ctx) {
  check_condition(ctx, ctx.dtype(0), ctx.input(0));
  branches(ctx, {ctx.attr<BodyRef>("then_branch"), ctx.attr<BodyRef>("else_branch")});
}
void case_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  branches(ctx, ctx.attr<std::vector<BodyRef>>("branches"));
}

void while_shape(ShapeContext& ctx) {
  const auto body = ctx.attr<BodyRef>("body");
  check_arguments(ctx, *body, "body", 0);
  check_arguments(ctx, *ctx.attr<BodyRef>("cond"), "cond", 0);
  check_loop_condition(ctx, *ctx.attr<BodyRef>("cond"));
  const std::vector<Shape> shapes = body->output_shapes();
  if (shapes.size() != size_t(ctx.num_inputs()) || body->output_types() != body->input_types())
    ctx.fail("body must give one result for each loop variable, of its type: it takes (" +
             types_text(body->input_types()) + ") and gives (" + types_text(body->output_types()) + ")");
  // What the user said of the loop variables; otherwise what is true before and after an iteration.
  const auto said = ctx.attr<std::vector<Shape>>("output_shapes");
  if (!said.empty() && said.size() != size_t(ctx.num_outputs()))
    ctx.fail("output_shapes has one shape for each loop variable: got " + std::to_string(said.size()) +
             " for " + std::to_string(ctx.num_outputs()));
  for (int i = 0; i < ctx.num_outputs(); ++i)
    ctx.output(i, said.empty() ? common(ctx.input(i), shapes[size_t(i)]) : said[size_t(i)]);
}

// The variables as they went in, and the states.
void keeping_while_shape(ShapeContext& ctx) {
  check_arguments(ctx, *ctx.attr<BodyRef>("body"), "body", 0);
  check_arguments(ctx, *ctx.attr<BodyRef>("cond"), "cond", 0);
  std::vector<Shape> shapes = ctx.attr<BodyRef>("body")->output_shapes();
  if (shapes.size() < size_t(ctx.num_inputs())) ctx.fail("body must give a result for each loop variable");
  shapes.resize(size_t(ctx.num_inputs()));
  for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = common(ctx.input(int(i)), shapes[i]);
  shapes.emplace_back();
  set_outputs(ctx, shapes);
}

void call_shape(ShapeContext& ctx) {
  const auto body = ctx.attr<BodyRef>("f");
  check_arguments(ctx, *body, "f", 0);
  check_results(ctx, *body);
  set_outputs(ctx, body->output_shapes());
}

// The outputs are the first inputs.
void pass_first(ShapeContext& ctx) {
  if (ctx.num_outputs() > ctx.num_inputs()) ctx.fail("there must be an input for each output");
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.output(i, ctx.input(i));
}
void pass_results(ShapeContext& ctx) {
  pass_first(ctx);
  const auto types = ctx.attr<std::vector<DType>>("Tout");
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] != ctx.dtype(int(i)))
      ctx.fail("output " + std::to_string(i) + " has the type of its input: " + ctx.describe(int(i)) +
               ", Tout says " + std::string(name_of(types[i])));
}

void custom_gradient_shape(ShapeContext& ctx) {
  pass_results(ctx);
  const auto grad = ctx.attr<BodyRef>("grad");
  const int64_t inputs = ctx.attr<int64_t>("num_inputs");
  const int64_t captures = ctx.num_inputs() - ctx.num_outputs() - inputs;
  std::vector<DType> types = ctx.attr<std::vector<DType>>("Tout");
  for (int64_t i = captures; i > 0; --i) types.push_back(ctx.dtype(ctx.num_inputs() - int(i)));
  if (inputs > ctx.num_inputs() || captures < 0 || types != grad->input_types())
    ctx.fail("grad must take a gradient for each output, and what it captured");
  const auto given = ctx.attr<std::vector<int64_t>>("given");
  bool fits = given.size() == grad->output_types().size();
  for (const int64_t i : given) fits = fits && i >= 0 && i < inputs;
  if (!fits) ctx.fail("grad must give the gradients of the inputs that `given` lists");
}

void recompute_shape(ShapeContext& ctx) {
  pass_results(ctx);
  const auto body = ctx.attr<BodyRef>("body");
  check_arguments(ctx, *body, "body", ctx.num_outputs(), true);
  if (body->output_types() != ctx.attr<std::vector<DType>>("Tout"))
    ctx.fail("body must give the results, of the types of Tout");
}

}  // namespace

void register_control_ops(OpTable& t) {
  // A function with a derivative of its own, in a trace. values: the results, the function's inputs, and what
  // the gradient function captured. grad takes the gradients of the results and the captures; it gives
  // gradients of those inputs that `given` lists.
  t.add(
       "_CustomGradient(values: Tin) -> (output: Tout); Tin: list(type) >= 1; Tout: list(type) >= 0; "
       "num_inputs: int >= 0; given: list(int) >= 0; grad: func")
      .shape(custom_gradient_shape)
      .runtime()
      .tag("custom_gradient");
  // Results of a stretch of the trace that derivatives compute again. values: the results, the arguments of
  // the body, and what the body's effects gave, in order: they do not happen again.
  t.add("_Recompute(values: Tin) -> (output: Tout); Tin: list(type) >= 1; Tout: list(type) >= 0; body: func")
      .shape(recompute_shape)
      .runtime()
      .tag("recompute_grad");
  // What a variable's read gave, in a computation that is repeated: gradients go to the handle.
  t.add("_Given(value: dtype, handle: resource) -> (output: dtype); dtype: type")
      .shape(pass_first)
      .runtime()
      .tag("recompute_grad");
  // The compiler's own: a group of ops that run as one loop nest, or a kernel with such a group behind it.
  // The body is what it means.
  t.add("_Fused(args: Tin) -> (output: Tout); Tin: list(type) >= 0; Tout: list(type) >= 0; f: func")
      .shape(call_shape)
      .runtime()
      .tag("fused");
  // The compiler's own: a loop that keeps some of its states (those of the variables `kept`, `states` of
  // them) beside its results, and the last num_given results of its body from every iteration. Its condition
  // allows (limit + number - counter) / stride iterations for each of the counters that are listed; a limit
  // below 0 counts as 0. No counters: the length is unknown.
  for (const bool stateful : {false, true}) {
    t.add(std::string(stateful ? "_KeepingWhile" : "_StatelessKeepingWhile") +
          "(input: Tin) -> (output: Tout); Tin: list(type) >= 1; Tout: list(type) >= 1; cond: func; body: "
          "func; "
          "kept: list(int); states: int; num_given: int >= 0; counters: list(int); limits: list(int); "
          "numbers: list(int); "
          "strides: list(int)" +
          (stateful ? "; stateful" : ""))
        .shape(keeping_while_shape)
        .runtime()
        .tag("while_loop");
  }
  // The loop that runs through its iterations backwards, from the states. values: the states, num_fixed
  // values that stay the same, and the variables. Both functions take a state, what stays the same and what
  // the iteration gave; body takes the variables as well.
  t.add(
       "_BackWhile(values: Tin) -> (output: Tout); Tin: list(type) >= 1; Tout: list(type) >= 0; advance: "
       "func; "
       "body: func; num_fixed: int >= 0")
      .shape([](ShapeContext& ctx) { set_outputs(ctx, ctx.attr<BodyRef>("body")->output_shapes()); })
      .runtime()
      .tag("while_loop");
  // Such groups, over the same elements: all of them run for `block` elements, then for the next.
  t.add(
       "_Tiles(args: Tin) -> (output: Tout); Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; block: "
       "int")
      .shape(call_shape)
      .runtime()
      .tag("fused");
  const std::string types = "Tin: list(type) >= 0; Tout: list(type) >= 0; ";
  const std::string shapes = "output_shapes: list(shape) = []";
  for (const bool stateful : {false, true}) {
    const std::string prefix = stateful ? "" : "Stateless";
    const std::string flag = stateful ? "; stateful" : "";
    t.add(prefix + "If(cond: Tcond, input: Tin) -> (output: Tout); Tcond: type; " + types +
          "then_branch: func; else_branch: func; " + shapes + flag)
        .shape(if_shape)
        .host({"cond"})
        .runtime()
        .tag("cond");
    t.add(prefix + "Case(branch_index: int32, input: Tin) -> (output: Tout); " + types +
          "branches: list(func) >= 1; " + shapes + flag)
        .shape(case_shape)
        .host({"branch_index"})
        .runtime()
        .tag("switch_case");
    t.add(prefix + "While(input: T) -> (output: T); T: list(type) >= 0; cond: func; body: func; " + shapes +
          "; parallel_iterations: int = 10" + flag)
        .shape(while_shape)
        .runtime()
        .tag("while_loop");
    t.add(std::string(stateful ? "StatefulPartitionedCall" : "PartitionedCall") +
          "(args: Tin) -> (output: Tout); " + types +
          "f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''" + flag)
        .shape(call_shape)
        .runtime()
        .tag("function");
  }
}

}  // namespace rw
