#include "rewind/compiler/passes/loop_limits.h"

#include <algorithm>
#include <string_view>

#include "rewind/compiler/rewrite.h"

namespace rw {
namespace {

bool can_count(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

class Limits {
 public:
  Limits(const Graph& cond, const Graph& body) : cond_(cond), body_(body) {}

  // Whether everything that the value depends on is a comparison of this kind.
  bool add(ValueId v) {
    const GraphValue& value = cond_.value(v);
    if (value.dtype == DType::kBool && value.known->data)
      return value.shape.num_elements() == 1 && *static_cast<const bool*>(value.known->data.get());
    const Node* n = cond_.producer(v);
    if (!n) return false;
    const std::string_view op = n->op->name;
    if (op == "LogicalAnd") return add(n->inputs[0]) && add(n->inputs[1]);
    if (op == "Reshape" || op == "Identity" || op == "Squeeze") return add(n->inputs[0]);
    if (op == "Cast" && cond_.value(n->inputs[0]).dtype == DType::kBool) return add(n->inputs[0]);
    if (op == "Less" || op == "LessEqual") return compare(n->inputs[0], n->inputs[1], op == "LessEqual");
    if (op == "Greater" || op == "GreaterEqual")
      return compare(n->inputs[1], n->inputs[0], op == "GreaterEqual");
    return false;
  }
  LoopLimits found;

 private:
  bool compare(ValueId counter, ValueId limit, bool inclusive) {
    const GraphValue& c = cond_.value(counter);
    const GraphValue& l = cond_.value(limit);
    if (c.node >= 0 || !can_count(c.dtype) || c.shape.num_elements() != 1 || l.shape.num_elements() != 1)
      return false;
    const int64_t stride = stride_of(size_t(c.index));
    if (stride <= 0) return false;
    int64_t number = inclusive ? 1 : 0;
    int64_t variable = -1;
    if (l.known->data) number += int64_t(known_element(l.known, 0));
    else if (l.node < 0 && body_.outputs[size_t(l.index)] == body_.arguments[size_t(l.index)])
      variable = l.index;
    else return false;
    found.counters.push_back(c.index);
    found.limits.push_back(variable);
    found.numbers.push_back(number);
    found.strides.push_back(stride);
    return true;
  }

  // What an iteration adds to the variable; 0 where it does something else.
  int64_t stride_of(size_t i) const {
    const Node* n = body_.producer(body_.outputs[i]);
    if (!n || n->op->name != "AddV2") return 0;
    const bool first = n->inputs[0] == body_.arguments[i];
    if (!first && n->inputs[1] != body_.arguments[i]) return 0;
    const GraphValue& step = body_.value(n->inputs[first ? 1 : 0]);
    return step.known->data && step.shape.num_elements() == 1 ? int64_t(known_element(step.known, 0)) : 0;
  }

  const Graph& cond_;
  const Graph& body_;
};

}  // namespace

LoopLimits limits_of(const Graph& cond, const Graph& body) {
  Limits limits(cond, body);
  if (!limits.add(cond.outputs[0])) return {};
  return limits.found;
}

}  // namespace rw
