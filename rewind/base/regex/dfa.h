// A program as a deterministic automaton whose states are made when they are first reached: a table lookup
// per byte of text. States that do not fit into the memory for them go, and are made again when they are
// reached again.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rewind/base/regex/program.h"

namespace rw::regex {

inline constexpr size_t kNowhere = size_t(-1);

// For one thread at a time; the program outlives it.
class Dfa {
 public:
  // Where several matches begin at one byte: the one that the pattern prefers, or all of them.
  enum class Takes { kPreferred, kAll };
  Dfa(const Program& program, Takes takes);

  // The end of the first match that begins at or behind `from`.
  size_t find_end(std::string_view text, size_t from);
  // For a program that runs backwards: the start of the longest match that ends at `end`, at or behind
  // `from`.
  size_t find_start(std::string_view text, size_t from, size_t end);
  bool matches_whole(std::string_view text);

 private:
  // An entry of the table: the row of the state that follows, and in the lowest bit whether the pattern
  // matches up to the byte, before it. Rows begin at multiples of stride_; row 0 is the state from which
  // nothing matches.
  using Entry = int32_t;
  static constexpr Entry kUnknown = -1;
  enum Context : uint8_t { kAtStart = 1, kBehindNewline = 2, kBehindWord = 4 };
  struct ListHash {
    size_t operator()(const std::vector<int32_t>& list) const;
  };

  uint8_t context_of(unsigned char byte) const;
  int32_t start_row(bool anywhere, uint8_t context);
  Entry entry(int32_t row, int32_t symbol) {
    const Entry e = table_[size_t(row + symbol)];
    return e >= 0 ? e : make_entry(row, symbol);
  }
  Entry make_entry(int32_t row, int32_t symbol);
  int32_t row_of(const std::vector<int32_t>& list, uint8_t context);
  void clear();
  // Appends what the instruction leads to without a byte. Assertions other than `holding` wait in the list,
  // or end the way where all are known.
  void follow(int32_t start, uint8_t holding, bool all_known, std::vector<int32_t>* list);
  void new_list();

  const Program& program_;
  const bool preferred_;
  const int32_t stride_;                // classes of bytes, and the end of the text
  std::vector<unsigned char> byte_of_;  // one of each class
  std::vector<Entry> table_;
  std::unordered_map<std::vector<int32_t>, int32_t, ListHash> rows_;
  std::vector<const std::vector<int32_t>*> lists_;  // of rows, in the map; the last number is the context
  size_t kept_ = 0;                                 // numbers in the lists
  int32_t starts_[2][8];
  std::vector<uint32_t> seen_;  // by instruction: the last list that has it
  uint32_t seen_mark_ = 0;
  std::vector<int32_t> stack_, expanded_, next_;
};

}  // namespace rw::regex
