#include "rewind/keras/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "rewind/base/console.h"
#include "rewind/base/number_text.h"

namespace rw::keras {
inline namespace callbacks {
namespace {

constexpr int kBarWidth = 20;
constexpr double kInterval = 0.05;  // seconds between two drawings

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int terminal_columns() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string rate_text(double seconds) {
  if (seconds >= 1 || seconds == 0) return fixed_text(seconds, 0) + "s/step";
  if (seconds >= 1e-3) return fixed_text(seconds * 1e3, 0) + "ms/step";
  return fixed_text(seconds * 1e6, 0) + "us/step";
}

std::string remaining_text(double seconds) {
  const auto whole = int64_t(seconds);
  const auto two = [](int64_t n) { return ":" + natural_text(uint64_t(n), 10, 2); };
  if (seconds > 3600) return std::to_string(whole / 3600) + two(whole % 3600 / 60) + two(whole % 60);
  if (seconds > 60) return std::to_string(whole / 60) + two(whole % 60);
  return std::to_string(whole) + "s";
}

std::string numbers_text(const Logs* logs) {
  std::string line;
  if (!logs) return line;
  for (const auto& [name, value] : logs->items())
    line +=
        " - " + name + ": " + (std::abs(value) > 1e-3 ? fixed_text(value, 4) : exponential_text(value, 4));
  return line;
}

std::string count_text(int64_t current, int64_t steps) {
  const std::string all = std::to_string(steps);
  const std::string now = std::to_string(current);
  return std::string(all.size() > now.size() ? all.size() - now.size() : 0, ' ') + now + "/" + all;
}

std::string repeated(const char* what, int count) {
  std::string line;
  for (int i = 0; i < count; ++i) line += what;
  return line;
}

// A bar that grew with the steps knows the numbers of validation last.
Logs validation_last(const Logs& logs) {
  Logs ordered;
  for (const bool held : {false, true})
    for (const auto& [name, value] : logs.items())
      if (name.starts_with("val_") == held) ordered.set(name, value);
  return ordered;
}

// Text with its colours, and how many columns it takes.
class Line {
 public:
  // At most so many columns; 0: any number. A line that wraps could not be drawn over.
  explicit Line(int limit) : limit_(limit) {}
  void add(const std::string& plain) {
    const size_t room = limit_ > 0 ? size_t(std::max(limit_ - columns_, 0)) : plain.size();
    const std::string shown = plain.substr(0, room);
    add(shown, "", int(shown.size()));
  }
  void add(const std::string& what, const char* style, int columns) {
    text_ += *style ? std::string(style) + what + "\x1b[0m" : what;
    columns_ += columns;
  }
  void bold(const std::string& what) { add(what, "\x1b[1m", int(what.size())); }
  const std::string& text() const { return text_; }
  int columns() const { return columns_; }

 private:
  std::string text_;
  int limit_;
  int columns_ = 0;
};

}  // namespace

ProgressBar::ProgressBar(const ProgressBarOptions& o)
    : o_(o), terminal_(o.terminal ? *o.terminal : !o.output && isatty(STDOUT_FILENO) == 1) {
  if (!o_.columns && o_.output) o_.columns = [] { return 0; };
  if (!o_.columns) o_.columns = terminal_columns;
  if (!o_.output) o_.output = &console();
  if (!o_.clock) o_.clock = steady_seconds;
}

void ProgressBar::begin() {
  seen_ = 0;
  width_ = 0;
  start_ = o_.clock();
  last_drawn_ = start_ - kInterval;
  after_first_ = -1;
}

double ProgressBar::seconds_per_step(int64_t current, double now) {
  if (current <= 0) return 0;
  // The first step traces and compiles: the rate is that of the others.
  const double per = after_first_ >= 0 && current > 1 ? (now - after_first_) / double(current - 1)
                                                      : (now - start_) / double(current);
  if (current == 1) after_first_ = now;
  return per;
}

void ProgressBar::batch_done(int64_t batch, const Logs* logs) {
  seen_ = batch + 1;
  const double now = o_.clock();
  if (seen_ == 1) after_first_ = now;
  if (params().verbose != 1 || !terminal_ || now - last_drawn_ < kInterval) return;
  draw(seen_, logs, false);
}

void ProgressBar::draw(int64_t current, const Logs* logs, bool last) {
  const double now = o_.clock();
  const int64_t steps = params().steps > 0 ? params().steps : last ? current : -1;
  const double per_step = seconds_per_step(current, now);
  const int columns = o_.columns();
  Line line(last || columns <= 0 ? 0 : std::max(columns - 3, 1));  // ^C stands behind it without wrapping
  if (steps > 0) {
    line.bold(count_text(current, steps));
    line.add(" ");
    const int done = std::clamp(int(double(kBarWidth) * double(current) / double(steps)), 0, kBarWidth);
    if (done > 0) line.add(repeated("━", done), "\x1b[32m", done);
    line.add(repeated("━", kBarWidth - done), "\x1b[37m", kBarWidth - done);
  } else {
    line.add(right_aligned(std::to_string(current), 7) + "/Unknown");
  }
  line.add(" ");
  line.bold(steps > 0 && !last ? remaining_text(per_step * double(steps - current))
                               : fixed_text(now - start_, 0) + "s");
  line.add(" " + rate_text(per_step) + numbers_text(logs));
  std::ostream& out = *o_.output;
  out << '\r' << line.text();
  for (int i = line.columns(); i < width_; ++i) out << ' ';
  if (last) out << "\x1b[K\n";  // the terminal may have written behind the line: ^C
  out << std::flush;
  width_ = line.columns();
  last_drawn_ = now;
}

void ProgressBar::finish(const Logs* logs) {
  if (params().verbose == 0) return;
  Logs in_order;
  if (logs && params().verbose == 1) {
    in_order = validation_last(*logs);
    logs = &in_order;
  }
  const int64_t steps = params().steps > 0 ? params().steps : seen_;
  const int64_t current = seen_ > 0 ? seen_ : steps;
  if (params().verbose == 1 && terminal_) return draw(current, logs, true);
  const double now = o_.clock();
  *o_.output << count_text(current, steps) << " - " << fixed_text(now - start_, 0) << "s - "
             << rate_text(seconds_per_step(current, now)) << numbers_text(logs) << "\n"
             << std::flush;
}

void ProgressBar::set_host(TrainingHost* host) {
  Callback::set_host(host);
  if (!host) in_fit_ = false;  // fit may have ended by an exception
}

void ProgressBar::on_train_begin(Logs&) { in_fit_ = true; }
void ProgressBar::on_train_end(Logs&) { in_fit_ = false; }

void ProgressBar::on_epoch_begin(int64_t epoch, Logs&) {
  begin();
  if (params().verbose != 0 && params().epochs > 1)
    *o_.output << "Epoch " << std::to_string(epoch + 1) << "/" << std::to_string(params().epochs) << "\n"
               << std::flush;
}
void ProgressBar::on_epoch_end(int64_t, Logs& logs) { finish(&logs); }
void ProgressBar::on_train_batch_end(int64_t batch, Logs& logs) { batch_done(batch, &logs); }

// Validation inside fit leaves the line of the epoch alone.
void ProgressBar::on_test_begin(Logs&) {
  if (!in_fit_) begin();
}
void ProgressBar::on_test_batch_end(int64_t batch, Logs& logs) {
  if (!in_fit_) batch_done(batch, &logs);
}
void ProgressBar::on_test_end(Logs& logs) {
  if (!in_fit_) finish(&logs);
}

void ProgressBar::on_predict_begin(Logs&) { begin(); }
void ProgressBar::on_predict_batch_end(int64_t batch, Logs&) { batch_done(batch, nullptr); }
void ProgressBar::on_predict_end(Logs&) { finish(nullptr); }

}  // namespace callbacks
}  // namespace rw::keras
