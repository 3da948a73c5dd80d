#include "rewind/runtime/history_line.h"

#include <mutex>

#include "rewind/base/thread_own.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/history.h"

namespace rw {
namespace {

constinit thread_local HistoryLine* written_line = nullptr;  // where the thread writes now

// The line of a thread goes to another one behind it.
struct OwnLine {
  HistoryLine* line = nullptr;
  ~OwnLine() {
    written_line = nullptr;
    if (!line) return;
    History& h = History::get();
    const std::lock_guard lock(h.mutex);
    h.leave_line(*line);
  }
};

}  // namespace

std::vector<HistoryLine::Cut>::iterator HistoryLine::cut_from(uint32_t place) {
  return std::lower_bound(cuts.begin(), cuts.end(), place,
                          [](const HistoryLine::Cut& c, uint32_t p) { return c.place < p; });
}

void HistoryLine::clear() {
  cut_places.clear();
  next_place.store(0, std::memory_order_relaxed);
  total_cost = rewind_start = 0;
}

HistoryLine& history_line() {
  if (!written_line) {
    History& h = History::get();
    const std::lock_guard lock(h.mutex);
    written_line = ThreadOwn<OwnLine>::get().line = &h.take_line();
  }
  return *written_line;
}

HistoryRewind::HistoryRewind(HistoryLine* line) : line_(cpu_memory_limit() > 0 ? line : nullptr) {
  if (!line_) return;
  written_before_ = &history_line();
  const std::lock_guard lock(History::get().mutex);
  written_line = line_;
  cursor_before_ = line_->cursor;
  if (cursor_before_ == HistoryLine::kForward) line_->rewind_start = line_->total_cost;
  line_->cursor = line_->next_place.load(std::memory_order_relaxed);
}

HistoryRewind::~HistoryRewind() {
  if (!line_) return;
  const std::lock_guard lock(History::get().mutex);
  line_->cursor = cursor_before_;
  written_line = written_before_;
}

void HistoryRewind::move_to(uint32_t place) {
  const std::lock_guard lock(History::get().mutex);
  line_->cursor = place;
}

}  // namespace rw
