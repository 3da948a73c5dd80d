// Identity of kernels: their structure, without the name.
#include <cstring>

#include "rewind/compiler/loop/ir.h"

namespace rw::loop {
namespace {

class Hasher {
 public:
  void add(uint64_t v) {
    state_ ^= v;
    state_ *= 0x9fb21c651e98df25u;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view text) {
    uint64_t h = 1469598103934665603u;
    for (char c : text) h = (h ^ uint8_t(c)) * 1099511628211u;
    add(h);
  }
  void add(const Affine& a) {
    add(uint64_t(a.constant));
    add(uint64_t(int64_t(a.dynamic)));
    for (const Affine::Term& t : a.terms) {
      add(uint64_t(t.loop));
      add(uint64_t(t.step));
    }
  }
  void add(const Block& block) {
    add(block.size());
    for (const Stmt& s : block) add(s);
  }
  void add(const Stmt& s) {
    add(uint64_t(s.code) | uint64_t(s.dtype) << 8 | uint64_t(s.kind) << 16 |
        uint64_t(uint32_t(s.result)) << 24);
    for (Var v : s.args) add(uint64_t(v));
    add(s.op);
    add(s.literal);
    add(uint64_t(uint32_t(s.buffer)) << 32 | uint32_t(s.local));
    add(s.at);
    add(uint64_t(s.loop));
    add(uint64_t(s.extent));
    for (const Reduction& r : s.reductions) {
      add(uint64_t(r.combine) | uint64_t(r.dtype) << 8);
      add(uint64_t(uint32_t(r.value)) << 32 | uint32_t(r.result));
    }
    add(s.condition);
    add(s.body);
    add(s.other);
  }
  uint64_t value() const { return state_ ^ state_ >> 29; }

 private:
  uint64_t state_ = 0x2545f4914f6cdd1du;
};

bool same(const Affine& a, const Affine& b) {
  if (a.constant != b.constant || a.dynamic != b.dynamic || a.terms.size() != b.terms.size()) return false;
  for (size_t i = 0; i < a.terms.size(); ++i)
    if (a.terms[i].loop != b.terms[i].loop || a.terms[i].step != b.terms[i].step) return false;
  return true;
}

bool same(const Reduction& a, const Reduction& b) {
  return a.combine == b.combine && a.dtype == b.dtype && a.value == b.value && a.result == b.result;
}

bool same(const Block& a, const Block& b);

bool same(const Stmt& a, const Stmt& b) {
  if (a.code != b.code || a.dtype != b.dtype || a.result != b.result || !(a.args == b.args) || a.op != b.op ||
      a.literal != b.literal || a.buffer != b.buffer || a.local != b.local || a.loop != b.loop ||
      a.extent != b.extent || a.kind != b.kind || a.reductions.size() != b.reductions.size())
    return false;
  for (size_t i = 0; i < a.reductions.size(); ++i)
    if (!same(a.reductions[i], b.reductions[i])) return false;
  return same(a.at, b.at) && same(a.condition, b.condition) && same(a.body, b.body) && same(a.other, b.other);
}

bool same(const Block& a, const Block& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

}  // namespace

uint64_t hash_of(const Kernel& kernel) {
  Hasher h;
  for (const BufferDef& b : kernel.buffers) {
    h.add(uint64_t(b.dtype) | uint64_t(b.role) << 8);
    h.add(uint64_t(b.size));
  }
  h.add(kernel.body);
  return h.value();
}

bool equal(const Kernel& a, const Kernel& b) {
  if (a.buffers.size() != b.buffers.size()) return false;
  for (size_t i = 0; i < a.buffers.size(); ++i)
    if (a.buffers[i].dtype != b.buffers[i].dtype || a.buffers[i].size != b.buffers[i].size ||
        a.buffers[i].role != b.buffers[i].role)
      return false;
  return same(a.body, b.body);
}

}  // namespace rw::loop
