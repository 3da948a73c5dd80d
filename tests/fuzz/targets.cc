#include "tests/fuzz/fuzz.h"

#define EACH_TARGET(X) \
  X(table)             \
  X(checkpoint)        \
  X(saved_model)       \
  X(graph_def) X(message) X(safetensors) X(json) X(keras) X(hdf5) X(npy) X(zip) X(data) X(regex) X(vocabulary)

#define DECLARE(name) const rw::fuzz::Target& rw_fuzz_target_##name();
EACH_TARGET(DECLARE)
#undef DECLARE

namespace rw::fuzz {

#define TARGET(name) &rw_fuzz_target_##name(),
const std::vector<const Target*>& targets() {
  static const std::vector<const Target*> list{EACH_TARGET(TARGET)};
  return list;
}
#undef TARGET

}  // namespace rw::fuzz
