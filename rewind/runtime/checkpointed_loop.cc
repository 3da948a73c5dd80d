#include "rewind/runtime/checkpointed_loop.h"

#include <algorithm>

#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"
#include "rewind/runtime/evaluate.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;
using State = LoopStates::State;

int64_t integer(const Value& v) {
  return v.dtype == DType::kInt64 ? *static_cast<const int64_t*>(v.data)
                                  : int64_t(*static_cast<const int32_t*>(v.data));
}

// How often the loop will run, where its condition compares counters: the least of what each allows.
int64_t known_steps(const Op& op, const Attrs& attrs, Inputs in) {
  const auto counters = attr_as<std::vector<int64_t>>(op, attrs, "counters");
  const auto limits = attr_as<std::vector<int64_t>>(op, attrs, "limits");
  const auto numbers = attr_as<std::vector<int64_t>>(op, attrs, "numbers");
  const auto strides = attr_as<std::vector<int64_t>>(op, attrs, "strides");
  int64_t steps = -1;
  for (size_t i = 0; i < counters.size(); ++i) {
    int64_t limit = numbers[i];
    if (limits[i] >= 0) limit += integer(*in[size_t(limits[i])]);
    const int64_t left = limit - integer(*in[size_t(counters[i])]);
    const int64_t most = left <= 0 ? 0 : (left + strides[i] - 1) / strides[i];
    steps = steps < 0 ? most : std::min(steps, most);
  }
  return steps;
}

void run_keeping_while(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  const auto cond = attr_as<BodyRef>(op, attrs, "cond");
  const auto body = attr_as<BodyRef>(op, attrs, "body");
  const auto kept = attr_as<std::vector<int64_t>>(op, attrs, "kept");
  const auto num_given = attr_as<int64_t>(op, attrs, "num_given");
  auto states = Ref<LoopStates>::adopt(
      new LoopStates(known_steps(op, attrs, in), attr_as<int64_t>(op, attrs, "states")));
  outputs.clear();
  for (const Value* v : in) outputs.push_back(*v);
  SmallVector<const Value*, 8> now(outputs.size());
  for (int64_t step = 0;; ++step) {
    for (size_t i = 0; i < outputs.size(); ++i) now[i] = &outputs[i];
    const ValueList more = evaluate_body(cond, {now.data(), now.size()});
    if (!condition_holds(more[0], op)) break;
    State state, given;
    for (const int64_t i : kept) state.push_back(outputs[size_t(i)]);
    states->offer(step, state);
    ValueList results = evaluate_body(body, {now.data(), now.size()});
    for (size_t i = now.size(); i < results.size(); ++i) given.push_back(std::move(results[i]));
    results.resize(now.size());
    if (num_given > 0) states->give(std::move(given));
    outputs = std::move(results);
  }
  Value& handle = outputs.emplace_back(Value::allocate(cpu_device(), DType::kVariant, {}));
  *static_cast<Ref<Object>*>(handle.data) = Ref<Object>::adopt(states.release());
}

// Inputs: the states, what stays the same, and the backward loop's variables.
void run_back_while(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  const auto advance = attr_as<BodyRef>(op, attrs, "advance");
  const auto body = attr_as<BodyRef>(op, attrs, "body");
  const auto num_fixed = size_t(attr_as<int64_t>(op, attrs, "num_fixed"));
  auto* states = dynamic_cast_to<LoopStates*>(static_cast<Ref<Object>*>(in[0]->data)->get());
  RW_CHECK(states != nullptr);
  const Inputs fixed = in.subspan(1, num_fixed);
  outputs.clear();
  for (const Value* v : in.subspan(1 + num_fixed)) outputs.push_back(*v);
  // What both functions take first: the state, what stays the same, and what effects gave in that iteration.
  const auto arguments = [&](const State& state, int64_t step) {
    SmallVector<const Value*, 16> args;
    for (const Value& v : state) args.push_back(&v);
    for (const Value* v : fixed) args.push_back(v);
    for (const Value& v : states->given(step)) args.push_back(&v);
    return args;
  };
  const auto run_again = [&](State& state, int64_t step) {
    const auto args = arguments(state, step);
    ValueList next = evaluate_body(advance, {args.data(), args.size()});
    for (size_t i = 0; i < state.size(); ++i) state[i] = std::move(next[i]);
  };
  for (int64_t step = states->steps(); step-- > 0;) {
    const State state = states->take(step, run_again);
    auto args = arguments(state, step);
    for (const Value& v : outputs) args.push_back(&v);
    outputs = evaluate_body(body, {args.data(), args.size()});
    states->forget_given(step);
  }
}

}  // namespace

std::string LoopStates::describe() const {
  return "<" + std::to_string(kept_.size()) + " states of a loop of " + std::to_string(steps()) + " steps>";
}

void LoopStates::offer(int64_t step, const State& state) {
  const StateSchedule::Decision d = schedule_.offer(step);
  if (d.drop >= 0) kept_.erase(kept_.begin() + d.drop);
  if (d.keep) kept_.push_back({step, state});
  last_ = step;
  last_state_ = state;
}

void register_checkpointed_loop_kernels() {
  register_runtime_kernel("_KeepingWhile", run_keeping_while);
  register_runtime_kernel("_StatelessKeepingWhile", run_keeping_while);
  register_runtime_kernel("_BackWhile", run_back_while);
}

}  // namespace rw
