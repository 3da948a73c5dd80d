#include "rewind/function/nest.h"

#include "rewind/device/device.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {

void TraceKey::add_tensor(const Tensor& t) {
  if (!t.defined()) return add(kNothing, 0);
  const Shape& s = t.shape();
  // The first processor is 0; a traced tensor has no device yet.
  const Device* device = t.impl()->device();
  const uint64_t place = device ? uint64_t(device->type()) << 12 | uint64_t(device->index()) : 0;
  add(kTensor, place << 40 | uint64_t(t.dtype()) << 32 | uint32_t(s.rank()));
  for (const int64_t d : s) add(uint64_t(d));
}

void TraceKey::add_text(std::string_view text) {
  add(kText, text.size());
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    add(word);
  }
}

static size_t place_of(const Variable& v, const SmallVector<Variable, 2>& list) {
  size_t i = 0;
  while (i < list.size() && list[i].identity() != v.identity()) ++i;
  return i;
}

void Nest<Variable>::write(const Variable& v, NestWriter& w) {
  if (!v.defined()) return w.key.add(TraceKey::kNothing, 0);
  w.key.add(TraceKey::kVariable, 0);
  if (!w.objects) return w.key.add(reinterpret_cast<uint64_t>(v.identity().get()));
  const size_t place = place_of(v, w.objects->variables);
  if (place == w.objects->variables.size()) w.objects->variables.push_back(v);
  w.key.add(uint64_t(place) << 16 | uint64_t(v.trainable()) << 8 | uint64_t(v.dtype()));
  w.key.add(uint64_t(uint32_t(v.shape().rank())));
  for (const int64_t d : v.shape()) w.key.add(uint64_t(d));
}

Variable Nest<Variable>::read(const Variable& like, NestReader& r) {
  return like.defined() && r.written ? (*r.variables)[place_of(like, *r.written)] : like;
}

void Nest<random::Generator>::write(const random::Generator& g, NestWriter& w) {
  const std::shared_ptr<const void> identity = g.state().identity();
  w.key.add(TraceKey::kObject, 0);
  w.key.add(reinterpret_cast<uint64_t>(identity.get()));
  if (w.objects) w.objects->key_owners.push_back(identity);
}

uint64_t TraceKey::hash() const {
  uint64_t h = 0x9e3779b97f4a7c15;
  for (const uint64_t w : words_) h = (h ^ w) * 0xff51afd7ed558ccd, h ^= h >> 32;
  return h;
}

}  // namespace rw
