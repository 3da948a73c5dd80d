// A profile of a run, for chrome://tracing and Perfetto:
//
//   rw::profiler::start();
//   step(x, y);
//   rw::profiler::stop("step.json");
//
// Any thread may start and end it; it sees all threads.
#pragma once

#include <string>

namespace rw::profiler {

void start();
// Writes Chrome's trace format. Throws if the file cannot be written.
void stop(const std::string& file);
// Ends collecting and gives a table instead: time by name, the longest first.
std::string stop_as_table();

}  // namespace rw::profiler
