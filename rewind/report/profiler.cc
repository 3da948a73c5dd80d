#include "rewind/report/profiler.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/runtime/profile.h"

namespace rw::profiler {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32) out += ' ';
    else out += c;
  }
  return out + "\"";
}

std::string microseconds(int64_t ns) { return fixed_text(double(ns) / 1e3, 3); }
std::string milliseconds(int64_t ns) { return right_aligned(fixed_text(double(ns) / 1e6, 3), 10) + " ms"; }

}  // namespace

void start() { start_profiling(); }

void stop(const std::string& file) {
  const std::vector<ProfileSpan> spans = stop_profiling();
  std::ofstream out(file);
  if (!out) fail_invalid("profiler", "cannot write " + file);
  out << "{\"traceEvents\":[\n";
  const char* comma = "";
  const int64_t origin = spans.empty() ? 0 : spans.front().start_ns;
  for (const ProfileSpan& s : spans) {
    out << comma << "{\"ph\":\"X\",\"pid\":1,\"tid\":" << std::to_string(s.thread)
        << ",\"ts\":" << microseconds(s.start_ns - origin)
        << ",\"dur\":" << microseconds(s.end_ns - s.start_ns) << ",\"name\":" << quoted(s.name)
        << ",\"args\":{\"what\":" << quoted(s.detail) << "}}";
    comma = ",\n";
  }
  out << "\n]}\n";
  if (!out.flush()) fail_invalid("profiler", "cannot write " + file);
}

std::string stop_as_table() {
  struct Row {
    int64_t ns = 0;
    int count = 0;
  };
  std::map<std::string, Row> rows;
  int64_t total = 0;
  for (const ProfileSpan& s : stop_profiling()) {
    Row& r = rows[s.detail.empty() ? s.name : s.name + "  " + s.detail];
    r.ns += s.end_ns - s.start_ns;
    ++r.count;
    total += s.end_ns - s.start_ns;
  }
  std::vector<std::pair<std::string, Row>> list(rows.begin(), rows.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  std::string text;
  for (const auto& [name, row] : list) {
    const double share = total ? 100.0 * double(row.ns) / double(total) : 0;
    text += milliseconds(row.ns) + " " + right_aligned(fixed_text(share, 1), 5) + "% " +
            right_aligned(std::to_string(row.count), 6) + " x  " + name.substr(0, 300) + "\n";
  }
  return text + milliseconds(total) + " in all\n";
}

}  // namespace rw::profiler
