#include "rewind/compiler/rewrite.h"

#include "rewind/base/dispatch.h"

namespace rw {

Uses::Uses(const Graph& g) : needed(g.nodes().size(), 0), count(g.num_values(), 0) {
  for (const ValueId v : g.outputs) ++count[size_t(v)];
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    bool wanted = n.op->stateful && effects_of(n).must_run();
    for (const ValueId v : n.outputs) wanted |= count[size_t(v)] > 0;
    if (!wanted) continue;
    needed[i] = 1;
    for (const ValueId v : n.inputs) ++count[size_t(v)];
  }
}

double known_element(const HostTensor& t, int64_t i) {
  double number = 0;
  dispatch<kRealTypes | set_of(DType::kBool)>(t.dtype, [&]<class T>() {
    number = double(static_cast<Compute<T>>(static_cast<const T*>(t.data.get())[i]));
  });
  return number;
}

bool known_splat(const GraphValue& v, double number) {
  constexpr int64_t kMostLooked = 4096;
  if (!v.known.data || is_host_only(v.dtype)) return false;
  const int64_t n = v.known.shape.num_elements();
  if (n > kMostLooked) return false;
  for (int64_t i = 0; i < n; ++i)
    if (known_element(v.known, i) != number) return false;
  return true;
}

}  // namespace rw
