#include "rewind/base/regex/regex.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rewind/base/regex/dfa.h"
#include "rewind/base/regex/program.h"
#include "rewind/base/regex/threads.h"

namespace rw {
namespace {

using regex::Kind;
using regex::kNowhere;
using regex::Node;

// How many bytes every match has; nothing: not always as many.
std::optional<size_t> fixed_length(const Node& n) {
  switch (n.kind) {
    case Kind::kEmpty:
    case Kind::kAssertion: return 0;
    case Kind::kAnyByte: return 1;
    case Kind::kNothing: return std::nullopt;
    case Kind::kSet: {
      return n.set.ranges().back().last < 0x80 ? std::optional<size_t>(1) : std::nullopt;
    }
    case Kind::kGroup: return fixed_length(*n.parts[0]);
    case Kind::kConcat: {
      size_t sum = 0;
      for (const auto& part : n.parts) {
        const auto length = fixed_length(*part);
        if (!length) return std::nullopt;
        sum += *length;
      }
      return sum;
    }
    case Kind::kAlternate: {
      const auto first = fixed_length(*n.parts[0]);
      for (const auto& part : n.parts)
        if (fixed_length(*part) != first) return std::nullopt;
      return first;
    }
    case Kind::kRepeat: {
      const auto once = fixed_length(*n.parts[0]);
      if (!once || n.min != n.max) return std::nullopt;
      return *once * size_t(n.min);
    }
  }
  return std::nullopt;
}

// Bytes of the whole character that the text begins with; 1 where it begins with none.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  const size_t size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  uint32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 1;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  return size > 1 && (code < kLeast[size] || code > regex::kLastCode) ? 1 : size;
}

int last_group_of(std::string_view rewrite) {
  int last = 0;
  for (size_t i = 0; i + 1 < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    const char c = rewrite[++i];
    if (c >= '0' && c <= '9') last = std::max(last, c - '0');
  }
  return last;
}

// False: the rewrite is wrong; `out` has what stands in front of that.
bool append_rewrite(std::string_view rewrite, std::string_view text, const std::vector<size_t>& marks,
                    std::string* out) {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') {
      out->push_back(rewrite[i]);
      continue;
    }
    const char c = ++i < rewrite.size() ? rewrite[i] : 'x';
    if (c == '\\') {
      out->push_back('\\');
    } else if (c >= '0' && c <= '9') {
      const size_t begin = marks[size_t(2 * (c - '0'))], end = marks[size_t(2 * (c - '0') + 1)];
      if (begin != kNowhere && end != kNowhere) out->append(text.substr(begin, end - begin));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

struct Regex::Compiled {
  int groups = 0;
  regex::Program forwards, backwards;
  std::optional<size_t> length;
  std::mutex mutex;
  std::vector<std::unique_ptr<Matcher>> idle;  // each thread takes its own
};

// The automata of a thread, each made when it is first asked for.
class Regex::Matcher {
 public:
  explicit Matcher(const Compiled& compiled) : compiled_(compiled) {}

  bool matches_whole(std::string_view text) {
    if (!whole_) whole_.emplace(compiled_.forwards, regex::Dfa::Takes::kAll);
    return whole_->matches_whole(text);
  }

  // Fills in as many groups as there is room for in the marks, at least the match itself.
  bool find(std::string_view text, size_t from, std::vector<size_t>* marks) {
    if (!ends_) ends_.emplace(compiled_.forwards, regex::Dfa::Takes::kPreferred);
    const size_t end = ends_->find_end(text, from);
    if (end == kNowhere) return false;
    size_t start;
    if (compiled_.length) {
      start = end - *compiled_.length;
    } else {
      if (!starts_) starts_.emplace(compiled_.backwards, regex::Dfa::Takes::kAll);
      start = starts_->find_start(text, from, end);
    }
    if (marks->size() > 2) return regex::find_groups(compiled_.forwards, text, start, marks);
    *marks = {start, end};
    return true;
  }

 private:
  const Compiled& compiled_;
  std::optional<regex::Dfa> whole_, ends_, starts_;
};

class Regex::Borrowed {
 public:
  explicit Borrowed(Compiled& compiled) : compiled_(compiled) {
    const std::lock_guard lock(compiled.mutex);
    if (!compiled.idle.empty()) {
      matcher_ = std::move(compiled.idle.back());
      compiled.idle.pop_back();
    } else {
      matcher_ = std::make_unique<Matcher>(compiled);
    }
  }
  ~Borrowed() {
    const std::lock_guard lock(compiled_.mutex);
    compiled_.idle.push_back(std::move(matcher_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Matcher* operator->() { return matcher_.get(); }

 private:
  Compiled& compiled_;
  std::unique_ptr<Matcher> matcher_;
};

Regex::Regex(const std::string& pattern) : pattern_(pattern) {
  regex::Syntax syntax = regex::parse(pattern);
  error_ = std::move(syntax.error);
  if (!syntax.root) return;
  compiled_ = std::make_unique<Compiled>();
  compiled_->groups = syntax.groups;
  compiled_->length = fixed_length(*syntax.root);
  if (!regex::compile(*syntax.root, false, &compiled_->forwards) ||
      !regex::compile(*syntax.root, true, &compiled_->backwards)) {
    error_ = "pattern too large";
    compiled_ = nullptr;
  }
}

Regex::~Regex() = default;

int Regex::groups() const { return compiled_->groups; }

bool Regex::matches_whole(std::string_view text) const { return Borrowed(*compiled_)->matches_whole(text); }

std::string Regex::replaced(const std::string& text, std::string_view rewrite, bool all) const {
  const int last = last_group_of(rewrite);
  if (last > compiled_->groups) return text;
  Borrowed matcher(*compiled_);
  std::vector<size_t> marks(size_t(2 * last + 2));
  const std::string_view whole = text;
  if (!all) {
    if (!matcher->find(whole, 0, &marks)) return text;
    std::string out = text.substr(0, marks[0]);
    if (!append_rewrite(rewrite, whole, marks, &out)) return text;
    return out.append(whole.substr(marks[1]));
  }
  std::string out;
  size_t done = 0, last_end = kNowhere;
  bool any = false;
  while (done <= text.size() && matcher->find(whole, done, &marks)) {
    out.append(whole.substr(done, marks[0] - done));
    if (marks[0] == last_end && marks[1] == marks[0]) {
      // No empty match where the last one ended: the character there stays, and the search goes on behind it.
      if (marks[0] >= text.size()) {
        done = text.size() + 1;
        break;
      }
      const size_t bytes = character_length(whole.substr(marks[0]));
      out.append(whole.substr(marks[0], bytes));
      done = marks[0] + bytes;
      continue;
    }
    append_rewrite(rewrite, whole, marks, &out);
    any = true;
    done = last_end = marks[1];
  }
  if (!any) return text;
  if (done < text.size()) out.append(whole.substr(done));
  return out;
}

}  // namespace rw
