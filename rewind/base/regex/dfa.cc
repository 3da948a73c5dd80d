#include "rewind/base/regex/dfa.h"

#include <algorithm>

namespace rw::regex {
namespace {

constexpr size_t kMostEntries = size_t{1} << 18, kMostKept = size_t{1} << 20;

}  // namespace

size_t Dfa::ListHash::operator()(const std::vector<int32_t>& list) const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const int32_t i : list) hash = (hash ^ uint32_t(i)) * 0x100000001b3u;
  return size_t(hash ^ hash >> 32);
}

Dfa::Dfa(const Program& program, Takes takes)
    : program_(program),
      preferred_(takes == Takes::kPreferred),
      stride_(program.classes + 1),
      byte_of_(size_t(program.classes)),
      seen_(program.code.size()) {
  for (int b = 0; b < 256; ++b) byte_of_[program.class_of[b]] = static_cast<unsigned char>(b);
  clear();
}

void Dfa::clear() {
  rows_.clear();
  lists_.assign(1, nullptr);
  kept_ = 0;
  table_.assign(size_t(stride_), 0);
  for (auto& of : starts_) std::fill(std::begin(of), std::end(of), kUnknown);
}

uint8_t Dfa::context_of(unsigned char byte) const {
  if (!program_.has_assertions) return 0;
  return byte == '\n' ? kBehindNewline : is_word(byte) ? kBehindWord : 0;
}

void Dfa::new_list() {
  if (++seen_mark_ != 0) return;
  std::fill(seen_.begin(), seen_.end(), 0u);
  seen_mark_ = 1;
}

void Dfa::follow(int32_t start, uint8_t holding, bool all_known, std::vector<int32_t>* list) {
  stack_.push_back(start);
  while (!stack_.empty()) {
    const int32_t at = stack_.back();
    stack_.pop_back();
    if (seen_[size_t(at)] == seen_mark_) continue;
    seen_[size_t(at)] = seen_mark_;
    const Instruction& i = program_.code[size_t(at)];
    switch (i.op) {
      case Instruction::kFork:
        stack_.push_back(i.other);
        stack_.push_back(i.next);
        break;
      case Instruction::kMark: stack_.push_back(i.next); break;
      case Instruction::kAssert:
        if (i.assertion & holding) stack_.push_back(i.next);
        else if (!all_known) list->push_back(at);
        break;
      case Instruction::kBytes:
      case Instruction::kMatch: list->push_back(at); break;
      case Instruction::kFail: break;
    }
  }
}

int32_t Dfa::row_of(const std::vector<int32_t>& list, uint8_t context) {
  if (list.empty()) return 0;
  std::vector<int32_t> key = list;
  if (!preferred_) std::sort(key.begin(), key.end());
  key.push_back(context);
  const auto [it, is_new] = rows_.try_emplace(std::move(key), 0);
  if (!is_new) return it->second;
  it->second = int32_t(table_.size());
  lists_.push_back(&it->first);
  kept_ += it->first.size();
  table_.resize(table_.size() + size_t(stride_), kUnknown);
  return it->second;
}

int32_t Dfa::start_row(bool anywhere, uint8_t context) {
  int32_t& row = starts_[anywhere][context];
  if (row >= 0) return row;
  new_list();
  next_.clear();
  follow(anywhere ? program_.start_anywhere : program_.start, 0, false, &next_);
  return row = row_of(next_, context);
}

Dfa::Entry Dfa::make_entry(int32_t row, int32_t symbol) {
  const std::vector<int32_t>& list = *lists_[size_t(row / stride_)];
  const bool at_end = symbol == stride_ - 1;
  const unsigned char byte = at_end ? 0 : byte_of_[size_t(symbol)];
  expanded_.assign(list.begin(), list.end() - 1);
  if (program_.has_assertions) {
    const auto context = uint8_t(list.back());
    uint8_t holding = 0;
    if (context & kAtStart) holding |= kBeginText | kBeginLine;
    if (context & kBehindNewline) holding |= kBeginLine;
    if (at_end) holding |= kEndText | kEndLine;
    else if (byte == '\n') holding |= kEndLine;
    const bool word_ahead = !at_end && is_word(byte);
    holding |= word_ahead != bool(context & kBehindWord) ? kWordBoundary : kNoWordBoundary;
    new_list();
    expanded_.clear();
    for (size_t i = 0; i + 1 < list.size(); ++i) follow(list[i], holding, true, &expanded_);
  }
  bool match = false;
  new_list();
  next_.clear();
  for (const int32_t at : expanded_) {
    const Instruction& i = program_.code[size_t(at)];
    if (i.op == Instruction::kMatch) {
      match = true;
      if (preferred_) break;
      continue;
    }
    if (at_end) continue;
    for (int32_t r = i.from; r < i.to; ++r) {
      const ByteRange& range = program_.ranges[size_t(r)];
      if (range.first <= byte && byte <= range.last) follow(range.next, 0, false, &next_);
    }
  }
  const bool full = table_.size() + size_t(stride_) > kMostEntries || kept_ + next_.size() > kMostKept;
  if (full) clear();
  const Entry e = row_of(next_, at_end ? 0 : context_of(byte)) << 1 | Entry(match);
  if (!full) table_[size_t(row + symbol)] = e;
  return e;
}

size_t Dfa::find_end(std::string_view text, size_t from) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  int32_t row =
      start_row(true, from == 0 ? (program_.has_assertions ? kAtStart : 0) : context_of(bytes[from - 1]));
  size_t end = kNowhere;
  for (size_t i = from; i < text.size(); ++i) {
    const Entry e = entry(row, program_.class_of[bytes[i]]);
    row = e >> 1;
    if (e & 1) end = i;
    if (row == 0) return end;
  }
  return entry(row, stride_ - 1) & 1 ? text.size() : end;
}

size_t Dfa::find_start(std::string_view text, size_t from, size_t end) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  int32_t row = start_row(
      false, end == text.size() ? (program_.has_assertions ? kAtStart : 0) : context_of(bytes[end]));
  size_t start = kNowhere;
  for (size_t i = end; i > from; --i) {
    const Entry e = entry(row, program_.class_of[bytes[i - 1]]);
    row = e >> 1;
    if (e & 1) start = i;
    if (row == 0) return start;
  }
  const int32_t before = from == 0 ? stride_ - 1 : program_.class_of[bytes[from - 1]];
  return entry(row, before) & 1 ? from : start;
}

bool Dfa::matches_whole(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  int32_t row = start_row(false, program_.has_assertions ? kAtStart : 0);
  for (size_t i = 0; i < text.size() && row != 0; ++i) row = entry(row, program_.class_of[bytes[i]]) >> 1;
  return entry(row, stride_ - 1) & 1;
}

}  // namespace rw::regex
