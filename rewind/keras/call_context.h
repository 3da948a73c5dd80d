// What nested calls of layers share: names for variables, the training flag, masks. The outermost call opens
// it.
#pragma once

#include <unordered_map>

#include "rewind/keras/layer.h"

namespace rw::keras {

class CallContext {
 public:
  // Joins the context of this thread, or opens one.
  CallContext();
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  static CallContext* current();
  bool outermost() const { return outermost_; }

  // Undefined: none.
  Tensor mask_of(const Tensor& tensor) const;
  void set_mask(const Tensor& tensor, const Tensor& mask);

  struct Entry {
    LayerState* layer;
    std::optional<bool> training;
  };
  std::vector<Entry>& stack() const { return root_->stack_; }
  std::string path() const;  // "model/dense"

 private:
  struct Masked {
    Tensor tensor, mask;  // the tensor is held, so that its address stays its own
  };
  bool outermost_;
  CallContext* root_;
  std::vector<Entry> stack_;
  std::unordered_map<const void*, Masked> masks_;
};

// One layer on the stack.
class CallEntry {
 public:
  CallEntry(CallContext& context, LayerState* layer, std::optional<bool> training) : context_(context) {
    context.stack().push_back({layer, training});
  }
  ~CallEntry() { context_.stack().pop_back(); }
  CallEntry(const CallEntry&) = delete;
  CallEntry& operator=(const CallEntry&) = delete;

 private:
  CallContext& context_;
};

}  // namespace rw::keras
