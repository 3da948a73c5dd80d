// Protobuf messages are plain structs here. A message says its fields once, in a function `fields(visitor,
// message)` (see graph_def_fields.h); from that list follow the four functions below. The headers with the
// structs know nothing of protobuf's bytes.
//
// What a struct does not name is skipped when it is read, as protobuf does with fields of a newer writer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace rw::format {

// The bytes, fields in the order of their numbers and maps in the order of their keys. Throws
// InvalidArgumentError beyond protobuf's limit of 2 GiB.
template <class M>
std::string encode(const M& message);
// Throws DataLossError that says in which field and at which byte.
template <class M>
M decode(std::string_view bytes);

// The text format, laid out as Python's str(message).
template <class M>
std::string to_text(const M& message);
// Throws InvalidArgumentError that says the line and the column.
template <class M>
M from_text(std::string_view text);

// A value on the heap that copies like a value: for messages that contain themselves.
template <class T>
class Box {
 public:
  Box() : value_(std::make_unique<T>()) {}
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: a box stands for its value
  Box(const Box& other) : value_(std::make_unique<T>(*other.value_)) {}
  Box(Box&& other) noexcept : value_(std::move(other.value_)) {}
  Box& operator=(Box other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Box() = default;
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace rw::format
