#include <rewind/rewind.h>

rw::Tensor left_alone(rw::Tensor x) { return x + 1; }
