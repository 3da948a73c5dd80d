// Sizes of a tensor's axes. An eager tensor's shape is fully known; in a trace a size may be unknown (-1),
// and so may the rank. Up to four axes are kept inside the object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace rw {

class Shape {
 public:
  static constexpr int64_t kUnknown = -1;
  static constexpr int kMaxRank = 254;  // as in TensorFlow

  Shape() = default;  // a scalar's
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  Shape(const std::vector<int64_t>& dims) : Shape(std::span(dims)) {}  // NOLINT: a list of sizes is a shape
  explicit Shape(std::span<const int64_t> dims);
  static Shape unknown_rank();
  static Shape unknown_of_rank(int rank);

  Shape(const Shape& other) { copy(other); }
  Shape(Shape&& other) noexcept { take(other); }
  Shape& operator=(const Shape& other) {
    if (this != &other) {
      release();
      copy(other);
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~Shape() { release(); }

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }  // -1 when unknown
  std::span<const int64_t> dims() const { return {data(), size_t(rank_ < 0 ? 0 : rank_)}; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + (rank_ < 0 ? 0 : rank_); }
  // Negative axes count from the end; others that are not there throw OutOfRangeError, as do all axes of a
  // shape of unknown rank.
  int64_t operator[](int axis) const { return data()[offset(axis)]; }
  int64_t back() const { return (*this)[-1]; }
  void set(int axis, int64_t size) { data()[offset(axis)] = size; }
  void append(int64_t size);
  void insert(int axis, int64_t size);  // in front of this axis; the rank puts it last
  void erase(int axis);

  bool fully_known() const;
  // Product of the sizes; -1 when one is unknown. Sizes are checked on construction of a tensor, so that
  // the product of a tensor's shape never overflows.
  int64_t num_elements() const;
  // The same with an overflow test: false if the product leaves int64.
  bool checked_num_elements(int64_t* count) const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  // Whether one concrete shape could fit both.
  bool compatible_with(const Shape& other) const;
  std::string to_string() const;  // "(2, 3)", "(2,)", "()", "(None, 3)", "<unknown>"

 private:
  static constexpr int kInline = 4;
  bool on_heap() const { return rank_ > kInline; }
  const int64_t* data() const { return on_heap() ? heap_ : inline_; }
  int64_t* data() { return on_heap() ? heap_ : inline_; }
  int offset(int axis) const {
    if (axis >= 0 && axis < rank_) [[likely]]
      return axis;
    return offset_from_end(axis);
  }
  int offset_from_end(int axis) const;
  void resize(int rank);
  void copy(const Shape& other) {
    rank_ = other.rank_;
    if (on_heap()) return copy_heap(other);
    for (int i = 0; i < kInline; ++i) inline_[i] = other.inline_[i];
  }
  void copy_heap(const Shape& other);
  void take(Shape& other) noexcept {
    rank_ = other.rank_;
    for (int i = 0; i < kInline; ++i) inline_[i] = other.inline_[i];
    other.rank_ = 0;
  }
  void release() {
    if (on_heap()) delete[] heap_;
    rank_ = 0;
  }

  union {
    int64_t inline_[kInline] = {0, 0, 0, 0};
    int64_t* heap_;
  };
  int32_t rank_ = 0;
};

// The shape of an elementwise op of these two by numpy's rule; false when they do not fit. Unknown sizes give
// unknown ones where nothing more can be said.
bool broadcast_shapes(const Shape& a, const Shape& b, Shape* result);

}  // namespace rw
