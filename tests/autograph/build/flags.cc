#include <rewind/rewind.h>

#ifndef flags_EXPORTS
#error "a shared library has this defined"
#endif

rw::Tensor left_alone(rw::Tensor x);

rw::Tensor bend(rw::Tensor x) {
  if (x > 0) return left_alone(x);
  return x + 1;
}

extern "C" [[gnu::visibility("default")]] double flags(double x) {
  return rw::function(bend)(rw::constant(x)).item<float>();
}
