// Where a pass over a dataset stands, as bytes: written by one cursor after the other, from the last
// transformation to the source.
//
//   entry := kind (1 byte) payload
//   mark   'm' length name       which cursor writes here, so that a position of another pipeline is refused
//   number 'n' int64
//   text   's' length bytes
//   tensor 't' dtype rank sizes  then the elements; each string with its length
//   window 'd' number elements   a dataset that window made
//   length := uint64; all numbers little-endian
#pragma once

#include <string>
#include <string_view>

#include "rewind/data/node.h"

namespace rw::data {

class PositionWriter {
 public:
  void mark(std::string_view name);
  void number(int64_t value);
  void text(std::string_view value);
  void tensor(const Tensor& value);
  void element(const Element& value);
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void length(size_t value);
  std::string bytes_;
};

// Throws InvalidArgumentError, naming `source` and the byte, for what does not fit.
class PositionReader {
 public:
  explicit PositionReader(std::string_view bytes, std::string source = "the position")
      : bytes_(bytes), source_(std::move(source)) {}
  void mark(std::string_view name);
  int64_t number();
  // A number in [low, high].
  int64_t number(int64_t low, int64_t high);
  std::string text();
  Tensor tensor();
  Element element();
  void finish() const;  // everything was read
  size_t at() const { return at_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const char* raw(size_t size);
  size_t length();
  Tensor window();
  void kind(char wanted, const char* what);
  std::string_view bytes_;
  std::string source_;
  size_t at_ = 0;
};

}  // namespace rw::data
