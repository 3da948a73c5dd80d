// Indices of tensors, as in Python:
//   x(0), x[0]            x[0]              one row
//   x(Slice(1, 3), -1)    x[1:3, -1]
//   x(Slice(none, none, -1))   x[::-1]      backwards
//   x(ellipsis, newaxis)  x[..., newaxis]
//   x(i)                  x[i]              i a scalar integer tensor
// All of them are one StridedSlice.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "rewind/tensor/tensor.h"

namespace rw {

struct NoneType {};              // None is a macro of Xlib
inline constexpr NoneType none;  // an end of a Slice that is left open
struct NewAxis {};
inline constexpr NewAxis newaxis;  // an axis of size 1
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;  // as many whole axes as are left

// An end or the step of a Slice: a number, a scalar integer tensor, or none.
class SliceBound {
 public:
  SliceBound(NoneType) {}  // NOLINT: written as plain values
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  SliceBound(T value) : value_(int64_t(value)), open_(false) {}  // NOLINT
  SliceBound(const Tensor& value);                               // NOLINT

  bool open() const { return open_; }
  int64_t value() const { return value_; }
  const Tensor& tensor() const {
    return tensor_;
  }  // defined when the value is known only when the graph runs

 private:
  int64_t value_ = 0;
  Tensor tensor_;
  bool open_ = true;
};

// Elements begin, begin + step, ... before end. Slice() is a whole axis. Negative positions count from the
// end.
class Slice {
 public:
  Slice() : begin_(none), end_(none), step_(none) {}
  Slice(SliceBound begin, SliceBound end, SliceBound step = none)
      : begin_(std::move(begin)), end_(std::move(end)), step_(std::move(step)) {}
  const SliceBound& begin() const { return begin_; }
  const SliceBound& end() const { return end_; }
  const SliceBound& step() const { return step_; }

 private:
  SliceBound begin_, end_, step_;
};

class Operand;
class Variable;

class Index {
 public:
  enum class Kind : uint8_t { kAt, kSlice, kNewAxis, kEllipsis };
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T at) : slice_(at, none), kind_(Kind::kAt) {}              // NOLINT: indices are written as they are
  Index(const Tensor& at) : slice_(at, none), kind_(Kind::kAt) {}  // NOLINT
  Index(Slice slice) : slice_(std::move(slice)), kind_(Kind::kSlice) {}  // NOLINT
  Index(NewAxis) : kind_(Kind::kNewAxis) {}                              // NOLINT
  Index(Ellipsis) : kind_(Kind::kEllipsis) {}                            // NOLINT

  Kind kind() const { return kind_; }
  const Slice& slice() const { return slice_; }  // begin is the place when kind is kAt

 private:
  Slice slice_;
  Kind kind_;
};

template <class... I>
Tensor Tensor::operator()(const I&... indices) const {
  static_assert(sizeof...(I) > 0, "one index per axis, or fewer");
  const Index list[] = {Index(indices)...};
  return index(std::span<const Index>(list));
}

// v[indices].assign(value): writes a part of a variable; the value broadcasts to the part's shape.
void assign_slice(const Variable& variable, std::initializer_list<Index> indices, const Operand& value);

}  // namespace rw
