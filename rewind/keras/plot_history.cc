#include "rewind/keras/plot_history.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"

namespace rw::keras {
namespace {

// Pixels of a panel; the frame lies inside, with room for numbers around it.
constexpr double kWidth = 430, kHeight = 290;
constexpr double kLeft = 58, kRight = 62, kTop = 46, kBottom = 40;
constexpr double kFrameWidth = kWidth - kLeft - kRight, kFrameHeight = kHeight - kTop - kBottom;
constexpr double kHead = 44;  // above the panels: title and legend

struct Panel {
  std::string name;
  std::vector<double> training, validation;
};

std::string px(double value) { return fixed_text(value, 1); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

// "loss" and "val_loss" share a panel; the loss comes first.
std::vector<Panel> panels_of(const History& history) {
  std::vector<Panel> panels;
  for (const auto& [name, values] : history.history) {
    const bool validation = name.rfind("val_", 0) == 0;
    const std::string plain = validation ? name.substr(4) : name;
    auto at = std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.name == plain; });
    if (at == panels.end()) at = panels.insert(at, Panel{plain, {}, {}});
    (validation ? at->validation : at->training) = values;
  }
  std::stable_sort(panels.begin(), panels.end(),
                   [](const Panel& a, const Panel& b) { return a.name == "loss" && b.name != "loss"; });
  return panels;
}

// ---- scales -----------------------------------------------------------------------------------------------

struct Scale {
  double low = 0, high = 1;
  bool log = false;
  std::vector<double> ticks;
  double place(double value) const {  // 0 to 1
    return log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
               : (value - low) / (high - low);
  }
};

double nice_step(double range, int count) {
  const double raw = range / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

Scale value_scale(const Panel& panel) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const auto* values : {&panel.training, &panel.validation})
    for (const double v : *values)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (low > high) low = 0, high = 1;
  Scale s;
  if (low > 0 && high / low >= 50) {
    s.log = true;
    s.low = low / 1.2;
    s.high = high * 1.2;
    const auto first = int(std::floor(std::log10(s.low)));
    const auto last = int(std::ceil(std::log10(s.high)));
    const bool many = last - first > 3;
    for (int p = first; p <= last; ++p)
      for (const double factor : {1.0, 2.0, 5.0})
        if (const double t = factor * std::pow(10.0, p);
            t >= s.low && t <= s.high && (factor == 1.0 || !many))
          s.ticks.push_back(t);
    return s;
  }
  if (high - low < 1e-12 * std::max(1.0, std::abs(high))) {
    const double room = high == 0 ? 1 : std::abs(high) * 0.1;
    low -= room;
    high += room;
  }
  const double step = nice_step(high - low, 4);
  s.low = std::floor(low / step) * step;
  s.high = std::ceil(high / step) * step;
  for (int i = 0; i <= int(std::lround((s.high - s.low) / step)); ++i) s.ticks.push_back(s.low + i * step);
  return s;
}

Scale epoch_scale(const History& history, size_t count) {
  Scale s;
  s.low = history.epoch.empty() ? 1 : double(history.epoch.front() + 1);
  s.high = s.low + double(count) - 1;
  const double step = std::max(1.0, std::ceil(nice_step(std::max(1.0, s.high - s.low), 6)));
  for (double t = std::ceil(s.low / step) * step; t <= s.high; t += step) s.ticks.push_back(t);
  if (s.ticks.empty() ||
      (s.ticks.front() > s.low && (s.ticks.front() - s.low) / std::max(1.0, s.high - s.low) > 0.1))
    s.ticks.insert(s.ticks.begin(), s.low);
  if (s.high == s.low) s.low -= 0.5, s.high += 0.5;
  return s;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  return general_text(value, std::abs(value) < 1e-3 ? 2 : 4);
}

// ---- drawing ----------------------------------------------------------------------------------------------

class Picture {
 public:
  Picture(const History& history, const PlotOptions& options) : history_(history), options_(options) {}

  std::string draw() {
    const std::vector<Panel> panels = panels_of(history_);
    if (panels.empty() || history_.epoch.empty())
      fail_invalid("plot_history", "the history is empty: train at least one epoch");
    const size_t columns = std::min<size_t>(panels.size(), 2);
    const size_t rows = (panels.size() + columns - 1) / columns;
    const double width = kWidth * double(columns);
    const double height = kHead + kHeight * double(rows);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(width) + "\" height=\"" + px(height) +
           "\" viewBox=\"0 0 " + px(width) + " " + px(height) + "\" role=\"img\">\n";
    out_ += "<title>" + escaped(options_.title.empty() ? "Training history" : options_.title) + "</title>\n";
    style();
    out_ += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    head(width,
         std::any_of(panels.begin(), panels.end(), [](const Panel& p) { return !p.validation.empty(); }));
    for (size_t i = 0; i < panels.size(); ++i) {
      const size_t row = i / columns, column = i % columns;
      panel(panels[i], kWidth * double(column), kHead + kHeight * double(row));
    }
    return out_ + "</svg>\n";
  }

 private:
  void style() {
    const std::string light =
        ".ground{fill:#ffffff}.ink{fill:#1f2933}.soft{fill:#5f6b7a}.grid{stroke:#e3e8ee}.axis{stroke:#9aa5b1}"
        ".t{stroke:#2563eb}.tf{fill:#2563eb}.v{stroke:#c2570c}.vf{fill:#c2570c}";
    const std::string dark =
        ".ground{fill:#12161c}.ink{fill:#e6eaef}.soft{fill:#9fabb9}.grid{stroke:#2a323d}.axis{stroke:#5b6776}"
        ".t{stroke:#6ea8fe}.tf{fill:#6ea8fe}.v{stroke:#fdba74}.vf{fill:#fdba74}";
    out_ +=
        "<style>text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}"
        ".name{font-size:14px;font-weight:600}.title{font-size:16px;font-weight:600}.grid,.axis{stroke-width:"
        "1}"
        "polyline{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.v{stroke-dasharray:6 "
        "4}"
        "circle{stroke:none}";
    out_ += options_.theme == "dark" ? dark : light;
    if (options_.theme == "auto") out_ += "@media(prefers-color-scheme:dark){" + dark + "}";
    out_ += "</style>\n";
  }

  void text(double x, double y, const std::string& what, const char* classes, const char* anchor) {
    out_ += "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" class=\"" + classes + "\" text-anchor=\"" +
            anchor + "\">" + escaped(what) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const char* cls) {
    out_ += "<line x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) + "\" y2=\"" + px(y2) +
            "\" class=\"" + cls + "\"/>\n";
  }

  void head(double width, bool validated) {
    if (!options_.title.empty()) text(kLeft, 28, options_.title, "ink title", "start");
    double right = width - kRight;
    const auto entry = [&](const char* name, const char* stroke, double room) {
      text(right, 28, name, "soft", "end");
      out_ += "<polyline points=\"" + px(right - room - 30) + ",24 " + px(right - room - 6) +
              ",24\" class=\"" + stroke + "\"/>\n";
      right -= room + 46;
    };
    if (validated) entry("validation", "v", 58);
    entry("training", "t", 48);
  }

  void panel(const Panel& p, double x, double y) {
    const Scale values = value_scale(p);
    const Scale epochs = epoch_scale(history_, std::max(p.training.size(), p.validation.size()));
    const double left = x + kLeft;
    const double bottom = y + kTop + kFrameHeight;
    text(left, y + kTop - 16, p.name, "ink name", "start");
    for (const double t : values.ticks) {
      const double at = bottom - values.place(t) * kFrameHeight;
      line(left, at, left + kFrameWidth, at, "grid");
      text(left - 8, at + 4, tick_text(t), "soft", "end");
    }
    line(left, bottom, left + kFrameWidth, bottom, "axis");
    for (const double t : epochs.ticks) {
      const double at = left + epochs.place(t) * kFrameWidth;
      line(at, bottom, at, bottom + 4, "axis");
      text(at, bottom + 18, fixed_text(t, 0), "soft", "middle");
    }
    text(left + kFrameWidth, bottom + 34, "epoch", "soft", "end");
    const double count = double(std::max(p.training.size(), p.validation.size()));
    const double t_end = curve(p.training, count, values, epochs, left, bottom, "t", "tf");
    const double v_end = curve(p.validation, count, values, epochs, left, bottom, "v", "vf");
    last_values(p, left + kFrameWidth + 8, t_end, v_end);
  }

  // Returns the height at which it ends; NaN: it has no points.
  double curve(const std::vector<double>& list, double epochs_drawn, const Scale& values, const Scale& epochs,
               double left, double bottom, const char* stroke, const char* fill) {
    double end = NAN;
    if (list.empty()) return end;
    // Validation now and then: its points stand at the ends of equal stretches.
    const double every = epochs_drawn / double(list.size());
    const double first = history_.epoch.empty() ? 1 : double(history_.epoch.front() + 1);
    std::string points;
    std::string dots;
    const auto flush = [&] {
      if (!points.empty())
        out_ += "<polyline points=\"" + points + "\" class=\"" + std::string(stroke) + "\"/>\n";
      points.clear();
    };
    for (size_t i = 0; i < list.size(); ++i) {
      if (!std::isfinite(list[i])) {
        flush();
        continue;
      }
      const double at_x = left + epochs.place(first - 1 + every * double(i + 1)) * kFrameWidth;
      end = bottom - values.place(list[i]) * kFrameHeight;
      points += px(at_x) + "," + px(end) + " ";
      dots += "<circle cx=\"" + px(at_x) + "\" cy=\"" + px(end) + "\" r=\"2.6\" class=\"" + fill + "\"/>";
    }
    flush();
    if (list.size() <= 30) out_ += dots + "\n";
    return end;
  }

  // The last numbers, beside the ends of their curves and apart from each other.
  void last_values(const Panel& p, double x, double t_end, double v_end) {
    constexpr double kApart = 15;
    if (!std::isnan(t_end) && !std::isnan(v_end) && std::abs(t_end - v_end) < kApart) {
      const double middle = (t_end + v_end) / 2;
      const double sign = t_end <= v_end ? -1 : 1;
      t_end = middle + sign * kApart / 2;
      v_end = middle - sign * kApart / 2;
    }
    const auto last = [](const std::vector<double>& list) {
      return std::find_if(list.rbegin(), list.rend(), [](double v) { return std::isfinite(v); });
    };
    if (!std::isnan(t_end)) text(x, t_end + 4, general_text(*last(p.training), 4), "tf", "start");
    if (!std::isnan(v_end)) text(x, v_end + 4, general_text(*last(p.validation), 4), "vf", "start");
  }

  const History& history_;
  const PlotOptions& options_;
  std::string out_;
};

}  // namespace

std::string plot_history_svg(const History& history, const PlotOptions& options) {
  if (options.theme != "auto" && options.theme != "light" && options.theme != "dark")
    fail_invalid("plot_history", "theme must be auto, light or dark: it is " + options.theme);
  return Picture(history, options).draw();
}

void plot_history(const History& history, const std::string& path, const PlotOptions& options) {
  const std::string svg = plot_history_svg(history, options);
  std::ofstream file(path, std::ios::trunc);
  file << svg << std::flush;
  if (!file) fail_invalid("plot_history", path + " cannot be written");
}

}  // namespace rw::keras
