// A table in box-drawing characters, wrapped and cut by the rules of the table that Keras prints with.
#pragma once

#include <string>
#include <vector>

namespace rw::keras {

class TextTable {
 public:
  enum class Align { kLeft, kRight, kCenter };
  struct Column {
    std::string header;
    Align align;
    int width;  // what it would like for its text
  };
  // `width` is that of the whole table.
  TextTable(std::vector<Column> columns, int width);
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  using Lines = std::vector<std::string>;
  Lines wrapped(size_t column, const std::string& text) const;
  void append_row(const std::vector<std::string>& cells, const char* bar, std::string* out) const;
  void append_rule(const char* left, const char* line, const char* cross, const char* right,
                   std::string* out) const;

  std::vector<Column> columns_;
  std::vector<int> widths_;  // with one space on either side
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rw::keras
