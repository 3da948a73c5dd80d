// Where eager code has a NaN, compiled code has one, and nowhere else; which NaN is not defined.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "rewind/function/function.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

float nan_of(uint32_t payload, bool negative) {
  return std::bit_cast<float>(0x7fc00000U | payload | (negative ? 0x80000000U : 0U));
}

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

TEST(NotANumber, StandsAtTheSameElementsCompiledAndEager) {
  const std::vector<float> some{nan_of(1, false),
                                nan_of(2, true),
                                nan_of(0x3fff, false),
                                0.0F,
                                -0.0F,
                                INFINITY,
                                -INFINITY,
                                1.5F,
                                -2.0F};
  std::vector<float> left, right;
  for (const float a : some)
    for (const float b : some) left.push_back(a), right.push_back(b);
  const auto f = [](const Tensor& a, const Tensor& b) {
    const Tensor sum = a + b, product = a * b, difference = b - a, quotient = a / b;
    return std::vector<Tensor>{sum,
                               product,
                               difference,
                               quotient,
                               maximum(a, b),
                               minimum(a, b),
                               -a,
                               abs(b),
                               sum * product - a,
                               where(a > b, a, b),
                               cast(cast(product, float16), float32),
                               cast(cast(sum, bfloat16), float32),
                               exp(a) + b,
                               sqrt(a) * b,
                               nn::relu(a) + b};
  };
  const Tensor a = constant(left), b = constant(right);
  const std::vector<Tensor> eager = f(a, b), compiled = function(f)(a, b);
  for (size_t k = 0; k < eager.size(); ++k) {
    const auto want = eager[k].to_vector<float>(), got = compiled[k].to_vector<float>();
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(same(want[i], got[i])) << "result " << k << " of " << left[i] << " and " << right[i]
                                         << ": eager " << want[i] << ", compiled " << got[i];
  }
}

}  // namespace
}  // namespace rw
