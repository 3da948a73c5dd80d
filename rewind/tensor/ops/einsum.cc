#include <algorithm>
#include <map>
#include <string>

#include "rewind/base/error.h"
#include "rewind/op/einsum.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

// The output of an equation without one: the ellipsis, then the labels that occur once.
std::string implied_output(const std::string& inputs) {
  std::map<char, int> count;
  for (const char c : inputs)
    if (c != ',' && c != '.') ++count[c];
  std::string output = inputs.find("...") != std::string::npos ? "..." : "";
  for (const auto& [label, times] : count)
    if (times == 1) output += label;
  return output;
}

struct Part {
  Tensor tensor;
  std::string labels;
};

Tensor raw_einsum(const EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  return apply(RW_OP("Einsum"), inputs, {{"equation", equation.to_string()}})[0];
}

double elements(const std::string& labels, const std::map<char, int64_t>& sizes) {
  double n = 1;
  for (const char c : labels) n *= double(sizes.at(c));
  return n;
}

std::string united(const std::string& a, const std::string& b) {
  std::string all;
  for (const char c : a + b)
    if (all.find(c) == std::string::npos) all += c;
  return all;
}

// What a pair of parts must keep: labels of the output and of the other parts.
std::string kept(const std::vector<Part>& parts, size_t i, size_t j, const std::string& output) {
  std::string labels;
  for (const char c : united(parts[i].labels, parts[j].labels)) {
    bool needed = output.find(c) != std::string::npos;
    for (size_t k = 0; k < parts.size(); ++k)
      needed |= k != i && k != j && parts[k].labels.find(c) != std::string::npos;
    if (needed) labels += c;
  }
  return labels;
}

// Three and more inputs, pair by pair: always the pair that shrinks the data most.
Tensor contract(const EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  std::vector<const Shape*> shapes;
  for (const Tensor& t : inputs) shapes.push_back(&t.shape());
  const NamedEinsum named = name_axes(equation, shapes);
  const std::string& output = named.equation.output;
  std::vector<Part> parts;
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor t = inputs[i];
    if (int(named.axes[i].size()) != t.rank()) {
      const Sizes all = sizes_of(t);
      Sizes kept;
      for (const int a : named.axes[i]) kept.push_back(all[size_t(a)]);
      t = reshape_sizes(t, kept);
    }
    const std::string& labels = named.equation.inputs[i];
    for (size_t a = 0; a < labels.size(); ++a)
      sizes[labels[a]] = std::max<int64_t>(1, named.shapes[i][int(a)]);
    parts.push_back({t, labels});
  }
  while (parts.size() > 2) {
    size_t best_i = 0, best_j = 1;
    double best = 0;
    bool first = true;
    for (size_t i = 0; i < parts.size(); ++i)
      for (size_t j = i + 1; j < parts.size(); ++j) {
        const double growth = elements(kept(parts, i, j, output), sizes) - elements(parts[i].labels, sizes) -
                              elements(parts[j].labels, sizes);
        if (first || growth < best) best = growth, best_i = i, best_j = j, first = false;
      }
    const std::string labels = kept(parts, best_i, best_j, output);
    EinsumEquation step;
    step.inputs = {parts[best_i].labels, parts[best_j].labels};
    step.output = labels;
    Part merged{raw_einsum(step, {parts[best_i].tensor, parts[best_j].tensor}), labels};
    parts.erase(parts.begin() + std::ptrdiff_t(best_j));
    parts.erase(parts.begin() + std::ptrdiff_t(best_i));
    parts.push_back(std::move(merged));
  }
  EinsumEquation last;
  last.inputs = {parts[0].labels, parts[1].labels};
  last.output = output;
  return raw_einsum(last, {parts[0].tensor, parts[1].tensor});
}

int checked_axis(int axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail_invalid("tensordot", "axis must be in [-" + std::to_string(rank) + ", " + std::to_string(rank) +
                                  "): got " + std::to_string(axis));
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Tensor einsum(std::string_view equation, const Operands& list) {
  const std::vector<Tensor>& inputs = list.tensors();
  std::string text;
  for (const char c : equation)
    if (c != ' ') text += c;
  if (text.find("->") == std::string::npos) text += "->" + implied_output(text);
  const EinsumEquation parsed = EinsumEquation::parse(text);
  if (parsed.inputs.size() != inputs.size())
    fail_invalid("einsum", "an equation has one part an input: '" + text + "' for " +
                               std::to_string(inputs.size()) + " inputs");
  return inputs.size() <= 2 ? raw_einsum(parsed, inputs) : contract(parsed, inputs);
}

Tensor tensordot(const Operand& a, const Operand& b, int axes) {
  const OperandPair p = unify(a, b);
  if (axes < 0 || axes > p.a.rank() || axes > p.b.rank())
    fail_invalid("tensordot", "axes must be between 0 and both ranks: got " + std::to_string(axes) +
                                  " for shapes " + p.a.shape().to_string() + " and " +
                                  p.b.shape().to_string());
  std::vector<int> a_axes, b_axes;
  for (int i = 0; i < axes; ++i) {
    a_axes.push_back(p.a.rank() - axes + i);
    b_axes.push_back(i);
  }
  return tensordot(p.a, p.b, a_axes, b_axes);
}

Tensor tensordot(const Operand& a, const Operand& b, const std::vector<int>& a_axes,
                 const std::vector<int>& b_axes) {
  const OperandPair p = unify(a, b);
  if (a_axes.size() != b_axes.size())
    fail_invalid("tensordot", "both sides must name equally many axes: got " + std::to_string(a_axes.size()) +
                                  " and " + std::to_string(b_axes.size()));
  if (p.a.rank() + p.b.rank() > 52) fail_invalid("tensordot", "ranks must not exceed 52 together");
  auto letter = [](int i) { return char(i < 26 ? 'a' + i : 'A' + i - 26); };
  EinsumEquation e;
  e.inputs.resize(2);
  for (int i = 0; i < p.a.rank(); ++i) e.inputs[0] += letter(i);
  for (int i = 0; i < p.b.rank(); ++i) e.inputs[1] += letter(p.a.rank() + i);
  std::string summed;
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int in_a = checked_axis(a_axes[i], p.a.rank());
    const int in_b = checked_axis(b_axes[i], p.b.rank());
    if (summed.find(letter(in_a)) != std::string::npos ||
        e.inputs[1][size_t(in_b)] != letter(p.a.rank() + in_b))
      fail_invalid("tensordot", "an axis may be named once");
    e.inputs[1][size_t(in_b)] = letter(in_a);
    summed += letter(in_a);
  }
  for (const char c : e.inputs[0] + e.inputs[1])
    if (summed.find(c) == std::string::npos) e.output += c;
  return raw_einsum(e, {p.a, p.b});
}

}  // namespace rw
