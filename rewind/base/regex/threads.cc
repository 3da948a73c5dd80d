#include "rewind/base/regex/threads.h"

#include <algorithm>

#include "rewind/base/regex/dfa.h"

namespace rw::regex {
namespace {

class Threads {
 public:
  Threads(const Program& program, std::string_view text, size_t marks)
      : program_(program), text_(text), width_(marks), now_(marks), seen_(program.code.size(), 0) {}

  bool run(size_t from, std::vector<size_t>* marks) {
    bool found = false;
    std::fill(now_.begin(), now_.end(), kNowhere);
    if (width_ > 0) now_[0] = from;
    start_list(from);
    follow(program_.start, from);
    for (size_t at = from;; ++at) {
      std::swap(current_, next_);
      if (current_.at.empty()) break;
      start_list(at + 1);
      for (size_t t = 0; t < current_.at.size(); ++t) {
        const Instruction& i = program_.code[size_t(current_.at[t])];
        const auto* of_thread = current_.marks.data() + t * width_;
        if (i.op == Instruction::kMatch) {
          found = true;
          std::copy(of_thread, of_thread + width_, marks->begin());
          if (width_ > 1) (*marks)[1] = at;
          break;
        }
        if (at == text_.size()) continue;
        const auto byte = static_cast<unsigned char>(text_[at]);
        for (int32_t r = i.from; r < i.to; ++r) {
          const ByteRange& range = program_.ranges[size_t(r)];
          if (byte < range.first || byte > range.last) continue;
          std::copy(of_thread, of_thread + width_, now_.begin());
          follow(range.next, at + 1);
        }
      }
      if (at == text_.size()) break;
    }
    return found;
  }

 private:
  struct List {
    std::vector<int32_t> at;
    std::vector<size_t> marks;  // width_ of each thread
  };
  struct Step {
    int32_t at;  // -1: gives a mark its value back
    int32_t mark;
    size_t value;
  };

  // The next list, of what is reached at a place in the text.
  void start_list(size_t place) {
    next_.at.clear();
    next_.marks.clear();
    if (++mark_ == 0) {
      std::fill(seen_.begin(), seen_.end(), 0u);
      mark_ = 1;
    }
    if (place > text_.size()) return;
    const bool before = place > 0 && is_word(static_cast<unsigned char>(text_[place - 1]));
    const bool behind = place < text_.size() && is_word(static_cast<unsigned char>(text_[place]));
    holding_ = before != behind ? kWordBoundary : kNoWordBoundary;
    if (place == 0) holding_ |= kBeginText;
    if (place == 0 || text_[place - 1] == '\n') holding_ |= kBeginLine;
    if (place == text_.size()) holding_ |= kEndText;
    if (place == text_.size() || text_[place] == '\n') holding_ |= kEndLine;
  }

  void follow(int32_t start, size_t place) {
    stack_.push_back({start, 0, 0});
    while (!stack_.empty()) {
      const Step step = stack_.back();
      stack_.pop_back();
      if (step.at < 0) {
        now_[size_t(step.mark)] = step.value;
        continue;
      }
      if (seen_[size_t(step.at)] == mark_) continue;
      seen_[size_t(step.at)] = mark_;
      const Instruction& i = program_.code[size_t(step.at)];
      switch (i.op) {
        case Instruction::kFork:
          stack_.push_back({i.other, 0, 0});
          stack_.push_back({i.next, 0, 0});
          break;
        case Instruction::kMark:
          if (size_t(i.from) < width_) {
            stack_.push_back({-1, i.from, now_[size_t(i.from)]});
            now_[size_t(i.from)] = place;
          }
          stack_.push_back({i.next, 0, 0});
          break;
        case Instruction::kAssert:
          if (i.assertion & holding_) stack_.push_back({i.next, 0, 0});
          break;
        case Instruction::kBytes:
        case Instruction::kMatch:
          next_.at.push_back(step.at);
          next_.marks.insert(next_.marks.end(), now_.begin(), now_.end());
          break;
        case Instruction::kFail: break;
      }
    }
  }

  const Program& program_;
  const std::string_view text_;
  const size_t width_;
  std::vector<size_t> now_;
  std::vector<uint32_t> seen_;
  uint32_t mark_ = 0;
  uint8_t holding_ = 0;
  List current_, next_;
  std::vector<Step> stack_;
};

}  // namespace

bool find_groups(const Program& program, std::string_view text, size_t from, std::vector<size_t>* marks) {
  return Threads(program, text, marks->size()).run(from, marks);
}

}  // namespace rw::regex
