#include "rewind/keras/call_context.h"

#include "rewind/keras/layer_state.h"

namespace rw::keras {
namespace {

thread_local CallContext* t_context = nullptr;

}  // namespace

CallContext::CallContext() : outermost_(t_context == nullptr), root_(outermost_ ? this : t_context) {
  if (outermost_) t_context = this;
}

CallContext::~CallContext() {
  if (outermost_) t_context = nullptr;
}

CallContext* CallContext::current() { return t_context; }

Tensor CallContext::mask_of(const Tensor& tensor) const {
  if (root_->masks_.empty()) return {};
  const auto found = root_->masks_.find(tensor.impl());
  return found == root_->masks_.end() ? Tensor() : found->second.mask;
}

void CallContext::set_mask(const Tensor& tensor, const Tensor& mask) {
  if (mask.defined()) root_->masks_[tensor.impl()] = {tensor, mask};
}

std::string CallContext::path() const {
  std::string text;
  for (const Entry& e : root_->stack_) text += (text.empty() ? "" : "/") + e.layer->name;
  return text;
}

}  // namespace rw::keras
