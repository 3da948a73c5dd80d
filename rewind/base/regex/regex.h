// Regular expressions in RE2's syntax and with its results, on bytes that are UTF-8 for the most part. The
// time of a search is linear in the text whatever the pattern, and memory is bounded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace rw {

// Threads may share one.
class Regex {
 public:
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  const std::string& pattern() const { return pattern_; }
  // Why the pattern is none; empty: it is one. The others are for patterns only.
  const std::string& error() const { return error_; }
  int groups() const;

  bool matches_whole(std::string_view text) const;
  // The text with its first match, or all, replaced; \0 to \9 in the rewrite stand for the match and its
  // groups, \\ for a backslash. Where the rewrite asks for more groups than there are or is wrong,
  // TensorFlow's text comes out.
  std::string replaced(const std::string& text, std::string_view rewrite, bool all) const;

 private:
  struct Compiled;
  class Matcher;
  class Borrowed;
  std::string pattern_, error_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace rw
