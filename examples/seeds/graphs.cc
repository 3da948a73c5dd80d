// Graphs: concrete functions, their operations and GraphDef, captures, and what does not run.
#include <iostream>
#include <regex>
#include <set>

#include "rewind/rewind.h"

namespace {

using rw::Tensor;

bool around(const std::string& type) {  // how a graph is wrapped differs
  return type == "Placeholder" || type == "Identity" || type == "NoOp" || type == "Const";
}

template <class List>
void print_list(const List& list) {
  std::cout << "[";
  const char* comma = "";
  for (const std::string& text : list) {
    std::cout << comma << "'" << text << "'";
    comma = ", ";
  }
  std::cout << "]\n";
}

std::vector<std::string> operation_types(const rw::FunctionGraph& graph) {
  std::vector<std::string> types;
  for (const rw::FunctionGraph::Operation& op : graph.operations())
    if (!around(op.type)) types.push_back(op.type);
  return types;
}

std::set<std::string> graph_def_ops(const rw::FunctionGraph& graph) {
  const std::string text = graph.as_graph_def();
  const std::regex op("\\bop: \"(\\w+)\"");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), op), end; it != end; ++it)
    if (!around((*it)[1])) found.insert((*it)[1]);
  return found;
}

void layer_graph() {
  rw::Variable w(rw::constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), {.name = "w"});
  const rw::Variable b(rw::constant({0.5, -100.0}), {.name = "b"});
  auto layer = rw::function([&](const Tensor& x) { return rw::nn::relu(rw::matmul(x, w) + b); });
  const auto concrete = layer.get_concrete_function(rw::TensorSpec{{-1, 3}, rw::float32});
  print_list(operation_types(concrete->graph()));
  print_list(graph_def_ops(concrete->graph()));
  const rw::TensorSpec output = concrete->outputs()[0];
  std::cout << output.shape.to_string() << " " << name_of(output.dtype) << "\n";
  std::cout << concrete->captured_inputs().size() << " ";
  std::vector<std::string> names;
  for (const rw::Variable& v : concrete->variables()) names.push_back(v.name());
  print_list(names);
  std::cout << (*concrete)({rw::ones({2, 3})})[0] << "\n";
  std::cout << layer(rw::ones({1, 3})) << "\n";
  w.assign_add(rw::ones({3, 2}));
  std::cout << (*concrete)({rw::ones({2, 3})})[0] << "\n";
  const bool same =
      layer.get_concrete_function(rw::ones({1, 3})) == layer.get_concrete_function(rw::zeros({1, 3}));
  std::cout << (same ? "True" : "False") << "\n";
}

void branch_graph() {
  auto branch = rw::function(
      [](const Tensor& x) { return rw::cond(x > 0.0, [&] { return x * 2.0; }, [&] { return -x; }); });
  const auto concrete = branch.get_concrete_function(rw::constant(1.0));
  const std::vector<std::string> list = operation_types(concrete->graph());
  const std::set<std::string> types(list.begin(), list.end());
  const auto text = [](bool b) { return b ? "True" : "False"; };
  std::cout << text(types.contains("Greater")) << " "
            << text(types.contains("If") || types.contains("StatelessIf")) << " "
            << text(types.contains("Mul")) << "\n";
  std::cout << (*concrete)({rw::constant(-3.0)})[0] << "\n";
}

Tensor unused(const Tensor& x) {
  rw::gather(x, rw::constant({5}));
  return x;
}

void what_does_not_run() {
  try {
    unused(rw::constant({0.0}));
  } catch (const rw::InvalidArgumentError&) { std::cout << "eager: refused\n"; }
  std::cout << rw::function(unused)(rw::constant({0.0})) << "\n";
}

}  // namespace

int main() {
  layer_graph();
  branch_graph();
  what_does_not_run();
}
