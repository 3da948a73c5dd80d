// What was computed under tapes while a memory budget is set: recipes in the
// order of execution, and which of their values are in memory. When the
// allocator has no room, the history drops the values that are cheapest to make
// again and will be wanted last; touching one makes it again (runtime/touch.h).
//
// Which value is dropped. A tape is played backwards, so a value is wanted the
// later the further it lies behind the current place. The history drops the
// value with the least
//     cost of making it again / (bytes * distance to the current place).
// For a *cut*, a value through which alone the history goes on (as a chain's
// state), the cost is that of everything between the neighbouring cuts in
// memory: dropping it makes one gap of two. So kept cuts lie the closer the
// nearer they are to the current place, by equal ratios; while the backward
// pass fills a gap it places cuts in it by the same rule. That is within some
// percent of the optimal (binomial) schedule, and needs no knowledge of the
// length. For other values it is their own cost and that of missing inputs; for
// what a backward pass makes (under another tape), that of the pass so far.
//
// Each thread writes a line of its own: places, cuts and the place of a backward
// pass mean nothing between threads. They share the memory, so the least of all
// lines goes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewind/base/small_vector.h"
#include "rewind/runtime/history_line.h"
#include "rewind/runtime/history_lock.h"
#include "rewind/runtime/recipe.h"
#include "rewind/runtime/spill_file.h"

namespace rw {

struct HistoryStats {
  int64_t droppable = 0;  // bytes in memory that could be dropped now
  int64_t pinned = 0;     // bytes of written down values that ops read right now
  int64_t written = 0;    // calls written down since the start
  int64_t remade = 0;     // calls run again
  int64_t dropped = 0;    // values dropped for lack of room
  int64_t spilled = 0;    // bytes in the file now
  int64_t read_back = 0;  // values read from it since the start
};

// A written down value that ops read right now.
struct PinnedValue {
  Form form;
  const Op* op;
};

class History {
 public:
  // Values up to this size lie in shared slabs, where dropping one frees
  // nothing for others.
  static constexpr int64_t kSmallest = int64_t{16} << 10;

  static History& get();
  HistoryLock mutex;  // everything below requires it

  // Writes down a call that was just run: its large outputs become movable.
  void write(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
             std::span<Value> outputs);

  void pin(RecipeOutput& o);
  void unpin(RecipeOutput& o);
  // Makes the value again if it is dropped, with everything it needs;
  // iteratively.
  void make(RecipeOutput& wanted);
  // Gives the value to the storage for good: it is never dropped from now on.
  // It must be in memory.
  void settle(Storage& storage);
  void release(Recipe* recipe);
  void handle_gone(RecipeOutput& o);

  bool drop_one();
  // Where values may go that are cheaper to read than to make again; off until
  // it is opened.
  SpillFile spill;
  // No tape will play history back any more: if what tensors hold is in memory
  // it stays there, and the rest is forgotten.
  void forget();
  const Form& form_of(const RecipeOutput& o) const { return forms_[o.form]; }
  size_t bytes_of(const RecipeOutput& o) const { return size_t(forms_[o.form].bytes); }

  HistoryStats stats() const;
  std::vector<PinnedValue> pinned() const;

  // A line that no thread writes on.
  HistoryLine& take_line();
  void leave_line(HistoryLine& line);

 private:
  struct Frame {
    RecipeOutput* wanted;
    SmallVector<RecipeOutput*, 2> pinned;
  };

  History() = default;
  HistoryLine& line_of(const Recipe& r) const { return *lines_[r.line]; }
  bool is_cut(const Recipe& r) const;
  void arrive(RecipeOutput& o, void* data);  // in memory, on a list
  void leave(RecipeOutput& o);               // off its list
  void free_data(RecipeOutput& o);
  void discard(RecipeOutput& o);  // also the copy in the file
  bool spill_out(RecipeOutput& o);
  bool read_back(RecipeOutput& o);
  void erase_copy(RecipeOutput& o);
  bool wanted_later(const RecipeOutput& o) const;
  void note_uses(const Recipe& r);
  void run_again(Recipe& r, const RecipeOutput& wanted);
  double staleness(const RecipeOutput& o, const Recipe& r) const;
  bool absent(const RecipeInput& in) const;
  double kept_before(const Recipe& r) const;
  double work_before(const Recipe& r) const;
  double work_to_make(RecipeOutput& o) const;
  double work_after(Recipe& r) const;

  std::vector<std::unique_ptr<HistoryLine>> lines_;
  std::vector<HistoryLine*> free_lines_;
  std::vector<RecipeOutput*> loose_;                        // values in memory that are no cuts
  std::unordered_map<const RecipeOutput*, int64_t> filed_;  // where the copies lie
  std::vector<Frame> frames_;
  RecipeStore recipes_;
  Forms forms_;
  uint32_t clock_ = 0;
  uint32_t random_ = 1;
  bool short_ = false;  // something was dropped: cuts that only recipes want are
                        // worth keeping
  int64_t live_ = 0;    // recipes
  int64_t lost_ = 0;    // values that tensors hold and that are not in memory
  HistoryStats stats_;
};

// Tapes announce themselves: the history is kept while one lives.
void open_history();
void close_history();
HistoryStats history_stats();
std::vector<PinnedValue> history_pinned();

void leave_history(Storage& storage);

}  // namespace rw
