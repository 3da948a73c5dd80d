#include "local.h"
#include "of_the_folder.h"

#include <cstring>

extern "C" double from_c(void);

static_assert(OF_THIS_FILE == 1 && FORCED == 1 && OF_THE_FOLDER == 1);

rw::Tensor plain(rw::Tensor x) {
  if (std::strlen(GREETING) != 9) return x * 0;
  x = twice_if_positive(x);
  for (rw::Tensor i = 0; i < 2; i += 1) {
    if (x > 0) continue;
    x = x - from_c() * STEP;
  }
  return x;
}
