// A pattern, a newline, and a text: what each part of the matcher says agrees with the others, and a match
// replaced by itself changes nothing.
#include "rewind/base/regex/regex.h"

#include "rewind/base/regex/dfa.h"
#include "rewind/base/regex/threads.h"
#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {
namespace {

constexpr size_t kLongest = 2000;

void check(bool holds) {
  if (!holds) abort();
}

void run(std::string_view bytes) {
  bytes = bytes.substr(0, kLongest);
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  const std::string pattern(bytes.substr(0, line)), text(bytes.substr(std::min(line + 1, bytes.size())));
  const Regex whole(pattern);
  if (!whole.error().empty()) return;
  check(whole.replaced(text, "\\0", true) == text);
  check(whole.replaced(text, "\\0", false) == text);

  const regex::Syntax syntax = regex::parse(pattern);
  check(syntax.root != nullptr);
  regex::Program forwards, backwards;
  check(regex::compile(*syntax.root, false, &forwards) && regex::compile(*syntax.root, true, &backwards));
  regex::Dfa ends(forwards, regex::Dfa::Takes::kPreferred), starts(backwards, regex::Dfa::Takes::kAll);
  for (size_t from = 0; from <= std::min<size_t>(text.size(), 3); ++from) {
    const size_t end = ends.find_end(text, from);
    std::vector<size_t> marks(size_t(2 * syntax.groups + 2));
    size_t first = from;
    while (first <= text.size() && !regex::find_groups(forwards, text, first, &marks)) ++first;
    check((end == regex::kNowhere) == (first > text.size()));
    if (end == regex::kNowhere) continue;
    check(marks[1] == end && starts.find_start(text, from, end) == first);
    for (size_t g = 0; g < marks.size(); g += 2)
      check((marks[g] == regex::kNowhere && marks[g + 1] == regex::kNowhere) ||
            marks[g + 1] == regex::kNowhere || (marks[g] <= marks[g + 1] && marks[g + 1] <= text.size()));
  }
}

std::string mutate(std::string_view bytes, Random& random) {
  constexpr std::string_view kParts[] = {
      "(",      ")",   "|", "*",    "+?",  "{2,3}", "[^a-c]", ".",        "\\pL",       "(?i)",
      "\\b",    "^",   "$", "(?m:", "\\C", "\\Q",   "\\E",    "\xc3\xa4", "\\x{1F600}", "[[:alpha:]-]",
      "(?P<n>", "\\n", "a", "\n",   "\xff"};
  if (below(random, 3) == 0) return mutate_bytes(bytes, random);
  std::string out(bytes);
  for (size_t n = 1 + below(random, 4); n > 0; --n)
    out.insert(below(random, out.size() + 1), kParts[below(random, std::size(kParts))]);
  return out;
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(regex, rw::fuzz::run, rw::fuzz::mutate)
