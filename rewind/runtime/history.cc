#include "rewind/runtime/history.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "rewind/base/readable.h"
#include "rewind/device/memory_budget.h"
#include "rewind/runtime/holdings.h"

namespace rw {
namespace {

constexpr uint8_t kFixed = 1;      // stays where it is
constexpr uint8_t kOfStorage = 2;  // and the memory belongs to a storage
constexpr uint8_t kManyUses = 16;  // read so often that it is no part of any chain: a mask, a table
constexpr uint32_t kLongAgo = 64;  // calls; a cut that lasted so long is worth keeping whatever comes
constexpr size_t kScanned = 256;   // candidates looked at; of more, a sample
constexpr size_t kRow = 48;        // missing values looked at one behind the other

std::atomic<int> g_tapes{0};

bool written_down(const Value& v) {
  return v.size * int64_t(size_of(v.dtype)) > History::kSmallest && !is_host_only(v.dtype) &&
         v.storage->unique() && !v.storage->buffer.foreign() && v.storage->buffer.data() == v.data;
}

}  // namespace

bool drop_values(int64_t bytes) {
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  const Allocator& allocator = cpu_device().allocator();
  const int64_t before = allocator.stats().in_use;
  while (allocator.stats().in_use > before - bytes)
    if (!h.drop_one()) return allocator.stats().in_use < before;
  return true;
}

std::string memory_words() {
  const HistoryStats s = history_stats();
  const std::string held = describe_holdings();
  return (s.written == 0 ? "" : "; " + readable_bytes(s.droppable) + " can still be dropped") +
         (held.empty() ? "" : "; what cannot be dropped: " + held);
}

History& History::get() {
  static auto* history = new History;  // outlives every tensor
  return *history;
}

void History::write(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                    std::span<Value> outputs) {
  bool any = false;
  for (const Value& v : outputs) any |= written_down(v);
  if (!any || inputs.size() > 0xFFFF || outputs.size() >= RecipeOutput::kMost) return;
  HistoryLine& line = history_line();
  Recipe& r = *recipes_.allocate(op, attrs, inputs.size(), outputs.size());
  r.line = line.number;
  r.place = line.next_place.fetch_add(1, std::memory_order_relaxed);
  r.start = line.total_cost;
  r.cost = float(cost_of(op, inputs, outputs));
  line.total_cost += double(r.cost);
  ++clock_;
  ++live_;
  ++line.live;
  ++stats_.written;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = *inputs[i];
    Storage& s = *v.storage;
    RecipeInput& in = *::new (static_cast<void*>(r.inputs() + i)) RecipeInput{};
    in.made = s.recipe != nullptr;
    const void* start = s.buffer.data();
    if (in.made) {
      in.recipe = s.recipe;
      ++s.recipe->refs;
      if (s.recipe->uses < 255) ++s.recipe->uses;
      in.output = s.recipe_output;
      start = s.recipe->outputs()[in.output].data;
    } else {
      in.leaf = Ref<Storage>(&s).release();
    }
    const int64_t offset =
        v.movable() ? v.movable_offset() : static_cast<const char*>(v.data) - static_cast<const char*>(start);
    in.form = forms_.number_of(v.shape, v.dtype, offset);
  }
  // The backward pass goes back to old values; that says nothing of how history
  // went on.
  if (line.cursor == HistoryLine::kForward) {
    note_uses(r);
    if (outputs.size() == 1) line.cut_places.push_back(r.place);
  } else {
    r.backward = true;
    r.missing = float(r.end() - line.rewind_start);
  }
  r.refs = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!written_down(outputs[i])) continue;
    Storage& s = *outputs[i].storage;
    RecipeOutput& o = r.outputs()[i];
    o.form = forms_.number_of(outputs[i].shape, outputs[i].dtype, 0);
    o.handle = &s;
    s.recipe = &r;
    s.recipe_output = uint16_t(i);
    ++r.refs;
    unlist_holding(s);
    arrive(o, s.buffer.release());
    outputs[i].data = reinterpret_cast<void*>(Value::kMovable);  // NOLINT(performance-no-int-to-ptr)
  }
}

// What the call read spans the places from there to here: values born in
// between are no cuts.
void History::note_uses(const Recipe& recipe) {
  auto& r = const_cast<Recipe&>(recipe);
  HistoryLine& line = line_of(r);
  uint32_t oldest = r.place;
  for (size_t i = 0; i < r.num_inputs; ++i) {
    const RecipeInput& in = r.inputs()[i];
    if (in.made && in.recipe->line == r.line && in.recipe->uses < kManyUses)
      oldest = std::min(oldest, in.recipe->place);
  }
  while (!line.cut_places.empty() && line.cut_places.back() > oldest) line.cut_places.pop_back();
  while (!line.cuts.empty() && line.cuts.back().place > oldest) {
    Recipe& old = *line.cuts.back().recipe;
    RecipeOutput& o = old.outputs()[0];
    line.cuts.pop_back();
    old.in_cuts = false;
    old.was_cut = r.place - old.place > kLongAgo;
    if (!o.data) {  // it is in the file
      if (!wanted_later(o)) erase_copy(o);
      continue;
    }
    o.slot = int32_t(loose_.size());
    loose_.push_back(&o);
    if (!o.pins && !wanted_later(o)) discard(o);
  }
}

bool History::is_cut(const Recipe& r) const {
  const std::vector<uint32_t>& places = line_of(r).cut_places;
  if (r.num_outputs != 1 || places.empty() || r.place > places.back()) return false;
  return r.place == places.back() || std::binary_search(places.begin(), places.end(), r.place);
}

void History::arrive(RecipeOutput& o, void* data) {
  o.data = data;
  o.used = clock_;
  if (o.lost) --lost_;
  o.lost = false;
  Recipe& r = o.recipe();
  if (r.in_cuts) return;
  if (is_cut(r)) {
    HistoryLine& line = line_of(r);
    const bool last = line.cuts.empty() || line.cuts.back().place <= r.place;
    line.cuts.insert(last ? line.cuts.end() : line.cut_from(r.place), {r.place, &r});
    r.in_cuts = true;
  } else {
    o.slot = int32_t(loose_.size());
    loose_.push_back(&o);
  }
}

void History::leave(RecipeOutput& o) {
  Recipe& r = o.recipe();
  if (o.slot >= 0) {
    RecipeOutput* last = loose_.back();
    loose_[size_t(o.slot)] = last;
    last->slot = o.slot;
    loose_.pop_back();
    o.slot = -1;
  } else if (r.in_cuts) {
    HistoryLine& line = line_of(r);
    line.cuts.erase(line.cut_from(r.place));
    r.in_cuts = false;
  }
}

void History::free_data(RecipeOutput& o) {
  leave(o);
  if (short_) {
    Recipe& r = o.recipe();
    for (size_t i = 0; i < r.num_inputs; ++i)
      if (r.inputs()[i].made) r.inputs()[i].recipe->heir = &r;
  }
  cpu_device().allocator().deallocate(o.data, bytes_of(o));
  o.data = nullptr;
}

void History::discard(RecipeOutput& o) {
  if (o.data) free_data(o);
  if (o.filed) erase_copy(o);
}

void History::erase_copy(RecipeOutput& o) {
  const auto it = filed_.find(&o);
  spill.erase(it->second, bytes_of(o));
  filed_.erase(it);
  o.filed = 0;
  if (!o.data) leave(o);
}

// A cut stays on the list of cuts: what comes after it can be made from there.
bool History::spill_out(RecipeOutput& o) {
  const size_t bytes = bytes_of(o);
  if (!o.filed) {
    const int64_t at = spill.write(o.data, bytes);
    if (at < 0) return false;
    filed_.emplace(&o, at);
    o.filed = 1;
  }
  if (!o.recipe().in_cuts) leave(o);
  cpu_device().allocator().deallocate(o.data, bytes);
  o.data = nullptr;
  return true;
}

bool History::read_back(RecipeOutput& o) {
  const size_t bytes = bytes_of(o);
  void* data = cpu_device().allocator().allocate(bytes);
  if (!spill.read(filed_.at(&o), data, bytes)) {
    cpu_device().allocator().deallocate(data, bytes);
    erase_copy(o);
    return false;
  }
  ++stats_.read_back;
  arrive(o, data);
  return true;
}

bool History::wanted_later(const RecipeOutput& o) const {
  const Recipe& r = const_cast<RecipeOutput&>(o).recipe();
  return o.handle || o.fixed || (short_ && (r.in_cuts || r.was_cut));
}

void History::pin(RecipeOutput& o) {
  ++o.pins;
  ++o.recipe().refs;
  o.used = clock_;
}

void History::unpin(RecipeOutput& o) {
  if (--o.pins == 0 && !wanted_later(o)) discard(o);
  release(&o.recipe());
}

void History::handle_gone(RecipeOutput& o) {
  if (o.fixed == kFixed) unlist_holding(*o.handle);
  o.handle = nullptr;
  if (o.lost) --lost_;
  o.lost = false;
  if (o.pins == 0 && !wanted_later(o)) discard(o);
}

// Chains are deep: no recursion.
void History::release(Recipe* recipe) {
  if (--recipe->refs > 0) return;
  SmallVector<Recipe*, 16> work{recipe};
  while (!work.empty()) {
    Recipe* r = work.back();
    work.pop_back();
    for (size_t i = 0; i < r->num_outputs; ++i) {
      RecipeOutput& o = r->outputs()[i];
      if (o.fixed == kOfStorage) Ref<Storage>::adopt(o.handle);
      else discard(o);
    }
    for (size_t i = 0; i < r->num_inputs; ++i) {
      RecipeInput& in = r->inputs()[i];
      if (!in.made) {
        Ref<Storage>::adopt(in.leaf);
        continue;
      }
      if (in.recipe->heir == r) in.recipe->heir = nullptr;
      if (--in.recipe->refs == 0) work.push_back(in.recipe);
    }
    HistoryLine& line = line_of(*r);
    recipes_.free(r);
    --live_;
    if (--line.live == 0) line.clear();
  }
  if (live_ > 0) return;
  recipes_.clear();
  short_ = false;
}

void History::settle(Storage& storage) {
  Recipe* r = storage.recipe;
  if (!r) return;
  RecipeOutput& o = r->outputs()[storage.recipe_output];
  make(o);
  if (o.filed) erase_copy(o);
  leave(o);
  if (o.fixed == kFixed) unlist_holding(storage);
  storage.buffer = Buffer::adopt(cpu_device(), o.data, bytes_of(o));
  list_holding({.storage = &storage, .op = r->op, .dtype = form_of(o).dtype, .shape = form_of(o).shape});
  storage.recipe = nullptr;
  if (r->refs == 1) {
    o.data = nullptr;
    o.handle = nullptr;
  } else {
    o.fixed = kOfStorage;
    o.handle = Ref<Storage>(&storage).release();
  }
  release(r);
}

double History::staleness(const RecipeOutput& o, const Recipe& r) const {
  const double age = double(clock_ - o.used) + 1;
  const uint32_t now = line_of(r).now();
  if (r.place > now) return o.handle ? age : 1e12;  // the backward pass has gone by
  return std::min(age, double(now - r.place) + 1);
}

bool History::absent(const RecipeInput& in) const {
  if (!in.made) return false;
  const RecipeOutput& o = in.recipe->outputs()[in.output];
  return !o.data && !o.filed;
}

// What the line cost up to the last cut before this one that need not be made again.
double History::kept_before(const Recipe& r) const {
  HistoryLine& line = line_of(r);
  const auto at = line.cut_from(r.place);
  return at == line.cuts.begin() ? 0 : std::prev(at)->recipe->end();
}

// The row goes back by the youngest missing input, which is the end of the longest way as a rule.
double History::work_before(const Recipe& r) const {
  Recipe* row[kRow];
  size_t n = 0;
  double work = 0;
  auto* at = const_cast<Recipe*>(&r);
  while (true) {
    Recipe* next = nullptr;
    for (size_t i = 0; i < at->num_inputs; ++i) {
      const RecipeInput& in = at->inputs()[i];
      if (absent(in) && (!next || in.recipe->place > next->place)) next = in.recipe;
    }
    if (!next) break;
    if (n == kRow) {
      work = double(next->missing);
      break;
    }
    if (is_cut(*next)) {
      work = next->end() - kept_before(*next);
      break;
    }
    row[n++] = at = next;
  }
  while (n > 0) {
    Recipe& step = *row[--n];
    work += double(step.cost);
    step.missing = step.backward ? std::max(step.missing, float(work)) : float(work);
  }
  return work;
}

double History::work_to_make(RecipeOutput& o) const {
  const Recipe& r = o.recipe();
  if (o.filed) return 0;
  return is_cut(r) ? r.end() - kept_before(r) : double(r.cost) + work_before(r);
}

double History::work_after(Recipe& r) const {
  double work = 0;
  const Recipe* at = r.heir;
  for (size_t n = 0; at && at->place <= line_of(*at).now(); ++n, at = at->heir) {
    const RecipeOutput& o = const_cast<Recipe*>(at)->outputs()[0];
    if (o.data || o.filed) break;
    if (n == kRow) {
      work += double(at->after);
      break;
    }
    work += double(at->cost);
  }
  r.after = float(work);
  return work;
}

bool History::drop_one() {
  RecipeOutput* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  double again = 0;
  bool to_file = false;
  auto consider = [&](RecipeOutput& o, double cost, double missing) {
    if (o.pins) return;
    const size_t bytes = bytes_of(o);
    const Recipe& r = o.recipe();
    bool file = false;
    if (spill.on() && (o.handle || r.place <= line_of(r).now()) && (o.filed || spill.fits(bytes))) {
      const double io = spill.read_cost(bytes) + (o.filed ? 0 : spill.write_cost(bytes));
      if (io < cost) {
        file = true;
        cost = io;
        missing = spill.read_cost(bytes);
      }
    }
    const double worth = cost / (double(bytes) * staleness(o, r));
    if (worth >= least) return;
    least = worth;
    best = &o;
    again = missing;
    to_file = file;
  };
  auto consider_cut = [&](const std::vector<HistoryLine::Cut>& cuts, size_t i) {
    Recipe& r = *cuts[i].recipe;
    if (!r.outputs()[0].data) return;
    const double from = i == 0 ? 0 : cuts[i - 1].recipe->end();
    const double to = i + 1 == cuts.size() ? r.end() : cuts[i + 1].recipe->start;
    consider(r.outputs()[0], to - from, r.end() - from);
  };
  auto consider_loose = [&](size_t i) {
    RecipeOutput& o = *loose_[i];
    Recipe& r = o.recipe();
    const double before = double(r.cost) + work_before(r);
    const double all = before + work_after(r);
    consider(o, r.backward ? std::max(all, double(r.missing)) : all, before);
  };
  auto look = [&](size_t count, auto&& at) {
    if (count <= kScanned) {
      for (size_t i = 0; i < count; ++i) at(i);
      return;
    }
    for (size_t i = 0; i < kScanned; ++i) {
      random_ = random_ * 1664525 + 1013904223;
      at(size_t(uint64_t(random_) * count >> 32));
    }
  };
  for (const auto& line : lines_) look(line->cuts.size(), [&](size_t i) { consider_cut(line->cuts, i); });
  look(loose_.size(), consider_loose);
  if (!best) {  // the sample held pinned ones only
    for (const auto& line : lines_)
      for (size_t i = 0; i < line->cuts.size(); ++i) consider_cut(line->cuts, i);
    for (size_t i = 0; i < loose_.size(); ++i) consider_loose(i);
  }
  if (!best) return false;
  if (to_file && !spill_out(*best)) return drop_one();  // the disk is full: without the file then
  Recipe& left = best->recipe();
  left.missing = left.backward ? std::max(left.missing, float(again)) : float(again);
  if (best->data) discard(*best);
  best->lost = best->handle != nullptr;
  lost_ += best->lost;
  short_ = true;
  ++stats_.dropped;
  return true;
}

void History::forget() {
  for (const auto& line : lines_) line->cursor = HistoryLine::kForward;
  if (lost_ > 0) return;  // tensors will be asked for values that must be made again
  std::vector<RecipeOutput*> all = std::move(loose_);
  loose_.clear();
  for (const auto& line : lines_) {
    for (const HistoryLine::Cut& c : line->cuts) all.push_back(&c.recipe->outputs()[0]);
    line->cuts.clear();
    line->cut_places.clear();
  }
  std::vector<RecipeInput> inputs;
  for (RecipeOutput* o : all) {
    Recipe& r = o->recipe();
    o->slot = -1;
    r.in_cuts = false;
    if (o->filed) erase_copy(*o);
    if (!o->data) continue;
    if (!o->handle && o->pins == 0) {
      free_data(*o);
    } else if (!o->handle || r.num_outputs > 1) {
      o->slot = int32_t(loose_.size());
      loose_.push_back(o);
    } else {
      o->fixed = kFixed;
      list_holding(
          {.storage = o->handle, .op = r.op, .dtype = form_of(*o).dtype, .shape = form_of(*o).shape});
      inputs.insert(inputs.end(), r.inputs(), r.inputs() + r.num_inputs);
      r.num_inputs = 0;
    }
  }
  for (const RecipeInput& in : inputs) {
    if (in.made) in.recipe->heir = nullptr;
    if (in.made) release(in.recipe);
    else Ref<Storage>::adopt(in.leaf);
  }
  short_ = false;
  if (live_ == 0) forms_.clear();
  if (!loose_.empty()) return;
  for (const auto& line : lines_) line->clear();
}

HistoryLine& History::take_line() {
  if (free_lines_.empty()) {
    lines_.push_back(std::make_unique<HistoryLine>());
    lines_.back()->number = uint16_t(lines_.size() - 1);
    free_lines_.push_back(lines_.back().get());
  }
  HistoryLine& line = *free_lines_.back();
  free_lines_.pop_back();
  return line;
}

void History::leave_line(HistoryLine& line) {
  line.cursor = HistoryLine::kForward;
  free_lines_.push_back(&line);
}

HistoryStats History::stats() const {
  HistoryStats s = stats_;
  s.spilled = spill.used();
  auto add = [&](const RecipeOutput& o) {
    if (!o.data) return;
    (o.pins ? s.pinned : s.droppable) += block_bytes(cpu_device(), int64_t(bytes_of(o)));
  };
  for (const auto& line : lines_)
    for (const HistoryLine::Cut& c : line->cuts) add(c.recipe->outputs()[0]);
  for (const RecipeOutput* o : loose_) add(*o);
  return s;
}

std::vector<PinnedValue> History::pinned() const {
  std::vector<PinnedValue> list;
  auto add = [&](RecipeOutput& o) {
    if (o.pins) list.push_back({form_of(o), o.recipe().op});
  };
  for (const auto& line : lines_)
    for (const HistoryLine::Cut& c : line->cuts) add(c.recipe->outputs()[0]);
  for (RecipeOutput* o : loose_) add(*o);
  return list;
}

std::vector<PinnedValue> history_pinned() {
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  return h.pinned();
}

void open_history() { g_tapes.fetch_add(1, std::memory_order_relaxed); }

void close_history() {
  if (g_tapes.fetch_sub(1, std::memory_order_relaxed) != 1 || cpu_memory_limit() == 0) return;
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  h.forget();
}

HistoryStats history_stats() {
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  return h.stats();
}

void leave_history(Storage& storage) {
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  Recipe* r = storage.recipe;
  h.handle_gone(r->outputs()[storage.recipe_output]);
  h.release(r);
}

}  // namespace rw
