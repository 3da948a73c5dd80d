// Reference counting inside the object: a handle is one pointer.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace rw {

// Destruction goes through `destroy(T*)`, found by argument lookup, so that a type may return itself to a
// pool.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: an empty handle
  explicit Ref(T* object) : p_(object) {
    if (p_) p_->add_ref();
  }
  // Takes over a count that the caller already owns.
  static Ref adopt(T* object) {
    Ref r;
    r.p_ = object;
    return r;
  }
  Ref(const Ref& other) : Ref(other.p_) {}
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_ && p_->drop_ref()) destroy(p_);
  }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* release() { return std::exchange(p_, nullptr); }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // True when this was the last reference; the caller then destroys the object.
  bool drop_ref() const {
    if (refs_.load(std::memory_order_acquire) == 1) return true;
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 private:
  mutable std::atomic<int32_t> refs_{1};
};

}  // namespace rw
