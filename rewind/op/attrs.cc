#include "rewind/op/attrs.h"

#include <algorithm>

#include "rewind/base/number_text.h"

namespace rw {
namespace {

std::string text_of(int64_t v) { return std::to_string(v); }
std::string text_of(double v) { return general_text(v, 9); }
std::string text_of(bool v) { return v ? "true" : "false"; }
std::string text_of(const std::string& v) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "'";
  for (const char c : v) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') text += "\\n";
    else if (byte >= 0x20 && byte < 0x7f) text += c;
    else text += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
  }
  return text + "'";
}
std::string text_of(DType v) { return std::string(name_of(v)); }
std::string text_of(const Shape& v) { return v.has_rank() ? v.to_string() : "unknown"; }
std::string text_of(const HostTensor& v) {
  return "tensor of " + std::string(name_of(v.dtype)) + v.shape.to_string();
}
std::string text_of(const BodyRef& v) { return v ? v->body_name() : "no function"; }
template <class T>
std::string text_of(const std::vector<T>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) text += ", ";
    text += text_of(T(list[i]));
  }
  return text + "]";
}

}  // namespace

std::string AttrValue::to_string() const {
  return std::visit([](const auto& v) { return text_of(v); }, value_);
}

Attrs::Attrs(std::initializer_list<std::pair<std::string_view, AttrValue>> list) {
  if (list.size() == 0) return;
  list_ = Ref<List>::adopt(new List);
  list_->items.reserve(list.size());
  for (const auto& [name, value] : list) list_->items.emplace_back(name, value);
}

Attrs::Attrs(const std::vector<std::pair<std::string, AttrValue>>& list) {
  if (list.empty()) return;
  list_ = Ref<List>::adopt(new List);
  list_->items = list;
}

const AttrValue* Attrs::find(std::string_view name) const {
  if (!list_) return nullptr;
  for (const auto& [key, value] : list_->items)
    if (key == name) return &value;
  return nullptr;
}

Attrs Attrs::with(std::string_view name, AttrValue value) const {
  std::vector<std::pair<std::string, AttrValue>> items(begin(), end());
  const auto old =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
  if (old != items.end()) old->second = std::move(value);
  else items.emplace_back(name, std::move(value));
  Attrs out(items);
  out.list_->kept = kept();
  return out;
}

Attrs Attrs::keeping(std::shared_ptr<const void> object) const {
  Attrs out(std::vector<std::pair<std::string, AttrValue>>(begin(), end()));
  out.list_->kept = std::move(object);
  return out;
}

const std::shared_ptr<const void>& Attrs::kept() const {
  // Never destroyed: attributes may be looked at while the process ends.
  static const auto& nothing = *new std::shared_ptr<const void>;
  return list_ ? list_->kept : nothing;
}

}  // namespace rw
