// What a variant that is a list of tensors points to. A list does not change once others can see it: ops copy
// the references and share the elements' storage, except for a list that nobody needs any more (LastUse).
#pragma once

#include <array>
#include <vector>

#include "rewind/op/object.h"
#include "rewind/runtime/storage.h"

namespace rw {

// The elements, in blocks that copies of the list share: changing one element of a copy copies one block.
class ListItems {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Value& operator[](size_t i) const { return blocks_[i / kBlock]->values[i % kBlock]; }
  void set(size_t i, Value value);
  void push_back(Value value);
  void pop_back() { resize(size_ - 1); }
  void resize(size_t count);  // new ones are not set

 private:
  static constexpr size_t kBlock = 16;
  struct Block : RefCounted {
    std::array<Value, kBlock> values;
    friend void destroy(Block* block) { delete block; }
  };
  Block& own_block(size_t i);

  std::vector<Ref<Block>> blocks_;  // places behind size_ are not set
  size_t size_ = 0;
};

class ListObject final : public Object {
 public:
  ListObject(DType dtype, Shape shape) : element_dtype(dtype), element_shape(std::move(shape)) {}
  std::string describe() const override;
  Ref<ListObject> copy() const;

  DType element_dtype;
  Shape element_shape;            // may be partly known
  int64_t max_num_elements = -1;  // -1: no limit
  ListItems items;                // dtype kInvalid where nothing was set yet
};

// The list behind a variant scalar; throws InvalidArgumentError when it is something else.
const ListObject& list_of(const Value& handle, std::string_view op_tag);
Value handle_of(Ref<ListObject> list);

// Says that the inputs of the op that runs now on this thread are not used afterwards: a list that only this
// input holds may then be changed in place, so that a loop that writes n elements does not copy n * n
// references.
class LastUse {
 public:
  LastUse();
  ~LastUse();
  LastUse(const LastUse&) = delete;
  LastUse& operator=(const LastUse&) = delete;
  static bool now();

 private:
  bool outer_;
};

// A list to change into the op's result: a copy, or under LastUse perhaps the input's own.
Ref<ListObject> changeable(const Value& handle, std::string_view op_tag);

}  // namespace rw
