#include "rewind/base/shape.h"

#include <algorithm>
#include <cstring>

#include "rewind/base/error.h"

namespace rw {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    fail_invalid("shape", "rank must be at most 254: got " + std::to_string(dims.size()) + " axes");
  resize(int(dims.size()));
  std::copy(dims.begin(), dims.end(), data());
}

Shape Shape::unknown_rank() {
  Shape s;
  s.rank_ = -1;
  return s;
}

Shape Shape::unknown_of_rank(int rank) {
  return Shape(std::span<const int64_t>(std::vector<int64_t>(size_t(rank), kUnknown)));
}

void Shape::resize(int rank) {
  if (rank > kMaxRank)
    fail_invalid("shape", "rank must be at most 254: got " + std::to_string(rank) + " axes");
  const int old = std::max(rank_, 0);
  if (rank > kInline) {
    auto* bigger = new int64_t[size_t(rank)];
    std::copy_n(data(), std::min(old, rank), bigger);
    release();
    heap_ = bigger;
  } else if (on_heap()) {
    int64_t kept[kInline];
    std::copy_n(heap_, rank, kept);
    release();
    std::copy_n(kept, rank, inline_);
  }
  rank_ = rank;
}

void Shape::copy_heap(const Shape& other) {
  heap_ = new int64_t[size_t(other.rank_)];
  std::copy_n(other.heap_, other.rank_, heap_);
}

void Shape::append(int64_t size) {
  if (rank_ < 0) fail_out_of_range("shape", "a shape of unknown rank has no end to append to");
  resize(rank_ + 1);
  data()[rank_ - 1] = size;
}

int Shape::offset_from_end(int axis) const {
  if (rank_ < 0) fail_out_of_range("shape", "a shape of unknown rank has no axis " + std::to_string(axis));
  if (axis < -rank_ || axis >= rank_)
    fail_out_of_range("shape", "axis must be in [-" + std::to_string(rank_) + ", " + std::to_string(rank_) +
                                   "): got " + std::to_string(axis) + " for shape " + to_string());
  return axis + rank_;
}

void Shape::insert(int axis, int64_t size) {
  if (axis < 0 || axis > rank_)
    fail_out_of_range("shape", "an axis can be inserted at 0 to the rank: got " + std::to_string(axis) +
                                   " for shape " + to_string());
  append(size);
  std::rotate(data() + axis, data() + rank_ - 1, data() + rank_);
}

void Shape::erase(int axis) {
  axis = offset(axis);
  std::copy(data() + axis + 1, data() + rank_, data() + axis);
  resize(rank_ - 1);
}

bool Shape::fully_known() const {
  return rank_ >= 0 && std::none_of(begin(), end(), [](int64_t d) { return d < 0; });
}

int64_t Shape::num_elements() const {
  if (rank_ < 0) return kUnknown;
  uint64_t count = 1;  // sizes before an unknown one may be anything: their product must be able to wrap
  for (int64_t d : *this) {
    if (d < 0) return kUnknown;
    count *= uint64_t(d);
  }
  return int64_t(count);
}

bool Shape::checked_num_elements(int64_t* count) const {
  *count = 1;
  // A zero makes the product small, but TensorFlow still refuses sizes whose product overflows before it.
  bool overflow = false;
  bool zero = false;
  for (int64_t d : *this) {
    if (d == 0) zero = true;
    else overflow |= __builtin_mul_overflow(*count, d, count);
  }
  if (zero && !overflow) *count = 0;
  return !overflow;
}

bool Shape::compatible_with(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i)
    if ((*this)[i] >= 0 && other[i] >= 0 && (*this)[i] != other[i]) return false;
  return true;
}

std::string Shape::to_string() const {
  if (rank_ < 0) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i) text += ", ";
    text += (*this)[i] < 0 ? "None" : std::to_string((*this)[i]);
  }
  if (rank_ == 1) text += ",";
  return text + ")";
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape* result) {
  if (!a.has_rank() || !b.has_rank()) {
    *result = Shape::unknown_rank();
    return true;
  }
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  *result = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const int64_t x = longer[i + shift];
    const int64_t y = shorter[i];
    if (x == y || y == 1) continue;
    if (x == 1 || x < 0) result->set(i + shift, y);
    else if (y >= 0) return false;
  }
  return true;
}

}  // namespace rw
