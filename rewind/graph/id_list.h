// A short list of ids in 16 bytes: up to three lie inside, more on the heap. Graphs have two for each node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <utility>

namespace rw {

class IdList {
 public:
  using value_type = int32_t;
  using iterator = int32_t*;
  using const_iterator = const int32_t*;

  IdList() = default;
  IdList(std::initializer_list<int32_t> list) : IdList(list.begin(), list.end()) {}
  template <class It>
  IdList(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  IdList(const IdList& other) { copy(other); }
  IdList(IdList&& other) noexcept { take(other); }
  IdList& operator=(const IdList& other) {
    if (this == &other) return *this;
    size_ = 0;
    copy(other);
    return *this;
  }
  IdList& operator=(IdList&& other) noexcept {
    if (this == &other) return *this;
    if (on_heap_) ::operator delete(block());
    take(other);
    return *this;
  }
  ~IdList() {
    if (on_heap_) ::operator delete(block());
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int32_t* data() { return on_heap_ ? block() + 1 : inside_; }
  const int32_t* data() const { return on_heap_ ? block() + 1 : inside_; }
  int32_t* begin() { return data(); }
  int32_t* end() { return data() + size_; }
  const int32_t* begin() const { return data(); }
  const int32_t* end() const { return data() + size_; }
  int32_t& operator[](size_t i) { return data()[i]; }
  int32_t operator[](size_t i) const { return data()[i]; }
  int32_t front() const { return data()[0]; }
  int32_t back() const { return data()[size_ - 1]; }

  void push_back(int32_t id) {
    if (size_ == capacity()) grow(2 * size_ + 1);
    data()[size_] = id;
    size_ = size_ + 1;
  }
  void reserve(size_t n) {
    if (n > capacity()) grow(n);
  }
  void resize(size_t n) {
    reserve(n);
    if (n > size_) std::fill(data() + size_, data() + n, 0);
    size_ = uint32_t(n) & kMostSize;
  }
  void clear() { size_ = 0; }
  void pop_back() { size_ = size_ - 1; }
  void insert(int32_t* at, int32_t id) {
    const size_t i = size_t(at - data());
    push_back(id);
    std::rotate(data() + i, end() - 1, end());
  }
  void erase(int32_t* at) {
    std::copy(at + 1, end(), at);
    pop_back();
  }
  friend bool operator==(const IdList& a, const IdList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr size_t kInside = 3;
  static constexpr uint32_t kMostSize = 0x7fffffff;
  // On the heap: the capacity, then the ids. The pointer lies in the last two of the places inside.
  int32_t* block() const {
    int32_t* p = nullptr;
    std::memcpy(&p, inside_ + 1, sizeof p);
    return p;
  }
  size_t capacity() const { return on_heap_ ? size_t(block()[0]) : kInside; }
  void grow(size_t n) {
    auto* bigger = static_cast<int32_t*>(::operator new((n + 1) * sizeof(int32_t)));
    bigger[0] = int32_t(n);
    std::copy(begin(), end(), bigger + 1);
    if (on_heap_) ::operator delete(block());
    std::memcpy(inside_ + 1, &bigger, sizeof bigger);
    on_heap_ = 1;
  }
  // Precondition of both: nothing is in the list; of `take`: nothing is on the heap either.
  void copy(const IdList& other) {
    reserve(other.size_);
    std::copy(other.begin(), other.end(), data());
    size_ = other.size_;
  }
  void take(IdList& other) {
    size_ = other.size_;
    on_heap_ = other.on_heap_;
    std::memcpy(inside_, other.inside_, sizeof inside_);
    other.size_ = other.on_heap_ = 0;
  }

  uint32_t size_ : 31 = 0;
  uint32_t on_heap_ : 1 = 0;
  int32_t inside_[kInside] = {};
};

}  // namespace rw
