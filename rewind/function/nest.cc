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

uint64_t TraceKey::hash() const {
  uint64_t h = 0x9e3779b97f4a7c15;
  for (const uint64_t w : words_) h = (h ^ w) * 0xff51afd7ed558ccd, h ^= h >> 32;
  return h;
}

}  // namespace rw
