#include "rewind/op/einsum.h"

#include <algorithm>
#include <map>

#include "rewind/base/error.h"

namespace rw {
namespace {

[[noreturn]] void fail(const std::string& message) { fail_invalid("einsum", message); }

std::string parse_part(std::string_view text, std::string_view equation) {
  std::string part;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '.') {
      if (c <= ' ' || c >= 127 || c == ',' || c == '-' || c == '>')
        fail("labels must be letters: got '" + std::string(equation) + "'");
      part += c;
      continue;
    }
    if (text.substr(i, 3) != "..." || part.find('.') != std::string::npos)
      fail("a part may have one ellipsis of three dots: got '" + std::string(equation) + "'");
    part += '.';
    i += 2;
  }
  return part;
}

std::string written(const std::string& part) {
  std::string text = part;
  const size_t dot = text.find('.');
  if (dot != std::string::npos) text.replace(dot, 1, "...");
  return text;
}

std::string name_of(int label) {
  return label > 0 ? std::string("label '") + char(label) + "'" : "ellipsis axis " + std::to_string(label);
}

// The size of each label over all inputs.
std::map<int, int64_t> sizes_of(const std::vector<Labels>& labels, const std::vector<const Shape*>& inputs) {
  std::map<int, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t a = 0; a < labels[i].size(); ++a) {
      const int label = labels[i][a];
      const int64_t size = (*inputs[i])[int(a)];
      const auto [it, is_new] = sizes.emplace(label, size);
      int64_t& known = it->second;
      if (is_new || size == known || size == Shape::kUnknown) continue;
      if (known == Shape::kUnknown) known = size;
      else if (label < 0 && (known == 1 || size == 1)) known = known == 1 ? size : known;
      else
        fail(name_of(label) + " must have one size: got " + std::to_string(known) + " and " +
             std::to_string(size) + "; input " + std::to_string(i) + " is " + inputs[i]->to_string());
    }
  }
  return sizes;
}

}  // namespace

EinsumEquation EinsumEquation::parse(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || equation.find("->", arrow + 2) != std::string_view::npos)
    fail("an equation has exactly one '->': got '" + std::string(equation) + "'");
  EinsumEquation e;
  std::string_view left = equation.substr(0, arrow);
  for (;;) {
    const size_t comma = left.find(',');
    e.inputs.push_back(parse_part(left.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  e.output = parse_part(equation.substr(arrow + 2), equation);
  for (const char c : e.output) {
    const bool known = std::any_of(e.inputs.begin(), e.inputs.end(),
                                   [c](const std::string& in) { return in.find(c) != std::string::npos; });
    if (!known && c != '.')
      fail(std::string("output label '") + c + "' must be in an input: got '" + std::string(equation) + "'");
  }
  return e;
}

std::string EinsumEquation::to_string() const {
  std::string text;
  for (const std::string& part : inputs)
    text += (text.empty() && &part == &inputs[0] ? "" : ",") + written(part);
  return text + "->" + written(output);
}

bool EinsumEquation::uses(char label) const {
  return output.find(label) != std::string::npos ||
         std::any_of(inputs.begin(), inputs.end(),
                     [label](const std::string& in) { return in.find(label) != std::string::npos; });
}

char EinsumEquation::fresh_label() const {
  for (const char first : {'A', 'a'})
    for (int i = 0; i < 26; ++i)
      if (!uses(char(first + i))) return char(first + i);
  fail("all 52 letters are in use in '" + to_string() + "'");
}

Labels labels_of(std::string_view part, int rank) {
  const size_t dot = part.find('.');
  const int named = int(part.size()) - (dot != std::string_view::npos);
  if (dot == std::string_view::npos ? named != rank : named > rank)
    fail("labels must match the axes: '" + written(std::string(part)) + "' for a tensor of rank " +
         std::to_string(rank));
  Labels labels;
  for (size_t i = 0; i < part.size(); ++i) {
    if (i != dot) labels.push_back(part[i]);
    else
      for (int j = rank - named; j > 0; --j) labels.push_back(-j);
  }
  return labels;
}

Shape einsum_shape(const EinsumEquation& equation, const std::vector<const Shape*>& inputs) {
  if (equation.inputs.size() != inputs.size())
    fail("an equation has one part an input: '" + equation.to_string() + "' for " +
         std::to_string(inputs.size()) + " inputs");
  std::vector<Labels> labels;
  int ellipsis = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]->has_rank()) return Shape::unknown_rank();
    labels.push_back(labels_of(equation.inputs[i], inputs[i]->rank()));
    for (const int label : labels.back()) ellipsis = std::max(ellipsis, -label);
  }
  const auto sizes = sizes_of(labels, inputs);
  const bool open = equation.output.find('.') != std::string::npos;
  if (ellipsis > 0 && !open)
    fail("the output must keep the ellipsis of the inputs: got '" + equation.to_string() + "'");
  Shape shape;
  const int rank = int(equation.output.size()) - open + (open ? ellipsis : 0);
  for (const int label : labels_of(equation.output, rank)) shape.append(sizes.at(label));
  return shape;
}

NamedEinsum name_axes(const EinsumEquation& equation, const std::vector<const Shape*>& inputs) {
  std::vector<Labels> labels;
  int ellipsis = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    labels.push_back(labels_of(equation.inputs[i], inputs[i]->rank()));
    for (const int label : labels.back()) ellipsis = std::max(ellipsis, -label);
  }
  const auto sizes = sizes_of(labels, inputs);
  NamedEinsum named;
  named.equation = equation;
  std::map<int, char> letters;
  for (int j = 1; j <= ellipsis; ++j) {
    const char letter = named.equation.fresh_label();
    letters[-j] = letter;
    named.equation.output += letter;  // keeps it from being given out twice; rewritten below
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string part;
    Shape shape;
    std::vector<int>& axes = named.axes.emplace_back();
    for (size_t a = 0; a < labels[i].size(); ++a) {
      const int label = labels[i][a];
      const int64_t size = (*inputs[i])[int(a)];
      if (label < 0 && size == 1 && sizes.at(label) != 1) continue;
      part += label > 0 ? char(label) : letters.at(label);
      shape.append(size);
      axes.push_back(int(a));
    }
    named.equation.inputs[i] = part;
    named.shapes.push_back(shape);
  }
  std::string output;
  for (const char c : equation.output) {
    if (c != '.') output += c;
    else
      for (int j = ellipsis; j > 0; --j) output += letters.at(-j);
  }
  named.equation.output = output;
  return named;
}

}  // namespace rw
