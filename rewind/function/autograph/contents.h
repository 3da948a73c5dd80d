// The user's variables while a construct is staged: what they hold, as flat tensors with a structure, copies
// of them to go back to, and the words for messages.
#pragma once

#include <string>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/function/autograph/state.h"
#include "rewind/function/staging.h"

namespace rw::autograph::detail {

// What the variables hold: their tensors, and a structure each.
struct Contents {
  explicit Contents(const State& state);
  std::vector<BodyResult> variables;
};
BodyResult held_by(const State& state, size_t i);
bool holds_nothing(const BodyResult& held);

// A copy of a variable.
class Copy {
 public:
  Copy(const State& state, size_t i)
      : access_(state.entries[i].access), address_(state.addresses[i]), copy_(access_->copy(address_)) {}
  ~Copy() {
    if (copy_) access_->destroy(copy_);
  }
  Copy(Copy&& other) noexcept
      : access_(other.access_), address_(other.address_), copy_(std::exchange(other.copy_, nullptr)) {}
  Copy& operator=(Copy&& other) noexcept {
    std::swap(access_, other.access_);
    std::swap(address_, other.address_);
    std::swap(copy_, other.copy_);
    return *this;
  }
  void restore() const { access_->assign(address_, copy_); }
  bool equal() const { return access_->equal(address_, copy_); }  // to the variable now

 private:
  const Access* access_;
  void* address_;
  void* copy_;
};

// Copies of all variables. Throws for one that cannot be copied or compared.
class Copies {
 public:
  Copies(const char* what, const State& state);
  void restore() const;
  const Copy& operator[](size_t i) const { return copies_[i]; }

 private:
  std::vector<Copy> copies_;
};

// Replaces the marked tensors of variable i by those of a list, from `next` on; the others are those of
// `now`.
void replace(const State& state, size_t i, const TensorList& now, const std::vector<uint8_t>& marked,
             const Tensor*& next);
// Zeros of the types and shapes in the place of all tensors of variable i; unknown sizes are 0.
void fill_with_zeros(const char* what, const State& state, size_t i);

// Whether nobody reads a variable behind the construct, so that one that had no value before has none behind.
bool is_scratch(const State& state, size_t i);
// "x" in quotes; the return value.
std::string name_of_variable(const State& state, size_t i);
// A variable of the host that a staged body changes.
[[noreturn]] void fail_changed(const char* what, const State& state, size_t i);
// Of a variable's structure before and after, or in two branches, with the lines that made the tensors.
[[noreturn]] void fail_with_sites(const char* what, const std::string& message, const BodyResult& first,
                                  const BodyResult& second);

// Names the user's line, which is the construct's, in errors of f that name none.
[[noreturn]] void rethrow_at_users_line(const Error& error);
template <class F>
decltype(auto) at_users_line(const F& f) {
  try {
    return f();
  } catch (const Error& e) { rethrow_at_users_line(e); }
}

// Throws where staged bodies lie so deep in each other that only a recursion can have made them.
class Nesting {
 public:
  explicit Nesting(const char* what);
  ~Nesting();
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
};

}  // namespace rw::autograph::detail
