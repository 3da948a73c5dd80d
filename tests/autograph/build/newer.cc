#include <rewind/rewind.h>

#if __cplusplus <= 202002L
#error "C++ 23 is expected"
#endif

struct Grid {
  rw::Tensor operator[](const rw::Tensor& x, size_t power) const {
    rw::Tensor y = x;
    for (auto i = 1uz; i < power; ++i)
      if (y > 0) y = y * x;
    return y;
  }
};
constexpr int how() {
  if consteval {
    return 1;
  } else {
    return 2;
  }
}

rw::Tensor newer(rw::Tensor x) {
  const Grid grid;
  x = grid[auto(x), 2];
  if (x < 0) x = -x;
  return how() == 2 ? x : x * 0;
}
