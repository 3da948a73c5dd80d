// Model::summary: the table that Keras prints.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>

#include "rewind/base/console.h"
#include "rewind/base/dynamic_type.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/functional_graph.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model.h"
#include "rewind/keras/sequential.h"
#include "rewind/keras/text_table.h"

namespace rw::keras {
namespace {

int terminal_columns() {
  if (const char* text = std::getenv("COLUMNS"))
    if (int32_t columns = 0; parse_number(text, &columns) && columns > 0) return columns;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// 79510 -> "79,510".
std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = int(text.size()) - 3; at > 0; at -= 3) text.insert(size_t(at), ",");
  return text;
}

std::string readable_size(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (unit + 1 < std::size(units) && bytes / 1024 >= 1) {
    bytes /= 1024;
    ++unit;
  }
  return fixed_text(bytes, 2) + " " + units[unit];
}

struct Total {
  int64_t count = 0;
  double bytes = 0;
  void add(const std::vector<Variable>& list) {
    for (const Variable& v : list) {
      count += v.shape().num_elements();
      bytes += double(v.shape().num_elements()) * double(size_of(v.dtype()));
    }
  }
  std::string text() const { return with_commas(count) + " (" + readable_size(bytes) + ")"; }
};

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i)
    text += (i ? ", " : "") + (shape[i] < 0 ? "None" : std::to_string(shape[i]));
  return text + ")";
}

std::string output_shape(const LayerState& s) {
  std::vector<Shape> shapes = s.built_at_once ? std::vector<Shape>() : s.outputs_of_first_call();
  for (const auto& node : s.nodes)
    if (const auto alive = node.lock()) shapes = alive->shapes;
  if (shapes.empty()) return "?";
  if (shapes.size() == 1) return shape_text(shapes[0]);
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "[" : ", ") + shape_text(shape);
  return text + "]";
}

class Summary {
 public:
  Summary(const Model& model, const SummaryOptions& options) : model_(model), options_(options) {
    graph_ = dynamic_cast_to<const Sequential*>(&model) ? nullptr : model.graph();
    if (graph_)
      for (const auto& level : graph_->nodes_by_depth())
        for (const auto& node : level) nodes_.insert(node.get());
    connected_ = graph_ && !is_chain();
  }

  std::string text() const {
    std::vector<double> ends = connected_ ? std::vector{0.3, 0.56, 0.74, 1.0} : std::vector{0.45, 0.80, 1.0};
    int line = connected_ ? 108 : 88;
    std::vector<TextTable::Column> columns{{"Layer (type)", TextTable::Align::kLeft, 0},
                                           {"Output Shape", TextTable::Align::kLeft, 0},
                                           {"Param #", TextTable::Align::kRight, 0}};
    if (connected_) columns.push_back({"Connected to", TextTable::Align::kLeft, 0});
    if (options_.show_trainable) {
      line += 12;
      for (double& e : ends) e *= 0.90;
      ends.push_back(1.0);
      columns.push_back({"Trainable", TextTable::Align::kCenter, 0});
    }
    line = options_.line_length > 0 ? options_.line_length : std::min(line, terminal_columns() - 4);
    int used = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i].width = int(ends[i] * line) - used;
      used += columns[i].width;
    }
    TextTable table(columns, line);
    for (const LayerRef& l : graph_ ? graph_->operations() : model_.layers()) add_rows(l, 0, &table);
    return "Model: \"" + model_.name() + "\"\n" + table.text() + totals();
  }

 private:
  // Whether every step has one input and no layer is used twice.
  bool is_chain() const {
    std::set<const LayerState*> seen;
    for (const auto& level : graph_->nodes_by_depth()) {
      if (level.size() > 1 || level[0]->inputs.size() > 1) return false;
      if (!seen.insert(level[0]->layer.state().get()).second) return false;
    }
    return true;
  }

  std::string connections(const LayerState& s) const {
    std::string text;
    for (const auto& weak : s.nodes) {
      const auto node = weak.lock();
      if (!node || !nodes_.contains(node.get())) continue;
      for (const KerasTensor& x : node->inputs)
        text += (text.empty() ? "" : ", ") + x.name() + "[" + std::to_string(x.node()->number) + "][" +
                std::to_string(x.index()) + "]";
    }
    return text.empty() ? "-" : text;
  }

  void add_rows(const LayerRef& l, int level, TextTable* table) const {
    std::string prefix;
    for (int i = 0; i < level; ++i) prefix += "   ";
    if (level > 0) prefix += "└ ";
    l->find_children();
    const LayerState& s = *l.state();
    std::vector<std::string> cells{prefix + l->name() + " (" + l->class_name() + ")", output_shape(s),
                                   s.built ? with_commas(l->count_params()) : "0 (unbuilt)"};
    if (connected_) cells.push_back(connections(s));
    if (options_.show_trainable) cells.push_back(l->weights().empty() ? "-" : s.trainable ? "Y" : "N");
    table->add_row(std::move(cells));
    if (!options_.expand_nested) return;
    if (const auto* nested = l->as_model())
      for (const LayerRef& inner : nested->layers()) add_rows(inner, level + 1, table);
  }

  std::string totals() const {
    Total trainable, frozen, all;
    trainable.add(model_.trainable_weights());
    frozen.add(model_.non_trainable_weights());
    all.add(model_.weights());
    std::string optimizer;
    if (model_.compiled() && model_.optimizer().built()) {
      Total own;
      own.add(model_.optimizer().variables());
      all.add(model_.optimizer().variables());
      optimizer = " Optimizer params: " + own.text() + "\n";
    }
    return " Total params: " + all.text() + "\n Trainable params: " + trainable.text() +
           "\n Non-trainable params: " + frozen.text() + "\n" + optimizer;
  }

  const Model& model_;
  SummaryOptions options_;
  const FunctionalGraph* graph_;
  std::set<const GraphNode*> nodes_;
  bool connected_;
};

}  // namespace

std::string Model::summary_text(const SummaryOptions& options) const {
  return Summary(object(), options).text();
}
void Model::summary(const SummaryOptions& options) const { console() << summary_text(options) << std::flush; }

}  // namespace rw::keras
