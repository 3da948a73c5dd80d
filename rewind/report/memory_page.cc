#include "rewind/report/memory_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/base/readable.h"
#include "rewind/compiler/memory/budget.h"
#include "rewind/report/memory_page_style.h"

namespace rw::memory {
namespace {

constexpr int kColumns = 480;  // of the timeline, at most
constexpr int kBars = 28;      // tensors that get a bar
constexpr int kRows = 40;      // of the table of tensors
constexpr double kWidth = 1000, kLeft = 86, kRight = 24, kTop = 14;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out;
}

std::string number(double x, int digits = 1) { return fixed_text(x, digits); }

// "path/to/file.cc:12" without folders; the whole stays as a tooltip.
std::string short_site(const std::string& site) {
  const size_t slash = site.rfind('/');
  return slash == std::string::npos ? site : site.substr(slash + 1);
}

// Round steps for an axis up to `most`.
double axis_step(double most) {
  const double raw = most / 4;
  if (raw <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double f : {1.0, 2.0, 5.0, 10.0})
    if (f * power >= raw) return f * power;
  return raw;
}
double bytes_step(double most) {
  double step = 1;
  while (step * 5 < most) step *= 2;
  return step;
}

// A drawing with an axis on the left. y runs from 0 at the bottom to `most` at the top.
class Chart {
 public:
  Chart(double height, double most) : height_(height), most_(most > 0 ? most : 1) {}
  double x(double share) const { return kLeft + share * (kWidth - kLeft - kRight); }
  double y(double value) const { return kTop + (1 - value / most_) * (height_ - kTop); }
  void add(const std::string& element) { inside_ += element + "\n"; }
  template <class Label>
  void axis(double step, Label label) {
    for (double v = 0; v <= most_ * 1.0001; v += step) {
      add("<line class=\"grid\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth - kRight) + "\" y1=\"" +
          number(y(v)) + "\" y2=\"" + number(y(v)) + "\"/>");
      add("<text class=\"tick end\" x=\"" + number(kLeft - 8) + "\" y=\"" + number(y(v) + 4) + "\">" +
          label(v) + "</text>");
    }
  }
  void area(const char* kind, const std::vector<double>& low, const std::vector<double>& high) {
    std::string path;
    const double n = std::max<double>(1, double(low.size()));
    for (size_t i = 0; i < high.size(); ++i)
      path += (i ? "L" : "M") + number(x(double(i) / n)) + " " + number(y(high[i])) + "L" +
              number(x(double(i + 1) / n)) + " " + number(y(high[i]));
    for (size_t i = low.size(); i-- > 0;)
      path += "L" + number(x(double(i + 1) / n)) + " " + number(y(low[i])) + "L" + number(x(double(i) / n)) +
              " " + number(y(low[i]));
    add("<path class=\"" + std::string(kind) + "\" d=\"" + path + "Z\"/>");
  }
  std::string svg(const char* id, const char* title) const {
    return "<svg id=\"" + std::string(id) + "\" viewBox=\"0 0 " + number(kWidth, 0) + " " +
           number(height_ + 30, 0) + "\" role=\"img\" aria-label=\"" + title + "\">\n" + inside_ + "</svg>\n";
  }
  double height() const { return height_; }

 private:
  double height_, most_;
  std::string inside_;
};

// Bytes alive by column: kept from their first run, and made by a second one.
struct Timeline {
  std::vector<double> kept, again;

  explicit Timeline(const MemoryReport& plan) {
    const int steps = std::max(1, plan.num_steps);
    std::vector<int64_t> change[2] = {std::vector<int64_t>(size_t(steps) + 1, 0),
                                      std::vector<int64_t>(size_t(steps) + 1, 0)};
    for (const MemoryReport::Life& l : plan.lives) {
      change[l.again][size_t(l.first)] += l.bytes;
      change[l.again][size_t(l.last) + 1] -= l.bytes;
    }
    const int columns = std::min(steps, kColumns);
    kept.assign(size_t(columns), 0);
    again.assign(size_t(columns), 0);
    int64_t now[2] = {0, 0};
    for (int i = 0; i < steps; ++i) {
      for (int k = 0; k < 2; ++k) now[k] += change[k][size_t(i)];
      const size_t c = size_t(int64_t(i) * columns / steps);
      // A column shows its fullest step.
      if (double(now[0] + now[1]) < kept[c] + again[c]) continue;
      kept[c] = double(now[0]);
      again[c] = double(now[1]);
    }
  }
};

std::string legend(std::initializer_list<std::pair<const char*, std::string>> entries) {
  std::string html = "<p class=\"legend\">";
  for (const auto& [kind, text] : entries)
    html += "<span><i class=\"" + std::string(kind) + "\"></i>" + text + "</span>";
  return html + "</p>\n";
}

std::string timeline(const MemoryReport& plan) {
  const Timeline t(plan);
  int64_t loop_bytes = 0;
  for (const MemoryReport::Loop& l : plan.loops)
    loop_bytes += l.state_bytes * (l.steps >= 0 ? std::min(l.steps, l.states) : l.states);
  const size_t n = t.kept.size();
  std::vector<double> zero(n, 0), held(n, double(plan.held)), loops, kept, again;
  double most = double(plan.budget);
  for (size_t i = 0; i < n; ++i) {
    loops.push_back(held[i] + double(loop_bytes));
    kept.push_back(loops[i] + t.kept[i]);
    again.push_back(kept[i] + t.again[i]);
    most = std::max(most, again[i]);
  }
  Chart chart(340, std::max(most, double(plan.predicted_peak)) * 1.06);
  chart.axis(bytes_step(most), [](double v) { return readable_bytes(int64_t(v), 1); });
  chart.area("held", zero, held);
  if (loop_bytes > 0) chart.area("states", held, loops);
  chart.area("kept", loops, kept);
  chart.area("again", kept, again);
  const auto level = [&](const char* kind, double value, const std::string& text) {
    chart.add("<line class=\"" + std::string(kind) + "\" x1=\"" + number(kLeft) + "\" x2=\"" +
              number(kWidth - kRight) + "\" y1=\"" + number(chart.y(value)) + "\" y2=\"" +
              number(chart.y(value)) + "\"/>");
    chart.add("<text class=\"note end\" x=\"" + number(kWidth - kRight - 4) + "\" y=\"" +
              number(chart.y(value) - 5) + "\">" + text + "</text>");
  };
  if (plan.budget > 0) level("budget", double(plan.budget), "budget " + readable_bytes(plan.budget));
  chart.add("<text class=\"tick\" x=\"" + number(kLeft) + "\" y=\"" + number(chart.height() + 20) +
            "\">first step</text>");
  chart.add("<text class=\"tick end\" x=\"" + number(kWidth - kRight) + "\" y=\"" +
            number(chart.height() + 20) + "\">step " + std::to_string(plan.num_steps) + "</text>");
  std::string html = "<h2>What is alive when</h2>\n";
  html += legend({{"held", "parameters, state, inputs"},
                  {"states", "states of loops"},
                  {"kept", "kept since its first run"},
                  {"again", "made by a second run"},
                  {"spilled", "spilled (never: not switched on)"}});
  html +=
      "<p>The predicted peak also holds scratch memory, the gaps between values in the arena and the rest of "
      "its block.</p>\n";
  return html + chart.svg("timeline", "memory by step");
}

std::string bars(const MemoryReport& plan) {
  std::vector<std::vector<const MemoryReport::Life*>> by_tensor(plan.tensors.size());
  for (const MemoryReport::Life& l : plan.lives)
    if (l.tensor >= 0) by_tensor[size_t(l.tensor)].push_back(&l);
  const size_t count = std::min<size_t>(kBars, plan.tensors.size());
  if (count == 0) return {};
  const double row = 17;
  Chart chart(kTop + row * double(count), 1);
  for (size_t i = 0; i < count; ++i) {
    const MemoryReport::Tensor& t = plan.tensors[i];
    const double y = kTop + row * double(i);
    chart.add("<text class=\"tick end\" x=\"" + number(kLeft - 8) + "\" y=\"" + number(y + 11) + "\">" +
              readable_bytes(t.bytes, 1) + "</text>");
    for (const MemoryReport::Life* l : by_tensor[i]) {
      const double steps = std::max(1, plan.num_steps);
      const double from = chart.x(l->first / steps);
      const double to = chart.x((l->last + 1) / steps);
      chart.add("<rect class=\"" + std::string(l->again ? "again" : "kept") + "\" x=\"" + number(from) +
                "\" y=\"" + number(y + 2) + "\" width=\"" + number(std::max(1.5, to - from)) +
                "\" height=\"12\" rx=\"2\"><title>" + escaped(t.op + " " + t.shape) + ", steps " +
                std::to_string(l->first) + " to " + std::to_string(l->last) +
                (t.site.empty() ? "" : ", " + escaped(t.site)) + "</title></rect>");
    }
  }
  return "<h2>The largest tensors, alive and not</h2>\n" + chart.svg("lives", "lives of the largest tensors");
}

std::string tensors(const MemoryReport& plan) {
  std::string html =
      "<h2>Largest tensors</h2>\n<div class=\"scroll\"><table id=\"tensors\">\n<thead><tr><th class=\"num\">"
      "size</th><th>op</th><th>type</th><th>decision</th><th>line</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < plan.tensors.size() && i < kRows; ++i) {
    const MemoryReport::Tensor& t = plan.tensors[i];
    html += "<tr><td class=\"num\">" + readable_bytes(t.bytes) + "</td><td>" + escaped(t.op) +
            "</td><td class=\"code\">" + escaped(t.shape) + "</td><td><i class=\"" +
            (t.recomputed ? "again" : "kept") + "\"></i>" +
            (t.recomputed ? "made again " + std::to_string(t.recomputed) + " x" : "kept") +
            "</td><td class=\"code\" title=\"" + escaped(t.site) + "\">" + escaped(short_site(t.site)) +
            "</td></tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string curve(const MemoryReport& plan) {
  if (plan.curve.empty()) return {};
  double most_extra = 0, most = double(plan.budget), least = double(plan.curve.back().budget);
  for (const MemoryReport::Point& p : plan.curve) {
    most_extra = std::max(most_extra, p.extra_compute);
    most = std::max(most, double(p.budget));
  }
  const double range = std::max(1.0, most - least);
  Chart chart(260, std::max(0.02, most_extra * 1.1));
  chart.axis(axis_step(std::max(0.02, most_extra * 1.1)),
             [](double v) { return "+" + number(100 * v, v < 0.02 ? 1 : 0) + "%"; });
  const auto at = [&](double budget) { return chart.x(0.02 + 0.94 * (budget - least) / range); };
  std::string line;
  for (size_t i = plan.curve.size(); i-- > 0;) {
    const MemoryReport::Point& p = plan.curve[i];
    // A plan serves every budget from its own to that of the next.
    if (!line.empty())
      line += "L" + number(at(double(p.budget))) + " " + number(chart.y(plan.curve[i + 1].extra_compute));
    line +=
        (line.empty() ? "M" : "L") + number(at(double(p.budget))) + " " + number(chart.y(p.extra_compute));
  }
  chart.add("<path class=\"curve\" d=\"" + line + "\"/>");
  for (const MemoryReport::Point& p : plan.curve)
    chart.add("<circle class=\"point\" r=\"4\" cx=\"" + number(at(double(p.budget))) + "\" cy=\"" +
              number(chart.y(p.extra_compute)) + "\"><title>" + readable_bytes(p.budget) + ": " +
              number(100 * p.extra_compute) + "% more work</title></circle>");
  // The plan of this page is the first that its budget holds.
  const auto own = plan.budget == 0 ? plan.curve.begin()
                                    : std::find_if(plan.curve.begin(), plan.curve.end(),
                                                   [&](const auto& p) { return p.budget <= plan.budget; });
  if (own != plan.curve.end())
    chart.add("<circle class=\"own\" r=\"8\" cx=\"" + number(at(double(own->budget))) + "\" cy=\"" +
              number(chart.y(own->extra_compute)) + "\"/>");
  if (plan.budget > 0 && double(plan.budget) >= least) {
    const std::string x = number(at(std::min(most, double(plan.budget))));
    chart.add("<line class=\"budget\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"" + number(kTop) + "\" y2=\"" +
              number(chart.height()) + "\"/>");
  }
  // Near each other, labels would say the same.
  std::string before;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const std::string label = readable_bytes(int64_t(least + share * range), 1);
    if (label == before) continue;
    chart.add("<text class=\"tick middle\" x=\"" + number(at(least + share * range)) + "\" y=\"" +
              number(chart.height() + 20) + "\">" + label + "</text>");
    before = label;
  }
  return "<h2>Time against budget</h2>\n<p>What each budget costs in work, by the planner's model: every "
         "point "
         "is a plan, the ring is this one.</p>\n" +
         chart.svg("curve", "extra work by budget");
}

std::string loops(const MemoryReport& plan) {
  if (plan.loops.empty()) return {};
  std::string html =
      "<h2>Loops</h2>\n<div class=\"scroll\"><table id=\"loops\">\n<thead><tr><th "
      "class=\"num\">iterations</th>"
      "<th class=\"num\">states kept</th><th class=\"num\">a state</th><th "
      "class=\"num\">advances</th><th>line"
      "</th></tr></thead>\n<tbody>\n";
  for (const MemoryReport::Loop& l : plan.loops)
    html += "<tr><td class=\"num\">" + (l.steps < 0 ? "unknown" : std::to_string(l.steps)) +
            "</td><td class=\"num\">" + std::to_string(l.states) + "</td><td class=\"num\">" +
            readable_bytes(l.state_bytes) + "</td><td class=\"num\">" +
            (l.advances < 0 ? "by its length" : std::to_string(l.advances)) + "</td><td class=\"code\">" +
            escaped(short_site(l.site)) + "</td></tr>\n";
  return html + "</tbody></table></div>\n";
}

std::string figures(const MemoryReport& plan) {
  std::string html = "<dl>\n";
  const auto add = [&](const char* name, const std::string& value) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + value + "</dd></div>\n";
  };
  add("predicted peak", readable_bytes(plan.predicted_peak));
  add("budget", plan.budget > 0 ? readable_bytes(plan.budget) : "none");
  add("held by other tensors", readable_bytes(plan.held));
  add("arena", readable_bytes(plan.arena));
  add("results and loops", readable_bytes(plan.owned));
  add("more work", number(100 * plan.extra_compute) + "%");
  add("second runs", std::to_string(plan.second_runs));
  return html + "</dl>\n";
}

}  // namespace

std::string report_page(const MemoryReport& plan) {
  const std::string name = escaped(plan.name.empty() ? "function" : plan.name);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\">\n<title>Memory of " +
         name + "</title>\n<style>\n" + kMemoryPageStyle +
         "</style>\n</head>\n<body>\n<main>\n<h1>Memory of " + name + "</h1>\n" + figures(plan) +
         timeline(plan) + bars(plan) + tensors(plan) + curve(plan) + loops(plan) +
         "</main>\n</body>\n</html>\n";
}

void write_report(const std::string& file, const MemoryReport& plan) {
  std::ofstream out(file, std::ios::binary);
  out << report_page(plan);
  if (!out.flush()) fail_invalid("memory::write_report", "cannot write " + file);
}

void write_report(const std::string& file) {
  const std::shared_ptr<const MemoryReport> plan = last_memory_report();
  if (!plan)
    fail_precondition("memory::write_report",
                      "no function was planned yet: call one under a memory budget, or its memory_plan()");
  write_report(file, *plan);
}

}  // namespace rw::memory
