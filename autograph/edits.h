// Changes to a file's text, by offset. Lines stay where they are: what is inserted has no line breaks, and
// what is removed leaves its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rw::autograph_tool {

class Edits {
 public:
  // Of two things that begin at one offset the one named first is the outer one; so of two that end there.
  void open(unsigned offset, std::string text) { insert(offset, std::move(text), true); }
  void close(unsigned offset, std::string text) { insert(offset, std::move(text), false); }
  void replace(unsigned begin, unsigned end, std::string text);
  void remove(unsigned begin, unsigned end) { replace(begin, end, {}); }
  // The text [begin, end), as edited, behind `before` and in front of `after`, as a thing that ends at `to`,
  // or begins there. The original is removed by its owner.
  struct Moved {
    unsigned begin, end;
  };
  void close_with(unsigned to, std::string before, Moved moved, std::string after) {
    insert(to, std::move(before), false, moved, std::move(after));
  }
  void open_with(unsigned to, std::string before, Moved moved, std::string after) {
    insert(to, std::move(before), true, moved, std::move(after));
  }
  // Text in place of a range, with an edited part of the file in it.
  void replace_with(unsigned begin, unsigned end, std::string before, Moved moved, std::string after);

  bool empty() const { return edits_.empty(); }
  std::string apply(std::string_view file) const;
  // As edited; of what is inserted at its ends only what is inside.
  std::string render(std::string_view file, unsigned begin, unsigned end) const;

 private:
  struct Edit {
    unsigned begin, end;  // equal: an insertion
    bool opens;
    size_t order;
    std::string text;
    Moved moved;
    std::string after;
  };
  void insert(unsigned offset, std::string text, bool opens, Moved moved = {}, std::string after = {});
  std::string text_of(std::string_view file, const Edit& edit) const;
  std::string render(std::string_view file, unsigned begin, unsigned end, bool whole) const;
  std::vector<Edit> edits_;
};

// In one line, comments to the end of a line as others.
std::string on_one_line(std::string_view text);

}  // namespace rw::autograph_tool
