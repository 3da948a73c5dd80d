// A list that grows at its end and never moves its elements: chunks of kChunk, kept by the thread for the
// next list.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "rewind/base/pool.h"

namespace rw {

template <class T, size_t kChunk = 128>
class ChunkedVector {
 public:
  ChunkedVector() = default;
  ChunkedVector(const ChunkedVector&) = delete;
  ChunkedVector& operator=(const ChunkedVector&) = delete;
  ~ChunkedVector() { clear(); }

  size_t size() const { return size_; }
  T& operator[](size_t i) { return *slot(i); }
  const T& operator[](size_t i) const { return *slot(i); }
  T& emplace_back() {
    if (size_ == chunks_.size() * kChunk) chunks_.push_back(static_cast<Chunk*>(Pool<Chunk, 64>::take()));
    return *::new (static_cast<void*>(slot(size_++))) T();
  }
  void pop_back() {
    slot(--size_)->~T();
    if (size_ + kChunk == chunks_.size() * kChunk) {
      Pool<Chunk, 64>::give(chunks_.back());
      chunks_.pop_back();
    }
  }
  void clear() {
    while (size_ > 0) pop_back();
  }

 private:
  struct alignas(T) Chunk {
    std::byte room[kChunk * sizeof(T)];
  };
  T* slot(size_t i) const { return reinterpret_cast<T*>(chunks_[i / kChunk]->room) + i % kChunk; }

  std::vector<Chunk*> chunks_;
  size_t size_ = 0;
};

}  // namespace rw
