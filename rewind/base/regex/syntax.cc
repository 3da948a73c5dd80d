#include "rewind/base/regex/syntax.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rewind/base/ascii.h"

namespace rw::regex {
namespace {

constexpr int kMostRepeats = 1000;  // as RE2 has it
constexpr int kDeepest = 1000;      // of groups; the parser calls itself for each

struct Flags {
  bool fold = false, lines = false, dot_all = false, swap_greed = false;
};

using NodePtr = std::unique_ptr<Node>;

struct Failure {
  std::string text;
};

[[noreturn]] void fail(std::string text) { throw Failure{std::move(text)}; }

NodePtr node(Kind kind) {
  auto n = std::make_unique<Node>();
  n->kind = kind;
  n->may_be_empty = kind != Kind::kSet && kind != Kind::kAnyByte;
  return n;
}

int digit_of(char c, int base) {
  const int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : base;
  return value < base ? value : -1;
}

// The first character of UTF-8 that was checked.
uint32_t take_character(std::string_view* text) {
  const auto lead = static_cast<unsigned char>((*text)[0]);
  const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code = size == 1 ? lead : lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3fu);
  text->remove_prefix(size);
  return code;
}

// Letters, marks, digits and underscores of any script.
bool is_group_name(const std::string& name) {
  CharSet letters;
  for (const char* of : {"L", "Mn", "Mc", "Nd", "Nl", "Pc"}) unicode_set(of, &letters);
  for (std::string_view rest = name; !rest.empty();) {
    const uint32_t code = take_character(&rest);
    const auto has = [&](const CodeRange& r) { return r.first <= code && code <= r.last; };
    if (std::none_of(letters.ranges().begin(), letters.ranges().end(), has)) return false;
  }
  return !name.empty();
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : all_(pattern), rest_(pattern) {}

  Syntax run() {
    Syntax syntax;
    try {
      check_utf8();
      syntax.root = alternatives(0);
      if (!rest_.empty()) fail("unexpected )");
      syntax.groups = groups_;
    } catch (Failure& f) {
      syntax.root = nullptr;
      syntax.error = std::move(f.text);
    }
    return syntax;
  }

 private:
  bool at(std::string_view text) const { return rest_.starts_with(text); }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  uint32_t character() { return take_character(&rest_); }

  void check_utf8() const {
    for (size_t i = 0; i < all_.size();) {
      const auto byte = [&](size_t k) {
        return i + k < all_.size() ? static_cast<unsigned char>(all_[i + k]) : 0u;
      };
      const unsigned lead = byte(0);
      const size_t size = lead < 0x80                   ? 1
                          : lead >= 0xc2 && lead < 0xe0 ? 2
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xf0 && lead < 0xf5 ? 4
                                                        : 0;
      bool good = size > 0;
      for (size_t k = 1; k < size; ++k) good = good && (byte(k) & 0xc0) == 0x80;
      if (lead == 0xe0) good = good && byte(1) >= 0xa0;
      if (lead == 0xf0) good = good && byte(1) >= 0x90;
      if (lead == 0xf4) good = good && byte(1) < 0x90;
      if (!good) fail("invalid UTF-8");
      i += size;
    }
  }

  NodePtr alternatives(int depth) {
    if (depth > kDeepest) fail("expression nests too deeply");
    const Flags outside = flags_;
    auto either = node(Kind::kAlternate);
    either->may_be_empty = false;
    do {
      NodePtr part = sequence(depth);
      either->repeats = std::max(either->repeats, part->repeats);
      either->may_be_empty = either->may_be_empty || part->may_be_empty;
      either->parts.push_back(std::move(part));
    } while (take("|"));
    flags_ = outside;
    return either->parts.size() == 1 ? std::move(either->parts[0]) : std::move(either);
  }

  // A repetition operator takes what stands in front of it, also over (?flags) and \E.
  NodePtr sequence(int depth) {
    auto all = node(Kind::kConcat);
    bool repeated = false;
    while (!rest_.empty() && !at("|") && !at(")")) {
      if (take("\\Q")) {
        while (!rest_.empty() && !take("\\E")) all->parts.push_back(literal(character()));
        repeated = false;
        continue;
      }
      const std::string_view before = rest_;
      int min = 0, max = -1;
      const bool is_counted = at("{") && counted(&min, &max);
      if (is_counted || at("*") || at("+") || at("?")) {
        if (!is_counted) {
          if (at("+")) min = 1;
          if (at("?")) max = 1;
          rest_.remove_prefix(1);
        }
        const bool lazy = take("?");
        const std::string op(before.substr(0, before.size() - rest_.size()));
        if (repeated) fail("bad repetition operator: " + op);
        if (all->parts.empty()) fail("no argument for repetition operator: " + op);
        NodePtr part = std::move(all->parts.back());
        all->parts.back() = repeat(std::move(part), min, max, lazy == flags_.swap_greed, is_counted, op);
        repeated = true;
        continue;
      }
      repeated = false;
      if (NodePtr part = atom(depth)) all->parts.push_back(std::move(part));
    }
    for (const NodePtr& part : all->parts) {
      all->repeats = std::max(all->repeats, part->repeats);
      all->may_be_empty = all->may_be_empty && part->may_be_empty;
    }
    return all;
  }

  static NodePtr repeat(NodePtr part, int min, int max, bool greedy, bool is_counted, const std::string& op) {
    if (min > kMostRepeats || max > kMostRepeats || (max >= 0 && max < min))
      fail("invalid repetition size: " + op);
    auto n = node(Kind::kRepeat);
    n->min = min;
    n->max = max;
    n->greedy = greedy;
    n->repeats = part->repeats;
    if (is_counted) {
      const int times = max < 0 ? min : max;
      n->repeats *= times > 0 ? times : 1;
      if (n->repeats > kMostRepeats) fail("invalid repetition size: " + op);
    }
    n->may_be_empty = part->may_be_empty || min == 0;
    n->parts.push_back(std::move(part));
    return n;
  }

  NodePtr set_node(CharSet set) const {
    if (set.ranges().empty()) return node(Kind::kNothing);
    auto n = node(Kind::kSet);
    n->set = std::move(set);
    return n;
  }
  NodePtr literal(uint32_t code) const {
    CharSet set(code, code);
    if (flags_.fold) set.add_cases();
    return set_node(std::move(set));
  }
  static NodePtr assertion(uint8_t what) {
    auto n = node(Kind::kAssertion);
    n->assertion = what;
    return n;
  }

  // Null for (?flags), which is no part of the pattern.
  NodePtr atom(int depth) {
    if (take("(")) return group(depth);
    if (at("[")) return set_node(bracket());
    if (take(".")) {
      CharSet any(0, kLastCode);
      if (!flags_.dot_all) {
        any = CharSet('\n', '\n');
        any.negate();
      }
      return set_node(std::move(any));
    }
    if (take("^")) return assertion(flags_.lines ? kBeginLine : kBeginText);
    if (take("$")) return assertion(flags_.lines ? kEndLine : kEndText);
    if (!at("\\")) return literal(character());
    if (take("\\A")) return assertion(kBeginText);
    if (take("\\z")) return assertion(kEndText);
    if (take("\\b")) return assertion(kWordBoundary);
    if (take("\\B")) return assertion(kNoWordBoundary);
    if (take("\\C")) return node(Kind::kAnyByte);
    CharSet set;
    if (named(&set)) return set_node(std::move(set));
    return literal(escape());
  }

  NodePtr group(int depth) {
    auto n = node(Kind::kGroup);
    const Flags outside = flags_;
    if (take("?P<")) {
      const size_t end = rest_.find('>');
      if (end == std::string_view::npos) fail("a named group has no end: (?P<" + std::string(rest_));
      const std::string name(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
      if (!is_group_name(name)) fail("invalid name of a group: " + name);
      if (!names_.insert(name).second) fail("a second group is named " + name);
      n->group = ++groups_;
    } else if (take("?")) {
      if (!group_flags()) return nullptr;
    } else {
      n->group = ++groups_;
    }
    NodePtr inside = alternatives(depth + 1);
    flags_ = outside;
    if (!take(")")) fail("missing closing ): " + std::string(all_));
    n->repeats = inside->repeats;
    n->may_be_empty = inside->may_be_empty;
    n->parts.push_back(std::move(inside));
    return n;
  }

  // Behind "(?". True: a group follows; false: the flags hold from here to the end of the group around.
  bool group_flags() {
    const std::string_view all = rest_;
    Flags now = flags_;
    bool value = true, any = false;
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == ':' || c == ')') {
        if (!value && !any) break;  // a minus alone
        flags_ = now;
        return c == ':';
      }
      if (c == '-' && value) {
        value = false;
        any = false;
        continue;
      }
      any = true;
      if (c == 'i') now.fold = value;
      else if (c == 'm') now.lines = value;
      else if (c == 's') now.dot_all = value;
      else if (c == 'U') now.swap_greed = value;
      else fail("invalid perl operator: (?" + std::string(all.substr(0, all.size() - rest_.size())));
    }
    fail("missing closing ): " + std::string(all_));
  }

  // {n}, {n,} or {n,m}; nothing is taken of what is none of these, nor of numbers beyond all sizes.
  bool counted(int* min, int* max) {
    const std::string_view before = rest_;
    const auto number = [&](int* value) {
      if (rest_.empty() || digit_of(rest_[0], 10) < 0) return false;
      if (rest_.size() > 1 && rest_[0] == '0' && digit_of(rest_[1], 10) >= 0) return false;
      for (*value = 0; !rest_.empty() && digit_of(rest_[0], 10) >= 0; rest_.remove_prefix(1)) {
        if (*value >= 100'000'000) return false;
        *value = *value * 10 + digit_of(rest_[0], 10);
      }
      return true;
    };
    bool good = take("{") && number(min);
    if (good && take(",")) {
      *max = -1;
      if (!at("}")) good = number(max);
    } else {
      *max = good ? *min : 0;
    }
    good = good && take("}");
    if (!good) rest_ = before;
    return good;
  }

  // \d, \pL, \p{Greek}, in and outside of brackets.
  bool named(CharSet* set) {
    if (rest_.size() < 2 || rest_[0] != '\\') return false;
    const char c = rest_[1];
    if (std::string_view("dDsSwW").find(c) != std::string_view::npos) {
      rest_.remove_prefix(2);
      CharSet members = perl_set(char(c | 0x20));
      if (flags_.fold) members.add_cases();
      if (c < 'a') members.negate();
      set->add(members);
      return true;
    }
    if (c != 'p' && c != 'P') return false;
    const std::string_view before = rest_;
    rest_.remove_prefix(2);
    if (rest_.empty()) fail("invalid character class range: " + std::string(before));
    bool negated = c == 'P';
    std::string_view name;
    if (take("{")) {
      const size_t end = rest_.find('}');
      if (end == std::string_view::npos) fail("invalid character class range: " + std::string(before));
      if (take("^")) {
        negated = !negated;
        name = rest_.substr(0, end - 1);
      } else {
        name = rest_.substr(0, end);
      }
      rest_.remove_prefix(name.size() + 1);
    } else {
      const char* start = rest_.data();
      character();
      name = std::string_view(start, size_t(rest_.data() - start));
    }
    CharSet members;
    if (!unicode_set(name, &members))
      fail("invalid character class range: " + std::string(before.substr(0, before.size() - rest_.size())));
    if (flags_.fold) members.add_cases();
    if (negated) members.negate();
    set->add(members);
    return true;
  }

  // One character behind a backslash.
  uint32_t escape() {
    const std::string_view before = rest_;
    rest_.remove_prefix(1);
    if (rest_.empty()) fail("trailing \\ at the end of the pattern");
    const auto bad = [&]() -> uint32_t {
      if (!rest_.empty() && rest_.data() == before.data() + 1) character();
      fail("invalid escape sequence: " + std::string(before.substr(0, size_t(rest_.data() - before.data()))));
    };
    const char c = rest_[0];
    if (static_cast<unsigned char>(c) >= 0x80) return bad();
    if (!ascii::is_letter_or_digit(c)) {
      rest_.remove_prefix(1);
      return uint32_t(static_cast<unsigned char>(c));
    }
    if (c >= '0' && c <= '7') {
      // One digit but 0 would be a reference back to a group.
      if (c != '0' && (rest_.size() < 2 || digit_of(rest_[1], 8) < 0)) return bad();
      uint32_t code = 0;
      for (int i = 0; i < 3 && !rest_.empty() && digit_of(rest_[0], 8) >= 0; ++i, rest_.remove_prefix(1))
        code = code * 8 + uint32_t(digit_of(rest_[0], 8));
      return code;
    }
    rest_.remove_prefix(1);
    switch (c) {
      case 'a': return 7;
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'v': return 11;
      case 'x': break;
      default: return bad();
    }
    if (take("{")) {
      uint32_t code = 0;
      int digits = 0;
      for (; !rest_.empty() && digit_of(rest_[0], 16) >= 0; ++digits, rest_.remove_prefix(1)) {
        code = code * 16 + uint32_t(digit_of(rest_[0], 16));
        if (code > kLastCode) return bad();
      }
      if (digits == 0 || !take("}")) return bad();
      return code;
    }
    if (rest_.size() < 2 || digit_of(rest_[0], 16) < 0 || digit_of(rest_[1], 16) < 0) return bad();
    const auto code = uint32_t(digit_of(rest_[0], 16) * 16 + digit_of(rest_[1], 16));
    rest_.remove_prefix(2);
    return code;
  }

  uint32_t bracket_character(std::string_view whole) {
    if (rest_.empty()) fail("missing closing ]: " + std::string(whole));
    return at("\\") ? escape() : character();
  }

  CharSet bracket() {
    const std::string_view whole = rest_;
    take("[");
    const bool negated = take("^");
    CharSet set;
    for (bool first = true; first || !at("]"); first = false) {
      if (rest_.empty()) fail("missing closing ]: " + std::string(whole));
      if (at("[:")) {
        const size_t end = rest_.find(":]");
        if (end != std::string_view::npos) {
          std::string_view name = rest_.substr(2, end - 2);
          const bool none_of = name.starts_with("^");
          if (none_of) name.remove_prefix(1);
          CharSet members;
          if (!posix_set(name, &members))
            fail("invalid character class range: " + std::string(rest_.substr(0, end + 2)));
          rest_.remove_prefix(end + 2);
          if (flags_.fold) members.add_cases();
          if (none_of) members.negate();
          set.add(members);
          continue;
        }
      }
      if (named(&set)) continue;
      const std::string_view before = rest_;
      const uint32_t low = bracket_character(whole);
      uint32_t high = low;
      if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        take("-");
        high = bracket_character(whole);
        if (high < low)
          fail("invalid character class range: " +
               std::string(before.substr(0, before.size() - rest_.size())));
      }
      CharSet members(low, high);
      if (flags_.fold) members.add_cases();
      set.add(members);
    }
    take("]");
    if (negated) set.negate();
    return set;
  }

  const std::string_view all_;
  std::string_view rest_;
  Flags flags_;
  int groups_ = 0;
  std::set<std::string> names_;
};

}  // namespace

Syntax parse(std::string_view pattern) { return Parser(pattern).run(); }

}  // namespace rw::regex
