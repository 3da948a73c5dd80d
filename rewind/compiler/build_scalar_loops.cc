#include "rewind/compiler/build_scalar_loops.h"

#include <cstring>

#include "rewind/compiler/loop/builder.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/graph/expanded_size.h"

namespace rw {
namespace {

using loop::Builder;
using loop::Var;

// A value in the kernel: a number, or an array that stays where it is.
struct Held {
  Var number = -1;
  int32_t array = -1;            // buffer
  int64_t size = 0;              // of the array
  int64_t least = 0, most = -1;  // bounds of an integer, where they are known (least <= most)
};
using HeldList = std::vector<Held>;

constexpr int64_t kMostNodes = 20'000;

struct Unfit {};  // what does not go into such a kernel

bool is_scalar(const GraphValue& v) { return v.shape.rank() == 0 && !is_host_only(v.dtype); }
bool is_array(const GraphValue& v) {
  return v.shape.rank() == 1 && v.shape.fully_known() && !is_host_only(v.dtype);
}
bool is_while(const Op& op) { return op.name == "StatelessWhile" || op.name == "While"; }
bool is_if(const Op& op) { return op.name == "StatelessIf" || op.name == "If"; }

class ScalarBuilding {
 public:
  std::optional<ScalarLoops> run(const Graph& g, const Node& n) {
    if (!is_while(*n.op) && !is_if(*n.op)) return std::nullopt;
    if (n.op->stateful && effects_of(n).any()) return std::nullopt;
    // All bodies are written out. Larger ones are programs of their own.
    if (ExpandedSizes(ExpandedSizes::Branches::kAll).of(n) > kMostNodes) return std::nullopt;
    HeldList inputs;
    for (const ValueId v : n.inputs) {
      const GraphValue& in = g.value(v);
      if (!is_scalar(in) && !is_array(in)) return std::nullopt;
      const int64_t size = in.shape.num_elements();
      const int32_t buffer = b_.in(in.dtype, size);
      inputs.push_back(is_scalar(in) ? Held{} : Held{-1, buffer, size});
      if (is_scalar(in) && in.known->data && is_integer(in.dtype))
        inputs.back().least = inputs.back().most = int64_t(known_element(in.known, 0));
    }
    std::vector<int32_t> out;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      if (!is_scalar(g.value(n.outputs[k]))) continue;
      result_.writes.push_back(k);
      out.push_back(b_.out(g.value(n.outputs[k]).dtype, 1));
    }
    try {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].array < 0) inputs[i].number = b_.load(int32_t(i), 0);
      const HeldList results = node(n, inputs);
      for (size_t k = 0; k < n.outputs.size(); ++k)
        if (!is_scalar(g.value(n.outputs[k])) && results[k].array != inputs[k].array) return std::nullopt;
      for (size_t k = 0; k < out.size(); ++k) b_.store(out[k], 0, results[result_.writes[k]].number);
    } catch (const Unfit&) { return std::nullopt; }
    result_.kernel = b_.finish();
    result_.kernel.name = "scalar_loops";
    return std::move(result_);
  }

 private:
  static void need(bool fits) {
    if (!fits) throw Unfit();
  }

  void fail_if(Var condition, const std::string& message) {
    result_.failures.push_back(message);
    const int64_t status = int64_t(result_.failures.size());
    b_.if_then(condition, [&] { b_.fail(status); });
  }

  HeldList graph(const Graph& g, const HeldList& arguments) {
    need(arguments.size() == g.arguments.size());
    const Uses uses(g);
    std::vector<Held> values(g.num_values());
    for (size_t i = 0; i < arguments.size(); ++i) values[size_t(g.arguments[i])] = arguments[i];
    for (size_t i = 0; i < g.nodes().size(); ++i) {
      if (!uses.needed[i]) continue;
      const Node& n = g.nodes()[i];
      HeldList in;
      for (const ValueId v : n.inputs) in.push_back(values[size_t(v)]);
      HeldList out = is_while(*n.op) || is_if(*n.op) ? node(n, in) : HeldList{simple(g, n, in)};
      for (size_t k = 0; k < n.outputs.size(); ++k) values[size_t(n.outputs[k])] = out[k];
    }
    HeldList results;
    for (const ValueId v : g.outputs) results.push_back(values[size_t(v)]);
    return results;
  }

  HeldList node(const Node& n, const HeldList& in) {
    need(!n.op->stateful || !effects_of(n).any());
    return is_while(*n.op) ? while_node(n, in) : if_node(n, in);
  }

  HeldList while_node(const Node& n, const HeldList& in) {
    const auto cond = graph_attr(n, "cond");
    const auto body = graph_attr(n, "body");
    std::vector<int32_t> locals(in.size(), -1);
    std::vector<bool> changes(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      changes[i] = body->outputs[i] != body->arguments[i];
      need(!changes[i] || in[i].array < 0);
      if (changes[i]) locals[i] = b_.local(in[i].number);
    }
    auto now = [&] {
      HeldList state = in;
      for (size_t i = 0; i < in.size(); ++i)
        if (changes[i]) state[i] = {b_.get(locals[i])};
      return state;
    };
    auto inside = [&] {
      HeldList state = now();
      for (size_t i = 0; i < in.size(); ++i)
        if (changes[i]) bound_counter(*cond, *body, i, in[i], &state[i]);
      return state;
    };
    b_.while_loop([&] { return graph(*cond, now()).at(0).number; },
                  [&] {
                    const HeldList next = graph(*body, inside());
                    for (size_t i = 0; i < in.size(); ++i)
                      if (changes[i]) b_.set(locals[i], next[i].number);
                  });
    return now();
  }

  // A variable that starts at a known number, grows by a constant and is below a limit whenever the body
  // runs.
  static void bound_counter(const Graph& cond, const Graph& body, size_t i, const Held& start,
                            Held* counter) {
    const Node* step = body.producer(body.outputs[i]);
    const Node* test = cond.producer(cond.outputs[0]);
    if (start.least > start.most || !step || !test || test->op->name != "Less" ||
        test->inputs[0] != cond.arguments[i])
      return;
    if (step->op->name != "AddV2" || step->inputs[0] != body.arguments[i]) return;
    const GraphValue& by = body.value(step->inputs[1]);
    const GraphValue& limit = cond.value(test->inputs[1]);
    if (!by.known->data || known_element(by.known, 0) < 0 || !limit.known->data) return;
    // Below the limit before the step, and no step leads past the type's end.
    const double last = known_element(limit.known, 0) + known_element(by.known, 0);
    if (last > 2147483647.0) return;
    counter->least = start.least;
    counter->most = int64_t(known_element(limit.known, 0)) - 1;
  }

  HeldList if_node(const Node& n, const HeldList& in) {
    need(in[0].number >= 0 && b_.dtype_of_var(in[0].number) == DType::kBool);
    const HeldList inputs(in.begin() + 1, in.end());
    const auto then = graph_attr(n, "then_branch");
    const auto otherwise = graph_attr(n, "else_branch");
    std::vector<int32_t> locals;
    for (const ValueId v : then->outputs) {
      need(is_scalar(then->value(v)));
      locals.push_back(b_.local(b_.constant_of(then->value(v).dtype, 0)));
    }
    auto branch = [&](const Graph& g) {
      const HeldList results = graph(g, inputs);
      for (size_t k = 0; k < locals.size(); ++k) {
        need(results[k].number >= 0);
        b_.set(locals[k], results[k].number);
      }
    };
    b_.if_else(in[0].number, [&] { branch(*then); }, [&] { branch(*otherwise); });
    HeldList results;
    for (const int32_t l : locals) results.push_back({b_.get(l), -1, 0});
    return results;
  }

  Held simple(const Graph& g, const Node& n, const HeldList& in) {
    need(n.outputs.size() == 1 && !n.op->stateful);
    const GraphValue& out = g.value(n.outputs[0]);
    const std::string_view name = n.op->name;
    if (name == "Const") return constant(out);
    if (name == "Identity" || name == "StopGradient") return in[0];
    if (name == "GatherV2") return pick(g, n, in);
    need(is_scalar(out));
    for (const Held& h : in) need(h.number >= 0);
    if (name == "Cast") {
      need(loop::find_cast(b_.dtype_of_var(in[0].number), out.dtype) != nullptr);
      return {b_.cast(in[0].number, out.dtype), -1, 0};
    }
    if (name == "SelectV2") return {b_.select(in[0].number, in[1].number, in[2].number), -1, 0};
    need(n.op->elementwise);
    const DType dtype = b_.dtype_of_var(in[0].number);
    const loop::ScalarOp* op = loop::find_scalar_op(name, dtype);
    need(op && size_t(op->arity) == in.size() && op->out == out.dtype);
    SmallVector<Var, 4> args;
    for (const Held& h : in) args.push_back(h.number);
    if (loop::divides_integers(name, dtype)) {
      const GraphValue& divisor = g.value(n.inputs[1]);
      if (!divisor.known->data || known_element(divisor.known, 0) == 0)
        fail_if(b_.op("Equal", {args[1], b_.constant_of(dtype, 0)}), "[" + n.op->tag + "] division by zero");
    }
    return {b_.op(n.op->name, args.data(), args.size()), -1, 0};
  }

  Held constant(const GraphValue& v) {
    if (!is_scalar(v)) return {};  // an axis: whoever reads it looks at the graph
    uint64_t bits = 0;
    std::memcpy(&bits, v.known->data.get(), size_of(v.dtype));
    return {b_.constant_bits(v.dtype, bits), -1, 0};
  }

  // An element of an array.
  Held pick(const Graph& g, const Node& n, const HeldList& in) {
    const GraphValue& axis = g.value(n.inputs[2]);
    need(in[0].array >= 0 && in[1].number >= 0 && axis.known->data && known_element(axis.known, 0) == 0);
    need(attr_as<int64_t>(*n.op, n.attrs, "batch_dims") == 0);
    const Var i = b_.cast(in[1].number, DType::kInt64);
    if (in[1].least <= in[1].most && in[1].least >= 0 && in[1].most < in[0].size)
      return {b_.load(in[0].array, loop::dynamic(i)), -1, 0};
    const Var below = b_.op("Less", {i, b_.constant<int64_t>(0)});
    const Var above = b_.op("GreaterEqual", {i, b_.constant<int64_t>(in[0].size)});
    fail_if(b_.op("LogicalOr", {below, above}),
            "an index is outside [0, " + std::to_string(in[0].size) + ") in a loop");
    return {b_.load(in[0].array, loop::dynamic(i)), -1, 0};
  }

  Builder b_{"scalar_loops"};
  ScalarLoops result_;
};

}  // namespace

std::optional<ScalarLoops> build_scalar_loops(const Graph& g, const Node& n) {
  return ScalarBuilding().run(g, n);
}

}  // namespace rw
