#include "edits.h"

#include <algorithm>

namespace rw::autograph_tool {

void Edits::insert(unsigned offset, std::string text, bool opens, Moved moved, std::string after) {
  edits_.push_back({offset, offset, opens, edits_.size(), std::move(text), moved, std::move(after)});
}
void Edits::replace(unsigned begin, unsigned end, std::string text) {
  edits_.push_back({begin, end, true, edits_.size(), std::move(text), {}, {}});
}
void Edits::replace_with(unsigned begin, unsigned end, std::string before, Moved moved, std::string after) {
  edits_.push_back({begin, end, true, edits_.size(), std::move(before), moved, std::move(after)});
}

std::string Edits::text_of(std::string_view file, const Edit& edit) const {
  std::string text = edit.text;
  if (edit.moved.end > edit.moved.begin) text += on_one_line(render(file, edit.moved.begin, edit.moved.end));
  return text + edit.after;
}

std::string Edits::apply(std::string_view file) const { return render(file, 0, unsigned(file.size()), true); }
std::string Edits::render(std::string_view file, unsigned begin, unsigned end) const {
  return render(file, begin, end, false);
}

std::string Edits::render(std::string_view file, unsigned begin, unsigned end, bool whole) const {
  std::vector<const Edit*> here;
  for (const Edit& e : edits_) {
    if (e.begin < begin || e.end > end) continue;
    if (!whole && e.begin == e.end) {
      if (e.begin == begin && !e.opens) continue;
      if (e.begin == end && e.opens) continue;
    }
    here.push_back(&e);
  }
  // At one offset: what ends there from the inside out, then what begins from the outside in, then what is
  // replaced.
  std::sort(here.begin(), here.end(), [](const Edit* a, const Edit* b) {
    const auto rank = [](const Edit* e) { return e->begin != e->end ? 2 : e->opens ? 1 : 0; };
    if (a->begin != b->begin) return a->begin < b->begin;
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (rank(a) == 0) return a->order > b->order;
    if (rank(a) == 2 && a->end != b->end) return a->end > b->end;
    return a->order < b->order;
  });
  std::string result;
  unsigned at = begin;
  for (const Edit* e : here) {
    if (e->begin < at) continue;  // in a part that is replaced
    result += file.substr(at, e->begin - at);
    result += text_of(file, *e);
    result.append(size_t(std::count(file.begin() + e->begin, file.begin() + e->end, '\n')), '\n');
    at = e->end;
  }
  return result.append(file.substr(at, end - at));
}

// Literals are taken as they are.
std::string on_one_line(std::string_view text) {
  std::string result;
  const auto copy_literal = [&](size_t i) {
    const char quote = text[i];
    result += text[i++];
    while (i < text.size() && text[i] != quote) {
      if (text[i] == '\\' && i + 1 < text.size()) result += text[i++];
      result += text[i++];
    }
    if (i < text.size()) result += quote;
    return i;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' ||
        (text[i] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      i = copy_literal(i);
    } else if (text.substr(i, 2) == "//") {
      const size_t end = std::min(text.find('\n', i), text.size());
      result += "/*" + std::string(text.substr(i + 2, end - i - 2)) + " */ ";
      i = end;
    } else if (text[i] == '\n') {
      while (i + 1 < text.size() && std::isspace(static_cast<unsigned char>(text[i + 1]))) ++i;
      result += ' ';
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace rw::autograph_tool
