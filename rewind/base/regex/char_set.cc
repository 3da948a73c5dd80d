#include "rewind/base/regex/char_set.h"

#include <algorithm>
#include <iterator>

namespace rw::regex {
namespace {

struct SetRun {
  uint32_t first;
  uint32_t set;
};
struct FoldRun {
  uint32_t first, last, step;
  int32_t distance;
};

#include "rewind/base/regex/unicode_sets.inc"

template <size_t kCount, class Accept>
void add_runs(const SetRun (&runs)[kCount], Accept accept, CharSet* set) {
  for (size_t i = 0; i < kCount; ++i)
    if (accept(runs[i].set)) set->add(runs[i].first, i + 1 < kCount ? runs[i + 1].first - 1 : kLastCode);
}

// The next other case of the character: each of its cases leads to all the others. 0: there is none.
int32_t to_next_case(uint32_t code) {
  const auto* run = std::lower_bound(std::begin(kFolds), std::end(kFolds), code,
                                     [](const FoldRun& r, uint32_t c) { return r.last < c; });
  // Runs of every second character interleave with each other.
  for (; run != std::end(kFolds) && run->first <= code; ++run)
    if (code <= run->last && (code - run->first) % run->step == 0) return run->distance;
  return 0;
}

}  // namespace

void CharSet::add(uint32_t first, uint32_t last) {
  in_order_ = in_order_ && (ranges_.empty() || ranges_.back().last + 1 < first);
  ranges_.push_back({first, last});
}

void CharSet::add(const CharSet& other) {
  for (const CodeRange& r : other.ranges_) add(r.first, r.last);
}

const std::vector<CodeRange>& CharSet::ranges() const {
  if (in_order_) return ranges_;
  std::sort(ranges_.begin(), ranges_.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const CodeRange& r : ranges_) {
    if (kept > 0 && r.first <= ranges_[kept - 1].last + 1)
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, r.last);
    else ranges_[kept++] = r;
  }
  ranges_.resize(kept);
  in_order_ = true;
  return ranges_;
}

void CharSet::negate() {
  CharSet rest;
  uint32_t next = 0;
  for (const CodeRange& r : ranges()) {
    if (next < r.first) rest.add(next, r.first - 1);
    next = r.last + 1;
  }
  if (next <= kLastCode) rest.add(next, kLastCode);
  *this = std::move(rest);
}

void CharSet::add_cases() {
  const std::vector<CodeRange> members = ranges();
  for (const CodeRange& range : members) {
    for (const FoldRun& run : kFolds) {
      if (run.last < range.first || run.first > range.last) continue;
      const uint32_t skipped =
          range.first > run.first ? (range.first - run.first + run.step - 1) / run.step : 0;
      for (uint32_t c = run.first + skipped * run.step; c <= std::min(run.last, range.last); c += run.step)
        for (uint32_t other = uint32_t(int32_t(c) + run.distance); other != c;
             other = uint32_t(int32_t(other) + to_next_case(other)))
          add(other, other);
    }
  }
}

bool unicode_set(std::string_view name, CharSet* set) {
  if (name == "Any") {
    set->add(0, kLastCode);
    return true;
  }
  const auto in_category = [&](uint32_t n) {
    if (n >= std::size(kCategoryNames)) return false;
    return name.size() == 1 ? kCategoryNames[n][0] == name[0] : kCategoryNames[n] == name;
  };
  bool known = false;
  for (uint32_t n = 0; n < std::size(kCategoryNames); ++n) known = known || in_category(n);
  if (known) {
    add_runs(kCategoryRuns, in_category, set);
    return true;
  }
  const auto* script = std::find(std::begin(kScriptNames), std::end(kScriptNames), name);
  if (script == std::end(kScriptNames)) return false;
  const auto number = uint32_t(script - std::begin(kScriptNames));
  add_runs(kScriptRuns, [&](uint32_t n) { return n == number; }, set);
  return true;
}

bool posix_set(std::string_view name, CharSet* set) {
  struct Named {
    std::string_view name;
    std::vector<CodeRange> ranges;
  };
  static const auto& all = *new std::vector<Named>{
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  for (const Named& n : all) {
    if (n.name != name) continue;
    for (const CodeRange& r : n.ranges) set->add(r.first, r.last);
    return true;
  }
  return false;
}

CharSet perl_set(char letter) {
  CharSet set;
  if (letter == 's') {  // without the vertical tab, which [[:space:]] has
    set.add('\t', '\n');
    set.add('\f', '\r');
    set.add(' ', ' ');
  } else {
    posix_set(letter == 'd' ? "digit" : "word", &set);
  }
  return set;
}

}  // namespace rw::regex
