// A memory plan as a page for the browser: what is alive when, the budget, the largest tensors with their
// lines, and the curve of time against memory. One file without scripts or anything from a network.
//
//   auto step = rw::function(train, {.memory_budget = 256_MiB});
//   step(x, y);
//   rw::memory::write_report("report.html");
#pragma once

#include <string>

namespace rw {
struct MemoryReport;
}

namespace rw::memory {

// The function that was planned last: by a first call under a budget, or by memory_plan(). Throws
// FailedPreconditionError when there was none, and
// InvalidArgumentError if the file cannot be written.
void write_report(const std::string& file);
// Of what memory_plan() gave.
void write_report(const std::string& file, const MemoryReport& plan);

// The page itself.
std::string report_page(const MemoryReport& plan);

}  // namespace rw::memory
