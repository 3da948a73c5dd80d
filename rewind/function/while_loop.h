// Loops on tensors. Eagerly a loop is plain C++, and tapes hear its ops as they happen. In a trace it becomes
// one While of the graph: condition and body are traced once, whatever the number of iterations.
//
//   auto [i, x] = rw::while_loop([&](rw::Tensor i, rw::Tensor x) { return i < n; },
//                                [&](rw::Tensor i, rw::Tensor x) { return std::tuple{i + 1, x * 2.0}; },
//                                std::tuple{0, x0});
//
// Loop variables are tensors in any structure (TensorArrays too); numbers become tensors. Functions that take
// the elements of a tuple are called with them.
#pragma once

#include "rewind/base/function_ref.h"
#include "rewind/function/staged.h"
#include "rewind/tensor/operand.h"

namespace rw {

struct WhileLoopOptions {
  Tensor maximum_iterations = {};            // a scalar: the loop ends after so many at the latest
  std::vector<Shape> shape_invariants = {};  // one per tensor among the loop variables, in order; what stays
                                             // true of its shape when it changes from step to step
  int parallel_iterations = 10;              // accepted for graphs that leave; loops run step by step
  // In a trace: a variable whose shape changes takes one that says less, and the body is traced once more.
  bool relax_shapes = false;
};

namespace detail {

using LoopCond = FunctionRef<Tensor(std::span<const Tensor>)>;
using LoopBody = FunctionRef<void(std::span<const Tensor>, NestWriter&)>;
struct LoopState {
  TensorList tensors;
  TraceKey key;
};
// Adds a While; gives the loop variables behind the loop.
TensorList stage_while(LoopCond cond, LoopBody body, const LoopState& initial,
                       const WhileLoopOptions& options);
bool tracing();
bool is_batch(const Tensor& predicate);
// How often the loop may still run; -1: without limit.
int64_t iteration_limit(const Tensor& maximum_iterations);

}  // namespace detail

template <class Cond, class Body, class L>
staged::Type<L> while_loop(Cond&& cond, Body&& body, const L& loop_vars,
                           const WhileLoopOptions& options = {}) {
  using S = staged::Type<L>;
  S state = staged::fit<S>(loop_vars);
  auto test = [&](const S& s) { return Operand(staged::call(cond, s)).tensor(); };
  auto step = [&](const S& s) { return staged::fit<S>(staged::call(body, s), &s); };
  int64_t left = -1;
  if (!detail::tracing()) {
    left = detail::iteration_limit(options.maximum_iterations);
    while (true) {
      if (left == 0) return state;
      const Tensor more = test(state);
      if (detail::is_batch(more)) break;  // elements of the batch end at different steps
      if (!bool(more)) return state;
      state = step(state);
      if (left > 0) --left;
    }
  }
  detail::LoopState initial;
  NestWriter writer{initial.key, initial.tensors};
  Nest<S>::write(state, writer);
  std::optional<S> prototype;  // of the body's results: arrays learn their elements' shape there
  WhileLoopOptions rest = options;
  if (left > 0) rest.maximum_iterations = constant(left);
  auto traced_test = [&](std::span<const Tensor> symbols) {
    NestReader reader{symbols.data()};
    return test(Nest<S>::read(state, reader));
  };
  auto traced_step = [&](std::span<const Tensor> symbols, NestWriter& w) {
    NestReader reader{symbols.data()};
    prototype.emplace(step(Nest<S>::read(state, reader)));
    Nest<S>::write(*prototype, w);
  };
  const TensorList results = detail::stage_while(traced_test, traced_step, initial, rest);
  NestReader reader{results.data()};
  return Nest<S>::read(*prototype, reader);
}

}  // namespace rw
