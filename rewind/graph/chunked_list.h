// A list in chunks of equal size: it grows without copying what is there, and lists that come and go reuse
// each other's memory. The first chunk starts small, because most graphs are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace rw {

template <class T>
class ChunkedList {
 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const ChunkedList* list, size_t i) : list_(list), i_(i) {}
    const T& operator*() const { return (*list_)[i_]; }
    const T* operator->() const { return &(*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return {list_, i_++}; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.i_ == b.i_; }
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) {
      return std::ptrdiff_t(a.i_) - std::ptrdiff_t(b.i_);
    }

   private:
    const ChunkedList* list_ = nullptr;
    size_t i_ = 0;
  };

  ChunkedList() = default;
  ChunkedList(const ChunkedList& other) {
    reserve(other.size_);
    for (const T& element : other) push_back(element);
  }
  ChunkedList(ChunkedList&& other) noexcept { swap(other); }
  ChunkedList& operator=(ChunkedList other) noexcept {
    swap(other);
    return *this;
  }
  ~ChunkedList() {
    for (size_t c = 0; c < chunks_.size(); ++c) free_chunk(c);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  void reserve(size_t n) {
    if (n > first_room_ && first_room_ < kChunk && size_ <= first_room_) grow_first(std::min(n, kChunk));
  }
  void push_back(T element) { emplace_back() = std::move(element); }
  T& emplace_back() {
    if (size_ < kChunk) {
      if (size_ == first_room_) grow_first(std::min(kChunk, std::max<size_t>(4, 2 * first_room_)));
    } else if (size_ == chunks_.size() * kChunk) {
      chunks_.push_back(Room().allocate(kChunk));
    }
    return *std::construct_at(&(*this)[size_++]);
  }
  // Lets go of elements before the i-th, as far as they fill chunks: nobody may ask for them again.
  void release_before(size_t i) {
    for (; (released_ + 1) * kChunk <= i; ++released_) {
      free_chunk(released_);
      chunks_[released_] = nullptr;
    }
  }

 private:
  using Room = std::allocator<T>;
  static constexpr size_t kChunk = 512;

  void grow_first(size_t room) {
    T* bigger = Room().allocate(room);
    if (chunks_.empty()) {
      chunks_.push_back(bigger);
    } else {
      std::uninitialized_move_n(chunks_[0], size_, bigger);
      std::destroy_n(chunks_[0], size_);
      Room().deallocate(chunks_[0], first_room_);
      chunks_[0] = bigger;
    }
    first_room_ = room;
  }
  void free_chunk(size_t c) {
    if (!chunks_[c]) return;
    std::destroy_n(chunks_[c], std::min(kChunk, size_ - c * kChunk));
    Room().deallocate(chunks_[c], c == 0 ? first_room_ : kChunk);
  }
  void swap(ChunkedList& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(size_, other.size_);
    std::swap(first_room_, other.first_room_);
    std::swap(released_, other.released_);
  }

  std::vector<T*> chunks_;
  size_t size_ = 0;
  size_t first_room_ = 0;  // of the first chunk
  size_t released_ = 0;    // chunks at the front
};

}  // namespace rw
