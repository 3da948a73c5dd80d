// Values whose memory comes and goes (runtime/history.h), at a fixed place for a while.
#pragma once

#include <span>

#include "rewind/base/small_vector.h"
#include "rewind/runtime/storage.h"

namespace rw {

class History;
struct RecipeOutput;

// While it lives the values are in memory and stay where they are; made again where they were dropped. Any
// thread. Throws ResourceExhaustedError when there is no room for them.
class Touched {
 public:
  explicit Touched(std::span<const Value* const> values);
  ~Touched();
  Touched(const Touched&) = delete;
  Touched& operator=(const Touched&) = delete;

  void* data(size_t i) const { return data_[i]; }
  // The end of it, for who holds the history's lock already.
  void let_go(History& history);

 private:
  SmallVector<void*, 4> data_;
  SmallVector<RecipeOutput*, 4> pinned_;
};

// Where the value is and stays as long as its storage lives: for who keeps a pointer.
void* settled_data(const Value& value);
// The same value with such a pointer, for who keeps a value: variables, lists, functions.
Value settled(const Value& value);

}  // namespace rw
