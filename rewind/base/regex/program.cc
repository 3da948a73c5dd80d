#include "rewind/base/regex/program.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

namespace rw::regex {
namespace {

struct TooLarge {};

struct ByteSpan {
  uint8_t first, last;
  bool operator==(const ByteSpan&) const = default;
};
using ByteSpans = std::vector<ByteSpan>;  // one of each makes a character

int put_utf8(uint32_t code, uint8_t* bytes) {
  if (code < 0x80) return bytes[0] = uint8_t(code), 1;
  const int size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; --i, code >>= 6) bytes[i] = uint8_t(0x80 | (code & 0x3f));
  bytes[0] = uint8_t((0xf00 >> size & 0xff) | code);
  return size;
}

// The UTF-8 of the characters first..last as lists of spans of which each byte is free.
void add_spans(uint32_t first, uint32_t last, std::vector<ByteSpans>* all) {
  // All that is not ASCII, as RE2 takes it: also what is of no character but has the form of one.
  if (first == 0x80 && last == kLastCode) {
    constexpr ByteSpan kMore{0x80, 0xbf};
    all->push_back({{0xc2, 0xdf}, kMore});
    all->push_back({{0xe0, 0xef}, kMore, kMore});
    all->push_back({{0xf0, 0xf4}, kMore, kMore, kMore});
    return;
  }
  for (const uint32_t end : {0x7fu, 0x7ffu, 0xffffu}) {
    if (first > end || last <= end) continue;
    add_spans(first, end, all);
    return add_spans(end + 1, last, all);
  }
  // The last bytes of both ends take all their values, or the bytes in front of them are equal.
  for (int low = 6; last > 0x7f && low < 24; low += 6) {
    const uint32_t mask = (1u << low) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      add_spans(first, first | mask, all);
      return add_spans((first | mask) + 1, last, all);
    }
    if ((last & mask) != mask) {
      add_spans(first, (last & ~mask) - 1, all);
      return add_spans(last & ~mask, last, all);
    }
  }
  uint8_t a[4], b[4];
  const int size = put_utf8(first, a);
  put_utf8(last, b);
  ByteSpans spans;
  for (int i = 0; i < size; ++i) spans.push_back({a[i], b[i]});
  all->push_back(std::move(spans));
}

class Compiler {
 public:
  Compiler(bool backwards, Program* program) : backwards_(backwards), program_(*program) {}

  void run(const Node& root) {
    const int32_t match = add({.op = Instruction::kMatch});
    program_.start = compile(root, match);
    const int32_t fork = add({.op = Instruction::kFork});
    const int32_t any = bytes({{0, 255, fork}});
    program_.code[size_t(fork)].next = program_.start;
    program_.code[size_t(fork)].other = any;
    program_.start_anywhere = fork;
    number_classes();
  }

 private:
  int32_t add(Instruction i) {
    if (program_.code.size() >= kMostInstructions) throw TooLarge();
    program_.code.push_back(i);
    return int32_t(program_.code.size() - 1);
  }
  int32_t bytes(const std::vector<ByteRange>& ranges) {
    if (program_.ranges.size() + ranges.size() > kMostInstructions) throw TooLarge();
    const auto from = int32_t(program_.ranges.size());
    program_.ranges.insert(program_.ranges.end(), ranges.begin(), ranges.end());
    return add({.op = Instruction::kBytes, .from = from, .to = int32_t(program_.ranges.size())});
  }
  int32_t fork(int32_t preferred, int32_t other) {
    return add({.op = Instruction::kFork, .next = preferred, .other = other});
  }

  // The first instruction of what matches the node and goes on at `next`.
  int32_t compile(const Node& n, int32_t next) {
    switch (n.kind) {
      case Kind::kEmpty: return next;
      case Kind::kNothing: return add({.op = Instruction::kFail});
      case Kind::kAnyByte: return bytes({{0, 255, next}});
      case Kind::kSet: return characters(n, next);
      case Kind::kAssertion: {
        program_.has_assertions = true;
        uint8_t what = n.assertion;
        if (backwards_ && what < kWordBoundary)
          what = uint8_t(what == kBeginText || what == kBeginLine ? what << 1 : what >> 1);
        return add({.op = Instruction::kAssert, .assertion = what, .next = next});
      }
      case Kind::kGroup: {
        if (backwards_ || n.group == 0) return compile(*n.parts[0], next);
        const int32_t end = add({.op = Instruction::kMark, .next = next, .from = 2 * n.group + 1});
        const int32_t inside = compile(*n.parts[0], end);
        return add({.op = Instruction::kMark, .next = inside, .from = 2 * n.group});
      }
      case Kind::kConcat: {
        if (backwards_)
          for (const auto& part : n.parts) next = compile(*part, next);
        else
          for (size_t i = n.parts.size(); i-- > 0;) next = compile(*n.parts[i], next);
        return next;
      }
      case Kind::kAlternate: {
        int32_t all = compile(*n.parts.back(), next);
        for (size_t i = n.parts.size() - 1; i-- > 0;) all = fork(compile(*n.parts[i], next), all);
        return all;
      }
      case Kind::kRepeat: return repeat(n, next);
    }
    return next;
  }

  int32_t choice(bool greedy, int32_t more, int32_t done) {
    return greedy ? fork(more, done) : fork(done, more);
  }

  // Once or more.
  int32_t loop(const Node& n, int32_t next) {
    const int32_t again = add({.op = Instruction::kFork});
    const int32_t start = compile(*n.parts[0], again);
    Instruction& f = program_.code[size_t(again)];
    f.next = n.greedy ? start : next;
    f.other = n.greedy ? next : start;
    return start;
  }

  int32_t repeat(const Node& n, int32_t next) {
    if (n.max < 0) {
      if (n.min > 0) {
        next = loop(n, next);
      } else if (n.parts[0]->may_be_empty) {
        next = choice(n.greedy, loop(n, next), next);
      } else {
        const int32_t again = add({.op = Instruction::kFork});
        const int32_t start = compile(*n.parts[0], again);
        Instruction& f = program_.code[size_t(again)];
        f.next = n.greedy ? start : next;
        f.other = n.greedy ? next : start;
        next = again;
      }
    } else {
      // x{2,4} is xx(x(x)?)?.
      const int32_t done = next;
      for (int i = n.min; i < n.max; ++i) next = choice(n.greedy, compile(*n.parts[0], next), done);
    }
    const int fixed = n.max < 0 ? n.min - 1 : n.min;
    for (int i = 0; i < fixed; ++i) next = compile(*n.parts[0], next);
    return next;
  }

  int32_t characters(const Node& n, int32_t next) {
    std::vector<ByteSpans> all;
    for (const CodeRange& r : n.set.ranges()) add_spans(r.first, r.last, &all);
    if (backwards_) {
      for (ByteSpans& s : all) std::reverse(s.begin(), s.end());
      const auto less = [](const ByteSpans& a, const ByteSpans& b) {
        return std::lexicographical_compare(
            a.begin(), a.end(), b.begin(), b.end(),
            [](ByteSpan x, ByteSpan y) { return std::pair(x.first, x.last) < std::pair(y.first, y.last); });
      };
      std::sort(all.begin(), all.end(), less);
    }
    return tree(all, 0, all.size(), 0, next);
  }

  // Of spans that are equal up to `depth`: one instruction, behind which those follow that begin alike.
  int32_t tree(const std::vector<ByteSpans>& all, size_t begin, size_t end, size_t depth, int32_t next) {
    std::vector<ByteRange> ranges;
    while (begin < end) {
      const ByteSpan span = all[begin][depth];
      size_t same = begin + 1;
      while (same < end && all[same][depth] == span) ++same;
      const bool is_last = all[begin].size() == depth + 1;
      ranges.push_back({span.first, span.last, is_last ? next : tree(all, begin, same, depth + 1, next)});
      begin = same;
    }
    // Neighbours that go on alike are one.
    size_t kept = 0;
    for (const ByteRange& r : ranges) {
      if (kept > 0 && ranges[kept - 1].next == r.next && int(ranges[kept - 1].last) + 1 == int(r.first))
        ranges[kept - 1].last = r.last;
      else ranges[kept++] = r;
    }
    ranges.resize(kept);
    std::vector<int32_t> key;
    for (const ByteRange& r : ranges) key.insert(key.end(), {int32_t(r.first << 8 | r.last), r.next});
    const auto [it, is_new] = made_.emplace(std::move(key), 0);
    if (is_new) it->second = bytes(ranges);
    return it->second;
  }

  void number_classes() {
    std::bitset<257> starts;
    starts[0] = true;
    const auto cut = [&](int first, int last) { starts[size_t(first)] = starts[size_t(last) + 1] = true; };
    for (const ByteRange& r : program_.ranges) cut(r.first, r.last);
    if (program_.has_assertions) {
      for (const int c : {'\n', '_'}) cut(c, c);
      cut('0', '9');
      cut('A', 'Z');
      cut('a', 'z');
    }
    int number = -1;
    for (size_t b = 0; b < 256; ++b) program_.class_of[b] = uint8_t(number += starts[b]);
    program_.classes = number + 1;
  }

  const bool backwards_;
  Program& program_;
  std::map<std::vector<int32_t>, int32_t> made_;  // equal ranges are one instruction
};

}  // namespace

bool compile(const Node& root, bool backwards, Program* program) {
  try {
    Compiler(backwards, program).run(root);
    return true;
  } catch (const TooLarge&) { return false; }
}

}  // namespace rw::regex
