#include "tests/autograph/check.h"

#include <sstream>

namespace rw::autograph_test {

std::map<std::string, Ways>& programs() {
  static auto* all = new std::map<std::string, Ways>;
  return *all;
}

namespace {

struct Result {
  Tensor value, gradient;
};
Result run(const Program& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  return {y, tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::ZERO}).tensor()};
}
// NaN is itself.
bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor equal_or_nan = logical_or(equal(a, b), logical_and(not_equal(a, a), not_equal(b, b)));
  return bool(reduce_all(equal_or_nan));
}
void compare(const char* way, const Tensor& x, const Result& expected, const Result& got, std::ostream& out) {
  if (!same(expected.value, got.value))
    out << way << " at " << x << ": expected " << expected.value << ", got " << got.value << "\n";
  if (!same(expected.gradient, got.gradient))
    out << way << ", gradient at " << x << ": expected " << expected.gradient << ", got " << got.gradient
        << "\n";
}

}  // namespace

std::string differences(const Ways& ways) {
  std::ostringstream out;
  const auto staged = function([&](Tensor x) { return ways.converted(x); });
  for (const double input : {0.3, 1.7, -2.0, 5.5, 9.0}) {
    const Tensor x = constant(input);
    try {
      const Result expected = run(ways.plain, x);
      compare("converted", x, expected, run(ways.converted, x), out);
      compare("staged", x, expected, run([&](Tensor v) { return staged(v); }, x), out);
    } catch (const std::exception& e) {
      out << "at " << x << ": " << e.what() << "\n";
      return out.str();
    }
  }
  if (staged.tracing_count() != 1) out << staged.tracing_count() << " traces\n";
  return out.str();
}

}  // namespace rw::autograph_test
