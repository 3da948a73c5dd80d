// linspace's types by TensorFlow's rules; its values of integers too.
#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

TEST(Linspace, OfIntegersIsReal) {
  const Tensor numbers = linspace(-2, 2, 5);
  EXPECT_EQ(numbers.dtype(), float64);
  EXPECT_EQ(numbers.to_vector<double>(), (std::vector<double>{-2, -1, 0, 1, 2}));
  struct Case {
    DType given, result;
  };
  for (const auto [given, result] : {Case{int32, float64},
                                     {int64, float64},
                                     {uint32, float64},
                                     {uint64, float64},
                                     {int8, float32},
                                     {uint8, float32},
                                     {int16, float32},
                                     {uint16, float32},
                                     {float32, float32},
                                     {float64, float64},
                                     {float16, float16},
                                     {bfloat16, bfloat16}}) {
    const Tensor from = cast(constant(1), given), to = cast(constant(4), given);
    for (const Tensor& t : {linspace(from, to, 3), linspace(from, 4, 3), linspace(1, to, 3)}) {
      EXPECT_EQ(t.dtype(), result) << name_of(given);
      EXPECT_EQ(cast(t, float64).to_vector<double>(), (std::vector<double>{1, 2.5, 4})) << name_of(given);
    }
    EXPECT_EQ(linspace(from, to, 1).dtype(), result) << name_of(given);
  }
  const Tensor far = constant(int64_t{1} << 40);
  EXPECT_EQ(linspace(0, far, 3).to_vector<double>(), (std::vector<double>{0, 0x1p39, 0x1p40}));
  EXPECT_EQ(linspace({1, 2}, {3, 4}, 3).to_vector<double>(), (std::vector<double>{1, 2, 2, 3, 3, 4}));
}

TEST(Linspace, OfRealNumbersOfCIsFloat32) {
  EXPECT_EQ(linspace(-2.0, 2.0, 5).dtype(), float32);
  EXPECT_EQ(linspace(-2.0, 2, 5).dtype(), float32);
  EXPECT_EQ(linspace(-2, 2.0, 5).dtype(), float32);
  EXPECT_EQ(linspace(-2, constant(2.0, float64), 5).dtype(), float64);
  EXPECT_EQ(linspace(0.1, constant(0.3, float64), 2).to_vector<double>(), (std::vector<double>{0.1, 0.3}));
}

TEST(Linspace, RefusesTwoTypes) {
  expect_error<InvalidArgumentError>([] { linspace(constant(2), constant(3.0), 3); },
                                     "one dtype: got int32 and float32");
  expect_error<InvalidArgumentError>([] { linspace(constant(2), 4.5, 3); }, "does not convert to int32");
}

TEST(Linspace, OfTensorsHasGradients) {
  const Variable from(1.0), to(4.0);
  GradientTape tape;
  const Tensor sum = reduce_sum(linspace(from, to, 4));
  const auto g = tape.gradient(sum, {from, to});
  EXPECT_FLOAT_EQ(g[0].tensor().item<float>(), 2);
  EXPECT_FLOAT_EQ(g[1].tensor().item<float>(), 2);
}

}  // namespace
}  // namespace rw
