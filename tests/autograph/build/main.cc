// Every part eagerly and as a function.
#include <rewind/rewind.h>

#include <cstdio>

rw::Tensor plain(rw::Tensor), precompiled(rw::Tensor), reused(rw::Tensor), unity(rw::Tensor),
    newer(rw::Tensor), generated(rw::Tensor);
extern "C" double flags(double);  // in a library with a Rewind of its own

int main() {
  int wrong = 0;
  const auto check = [&](const char* name, rw::Tensor (*f)(rw::Tensor), float at_3, float at_minus_3) {
    const auto staged = rw::function(f);
    for (const auto& [x, y] : {std::pair{3.0F, at_3}, {-3.0F, at_minus_3}}) {
      const float eager = f(rw::constant(x)).item<float>(), graph = staged(rw::constant(x)).item<float>();
      if (eager == y && graph == y) continue;
      std::printf("%s(%g): expected %g, got %g eagerly and %g as a function\n", name, x, y, eager, graph);
      ++wrong;
    }
    if (staged.tracing_count() != 1)
      std::printf("%s: %d traces\n", name, int(staged.tracing_count())), ++wrong;
  };
  check("plain", plain, 6, -7);
  check("precompiled", precompiled, 12, -6);
  check("reused", reused, 5, -3);
  check("unity", unity, 7, -2);
  check("newer", newer, 9, 3);
  check("generated", generated, 6, -3);
  if (flags(3) != 4 || flags(-3) != -2) std::printf("flags: got %g and %g\n", flags(3), flags(-3)), ++wrong;
  if (!wrong) std::printf("all parts agree\n");
  return wrong;
}
