// The history (runtime/history.h) by threads: each writes a line of its own, with places, cuts and a backward
// pass that mean nothing to the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace rw {

struct Recipe;

// What one thread wrote down, and threads after it: one that ends leaves its line to the next.
struct HistoryLine {
  static constexpr uint32_t kForward = ~uint32_t{0};
  struct Cut {
    uint32_t place;
    Recipe* recipe;
  };

  uint16_t number = 0;                  // among the lines
  std::vector<Cut> cuts;                // in memory or in the file, by place
  std::vector<uint32_t> cut_places;     // of all cuts so far, rising
  std::atomic<uint32_t> next_place{0};  // its thread may read it without the lock
  uint32_t cursor = kForward;           // where the backward pass is
  double total_cost = 0;
  double rewind_start = 0;  // total_cost when the backward pass began
  int64_t live = 0;         // recipes

  uint32_t now() const { return std::min(cursor, next_place.load(std::memory_order_relaxed)); }
  // The first cut that is not before this place.
  std::vector<Cut>::iterator cut_from(uint32_t place);
  // Nothing on it is wanted any more: places start anew.
  void clear();
};

// The line that this thread writes on, for a tape to come back to, and the place of what is written next.
HistoryLine& history_line();
inline uint32_t history_place() { return history_line().next_place.load(std::memory_order_relaxed); }
// While it lives a backward pass goes through a line, at the places it is told; what this thread writes down
// goes there. Without a budget it does nothing.
class HistoryRewind {
 public:
  explicit HistoryRewind(HistoryLine* line);
  ~HistoryRewind();
  HistoryRewind(const HistoryRewind&) = delete;
  HistoryRewind& operator=(const HistoryRewind&) = delete;
  void to(uint32_t place) {
    if (line_) [[unlikely]]
      move_to(place);
  }

 private:
  void move_to(uint32_t place);
  HistoryLine* line_;  // nullptr: there is no budget
  HistoryLine* written_before_ = nullptr;
  uint32_t cursor_before_ = 0;
};

}  // namespace rw
