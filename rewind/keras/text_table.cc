#include "rewind/keras/text_table.h"

#include <algorithm>
#include <cmath>

namespace rw::keras {
namespace {

// Characters, not bytes.
int length(const std::string& text) {
  return int(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string first(const std::string& text, int count) {
  size_t i = 0;
  for (; i < text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80 && count-- == 0) break;
  return text.substr(0, i);
}

std::string without_end(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Words with the spaces around them.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  size_t i = 0;
  while (i < text.size()) {
    const size_t start = i;
    while (i < text.size() && text[i] == ' ') ++i;
    while (i < text.size() && text[i] != ' ') ++i;
    while (i < text.size() && text[i] == ' ') ++i;
    list.push_back(text.substr(start, i - start));
  }
  return list;
}

}  // namespace

// Wishes that do not fit are cut by the same amount each.
TextTable::TextTable(std::vector<Column> columns, int width) : columns_(std::move(columns)) {
  int sum = 0;
  for (const Column& c : columns_) {
    widths_.push_back(c.width + 2);
    sum += c.width + 2;
  }
  int excess = sum - (width - int(columns_.size()) - 1);
  auto left = int(columns_.size());
  for (int& w : widths_) {
    if (excess <= 0) break;
    const int cut = std::min(w, int(std::nearbyint(double(excess) / left)));
    w -= cut;
    excess -= cut;
    --left;
  }
}

TextTable::Lines TextTable::wrapped(size_t column, const std::string& text) const {
  const int width = widths_[column] - 2;
  Lines lines{""};
  int offset = 0;
  for (const std::string& word : words(text)) {
    const int size = length(without_end(word));
    if (size > width - offset) {
      if (!lines.back().empty()) lines.push_back("");
      offset = 0;
    }
    lines.back() += word;
    offset += length(word);
  }
  for (std::string& line : lines) {
    if (length(line) > width) line = first(line, std::max(width, length(without_end(line))));
    if (columns_[column].align != Align::kLeft) line = without_end(line);
    if (length(line) > width) line = first(line, width - 1) + "…";
    const int space = width - length(line);
    const int before = columns_[column].align == Align::kLeft    ? 0
                       : columns_[column].align == Align::kRight ? space
                                                                 : space / 2;
    line = std::string(size_t(before), ' ') + line + std::string(size_t(space - before), ' ');
  }
  return lines;
}

void TextTable::append_row(const std::vector<std::string>& cells, const char* bar, std::string* out) const {
  std::vector<Lines> all;
  size_t height = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    all.push_back(wrapped(c, cells[c]));
    height = std::max(height, all.back().size());
  }
  for (size_t i = 0; i < height; ++i) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string blank(size_t(widths_[c] - 2), ' ');
      *out += std::string(bar) + " " + (i < all[c].size() ? all[c][i] : blank) + " ";
    }
    *out += std::string(bar) + "\n";
  }
}

void TextTable::append_rule(const char* left, const char* line, const char* cross, const char* right,
                            std::string* out) const {
  for (size_t c = 0; c < columns_.size(); ++c) {
    *out += c == 0 ? left : cross;
    for (int i = 0; i < widths_[c]; ++i) *out += line;
  }
  *out += std::string(right) + "\n";
}

std::string TextTable::text() const {
  std::string out;
  std::vector<std::string> headers;
  for (const Column& c : columns_) headers.push_back(c.header);
  append_rule("┏", "━", "┳", "┓", &out);
  append_row(headers, "┃", &out);
  append_rule("┡", "━", "╇", "┩", &out);
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (r > 0) append_rule("├", "─", "┼", "┤", &out);
    append_row(rows_[r], "│", &out);
  }
  append_rule("└", "─", "┴", "┘", &out);
  return out;
}

}  // namespace rw::keras
