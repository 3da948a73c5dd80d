// Curves of training as a picture: one panel a metric, training beside validation.
//   keras::plot_history(model.fit(x, y, ...), "run.svg");
#pragma once

#include <string>

#include "rewind/keras/callbacks.h"

namespace rw::keras {

struct PlotOptions {
  std::string title = "";
  // "light", "dark", or "auto": the colours follow the viewer's scheme.
  std::string theme = "auto";
};
// Throws InvalidArgumentError when there is nothing to draw, or the file cannot be written.
void plot_history(const History& history, const std::string& path, const PlotOptions& options = {});
std::string plot_history_svg(const History& history, const PlotOptions& options = {});

}  // namespace rw::keras
