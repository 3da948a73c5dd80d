#include "tests/support/case_run.h"

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/forward_accumulator.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/function/function.h"
#include "rewind/graph/graph.h"
#include "rewind/op/table.h"
#include "rewind/runtime/evaluate.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/variable.h"
#include "tests/support/case_tensors.h"

namespace rw::test {
namespace {

// Of each leaf, whether it is an axis, a size or the like.
void find_host_leaves(const Call& call, std::vector<bool>* host) {
  const Op& op = find_op(call.op);
  const auto counts = split_inputs(op, call.inputs.size(), stated_attrs(call));
  size_t next = 0;
  for (size_t a = 0; a < counts.size(); ++a) {
    for (int k = 0; k < counts[a]; ++k) {
      const Input& in = call.inputs[next++];
      if (in.kind == Input::kCall) find_host_leaves(*in.call, host);
      else host->push_back(op.inputs[a].host_memory);
    }
  }
}

Shape known_as(const Shape& shape, LeavesAs as) {
  if (as == LeavesAs::kUnknownRank) return Shape::unknown_rank();
  if (as == LeavesAs::kUnknownSizes) return Shape(std::vector<int64_t>(size_t(shape.rank()), -1));
  return shape;
}

void collect_ops(const Graph& graph, std::set<std::string>* ops) {
  for (const Node& n : graph.nodes()) {
    ops->insert(n.op->name);
    for_each_body(n.attrs, [&](const BodyRef& body) { collect_ops(graph_of(*body), ops); });
  }
}

// By the reference evaluator.
std::vector<Tensor> evaluate_graph(const ConcreteFunction& f, const std::vector<Tensor>& arguments) {
  std::vector<const Value*> inputs;
  for (const Tensor& t : arguments) inputs.push_back(t.impl());
  const std::vector<Tensor> captured = f.captured_inputs();
  for (const Tensor& t : captured) inputs.push_back(t.impl());
  std::vector<Tensor> results;
  for (Value& v : rw::evaluate(f.graph().ir(), inputs)) results.push_back(make_tensor(std::move(v)));
  return results;
}

// A traced case: its function, and what to call it with.
struct TracedCase {
  Leaves leaves;
  std::vector<Tensor> initial;  // of the variables
  std::vector<Tensor> arguments;
  CaseTensors structure;  // of the results
  std::shared_ptr<const ConcreteFunction> concrete;

  TracedCase(const Case& c, LeavesAs as, std::string& stage) : leaves(c) {
    std::vector<TensorSpec> specs;
    std::vector<bool> constant(leaves.tensors.size(), as == LeavesAs::kConstants);
    if (as == LeavesAs::kData) {
      constant.clear();
      find_host_leaves(c.call, &constant);
    }
    for (size_t k = 0; k < leaves.tensors.size(); ++k) {
      if (leaves.variables[k].defined()) {
        initial.push_back(leaves.variables[k].value());
      } else if (!constant[k]) {
        arguments.push_back(leaves.tensors[k]);
        specs.push_back({known_as(arguments.back().shape(), as), arguments.back().dtype()});
      }
    }
    auto f = function(
        [&](const std::vector<Tensor>& symbols) {
          Leaves inside = leaves;
          for (size_t k = 0, next = 0; k < inside.tensors.size(); ++k)
            if (!inside.variables[k].defined() && !constant[k]) inside.tensors[k] = symbols[next++];
          structure = run(c, inside, stage);
          for (Gradient& g : structure.gradients)
            if (g.slices()) g = g.tensor();
          return structure;
        },
        {.input_signature = specs});
    concrete = f.get_concrete_function(arguments);
  }
  void reset_variables() const {
    size_t next = 0;
    for (const Variable& v : leaves.variables)
      if (v.defined()) v.assign(initial[next++]);
  }
  CaseTensors structured(const std::vector<Tensor>& results) const {
    NestReader reader{results.data()};
    return Nest<CaseTensors>::read(structure, reader);
  }
};

}  // namespace

Result run_case(const Case& c) {
  return guarded([&](Result& r, std::string& stage) { store(run(c, Leaves(c), stage), r); });
}

CompiledResults run_compiled(const Case& c, LeavesAs as) {
  CompiledResults both;
  std::optional<TracedCase> traced;
  both.graph = both.compiled = guarded([&](Result&, std::string& stage) {
    stage = "trace: ";
    traced.emplace(c, as, stage);
  });
  if (!both.graph.failed) {
    collect_ops(traced->concrete->graph().ir(), &both.ops);
    both.graph = guarded([&](Result& r, std::string&) {
      store(traced->structured(evaluate_graph(*traced->concrete, traced->arguments)), r);
    });
    traced->reset_variables();
    both.compiled = guarded([&](Result& r, std::string&) {
      store(traced->structured((*traced->concrete)(traced->arguments)), r);
    });
  }
  return both;
}

Result run_second_gradient(const Case& c, const std::vector<Array>& v) {
  return guarded([&](Result& r, std::string&) {
    Leaves in(c);
    GradientTape outer({.watch_accessed_variables = false});
    std::vector<Tensor> sources, firsts, seeds;
    for (auto k : c.wanted) {
      in.watch(outer, k);
      sources.push_back(in.tensors[k]);
    }
    {
      GradientTape inner({.watch_accessed_variables = false});
      for (auto k : c.wanted) in.watch(inner, k);
      auto outputs = evaluate(c, in.tensors);
      Targets targets(c, outputs);
      auto gradients = inner.flat_gradient(targets.tensors, sources, {.output_gradients = targets.gradients});
      for (size_t k = 0; k < gradients.size(); ++k) {
        if (gradients[k].none()) continue;
        firsts.push_back(gradients[k].tensor());
        seeds.push_back(to_tensor(v[k]));
      }
    }
    if (firsts.empty()) r.gradients.resize(sources.size());
    else r.gradients = to_arrays(outer.flat_gradient(firsts, sources, {.output_gradients = seeds}));
  });
}

Result run_forward(const Case& c, const std::vector<Array>& tangents) {
  return guarded([&](Result& r, std::string& stage) {
    Leaves in(c);
    std::vector<Tensor> primals, directions;
    std::vector<Variable> variables;
    for (size_t k = 0; k < c.wanted.size(); ++k) {
      auto& variable = in.variables[c.wanted[k]];
      if (variable.defined()) variables.push_back(variable);
      else primals.push_back(in.tensors[c.wanted[k]]);
      directions.push_back(to_tensor(tangents[k]));
    }
    if (!variables.empty() && !primals.empty())
      fail_unimplemented("test", "tensors and variables move together");
    auto accumulator = variables.empty() ? std::make_unique<ForwardAccumulator>(primals, directions)
                                         : std::make_unique<ForwardAccumulator>(variables, directions);
    stage = "forward: ";
    for (auto& y : evaluate(c, in.tensors)) r.outputs.push_back(to_array(accumulator->jvp(y)));
  });
}

Result run_batched(const Case& c, const std::vector<Array>& stacked, bool traced) {
  return guarded([&](Result& r, std::string&) {
    const Leaves in(c);
    std::vector<Tensor> elements;
    std::vector<TensorSpec> specs;
    for (auto& a : stacked) {
      elements.push_back(to_tensor(a));
      Shape shape = elements.back().shape();
      shape.set(0, Shape::kUnknown);
      specs.push_back({shape, a.dtype});
    }
    const auto map = [&](const std::vector<Tensor>& all) {
      return vectorized_map(
          [&](const std::vector<Tensor>& element) {
            auto tensors = in.tensors;
            for (size_t k = 0; k < element.size(); ++k) tensors[c.wanted[k]] = element[k];
            return evaluate(c, tensors);
          },
          all);
    };
    std::vector<Tensor> outputs;
    if (traced) {
      const auto concrete = function(map, {.input_signature = specs}).get_concrete_function(elements);
      outputs = evaluate_graph(*concrete, elements);
    } else {
      outputs = map(elements);
    }
    for (auto& y : outputs) r.outputs.push_back(to_array(y));
  });
}

std::string dump_op_table() {
  std::vector<std::string> rows;
  for (const Op* op : op_table().all()) {
    std::string row;
    for (char ch : op->schema()) row += ch == '\n' ? "\\n" : std::string(1, ch);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (auto& row : rows) text += row + "\n";
  return text;
}

}  // namespace rw::test
