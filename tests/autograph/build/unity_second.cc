#include "local.h"

rw::Tensor unity_second(rw::Tensor x) {
  if (x > 0 || x < -5) return x + 1;
  return x + 1;
}
