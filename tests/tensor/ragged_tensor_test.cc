// RaggedTensor: rows of different lengths as a value.
#include "rewind/tensor/ragged_tensor.h"

#include <gtest/gtest.h>

#include <sstream>

#include "rewind/rewind.h"

namespace rw {
namespace {

std::string text(const RaggedTensor& x) {
  std::ostringstream out;
  out << x;
  return out.str().substr(std::string("<tf.RaggedTensor ").size(),
                          out.str().size() - std::string("<tf.RaggedTensor >").size());
}
std::vector<int64_t> ints(const Tensor& t) { return cast(t, int64).to_vector<int64_t>(); }

const Tensor kDigits = constant({3, 1, 4, 1, 5, 9, 2});

TEST(RaggedTensor, MakersAgree) {
  const char* want = "[[3, 1], [], [4, 1, 5, 9], [2]]";
  EXPECT_EQ(text(RaggedTensor::from_row_splits(kDigits, {0, 2, 2, 6, 7})), want);
  EXPECT_EQ(text(RaggedTensor::from_row_lengths(kDigits, {2, 0, 4, 1})), want);
  EXPECT_EQ(text(RaggedTensor::from_row_starts(kDigits, {0, 2, 2, 6})), want);
  EXPECT_EQ(text(RaggedTensor::from_row_limits(kDigits, {2, 2, 6, 7})), want);
  EXPECT_EQ(text(RaggedTensor::from_value_rowids(kDigits, {0, 0, 2, 2, 2, 2, 3})), want);
  EXPECT_EQ(text(RaggedTensor::from_value_rowids(kDigits, {0, 0, 2, 2, 2, 2, 3}, 5)),
            "[[3, 1], [], [4, 1, 5, 9], [2], []]");
  EXPECT_EQ(text(ragged::constant<int32_t>({{3, 1}, {}, {4, 1, 5, 9}, {2}})), want);
  const RaggedTensor inner = RaggedTensor::from_row_lengths(kDigits, {2, 0, 4, 1});
  const RaggedTensor nested = RaggedTensor::from_row_lengths(inner, {1, 0, 3});
  EXPECT_EQ(text(nested), "[[[3, 1]], [], [[], [4, 1, 5, 9], [2]]]");
  EXPECT_EQ(text(RaggedTensor::from_nested_row_splits(kDigits, nested.nested_row_splits)), text(nested));
  EXPECT_EQ(text(RaggedTensor::from_nested_row_lengths(kDigits, nested.nested_row_lengths())), text(nested));
  EXPECT_EQ(text(nested.inner()), want);
}

TEST(RaggedTensor, FromTensors) {
  const Tensor t = constant({{5, 7, 0}, {0, 3, 0}, {6, 0, 0}, {0, 0, 0}});
  EXPECT_EQ(text(RaggedTensor::from_tensor(t)), "[[5, 7, 0], [0, 3, 0], [6, 0, 0], [0, 0, 0]]");
  EXPECT_EQ(text(RaggedTensor::from_tensor(t, 0)), "[[5, 7], [0, 3], [6], []]");
  EXPECT_EQ(text(RaggedTensor::from_tensor_lengths(t, {1, 0, 3, 3})), "[[5], [], [6, 0, 0], [0, 0, 0]]");
  const Tensor deep = reshape(range(12), {2, 3, 2});
  EXPECT_EQ(text(RaggedTensor::from_tensor_lengths(deep, {2, 1})), "[[[0, 1], [2, 3]], [[6, 7]]]");
}

TEST(RaggedTensor, WhatItIs) {
  const RaggedTensor x = RaggedTensor::from_row_lengths(kDigits, {2, 0, 4, 1});
  EXPECT_EQ(ints(x.row_lengths()), (std::vector<int64_t>{2, 0, 4, 1}));
  EXPECT_EQ(ints(x.row_starts()), (std::vector<int64_t>{0, 2, 2, 6}));
  EXPECT_EQ(ints(x.row_limits()), (std::vector<int64_t>{2, 2, 6, 7}));
  EXPECT_EQ(ints(x.value_rowids()), (std::vector<int64_t>{0, 0, 2, 2, 2, 2, 3}));
  EXPECT_EQ(x.nrows().item<int64_t>(), 4);
  EXPECT_EQ(ints(x.bounding_shape()), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(x.shape(), (Shape{4, -1}));
  EXPECT_EQ(x.ragged_rank(), 1);
  const RaggedTensor nested = RaggedTensor::from_row_lengths(x, {1, 0, 3});
  EXPECT_EQ(ints(nested.bounding_shape()), (std::vector<int64_t>{3, 3, 4}));
  EXPECT_EQ(ints(nested.value_rowids()), (std::vector<int64_t>{0, 2, 2, 2}));
  EXPECT_EQ(text(nested.row(2)), "[[], [4, 1, 5, 9], [2]]");
  EXPECT_EQ(ints(x[-2]), (std::vector<int64_t>{4, 1, 5, 9}));
  EXPECT_EQ(text(x.slice(1, 3)), "[[], [4, 1, 5, 9]]");
  EXPECT_EQ(text(x.slice(-1)), "[[2]]");
  EXPECT_EQ(text(nested.slice(1)), "[[], [[], [4, 1, 5, 9], [2]]]");
  EXPECT_EQ(ints(x.to_tensor()), (std::vector<int64_t>{3, 1, 0, 0, 0, 0, 0, 0, 4, 1, 5, 9, 2, 0, 0, 0}));
  EXPECT_EQ(x.to_tensor(-1, {2, 3}).shape(), (Shape{2, 3}));
  EXPECT_EQ(nested.to_tensor().shape(), (Shape{3, 3, 4}));
}

TEST(RaggedTensor, PrintsAsTensorFlow) {
  EXPECT_EQ(text(ragged::constant<float>({{1.5f, 2}, {}, {-0.25f}})), "[[1.5, 2.0], [], [-0.25]]");
  EXPECT_EQ(text(ragged::constant<std::string>({{"a", "b c"}, {}})), "[[b'a', b'b c'], []]");
  EXPECT_EQ(text(RaggedTensor::from_row_lengths(constant({true, false}), {2})), "[[True, False]]");
  EXPECT_EQ(text(RaggedTensor::from_rows(strings::split(constant({"a b", "", "c"})))),
            "[[b'a', b'b'], [], [b'c']]");
}

TEST(RaggedTensor, ElementByElement) {
  const RaggedTensor x = ragged::constant<float>({{3, 1}, {}, {4}}),
                     y = ragged::constant<float>({{1, 2}, {}, {8}});
  EXPECT_EQ(text(x + y), "[[4.0, 3.0], [], [12.0]]");
  EXPECT_EQ(text(x * 2.0 - y), "[[5.0, 0.0], [], [0.0]]");
  EXPECT_EQ(text(-x / y), "[[-3.0, -0.5], [], [-0.5]]");
  EXPECT_EQ(text(x + constant({{10.f}, {20.f}, {30.f}})), "[[13.0, 11.0], [], [34.0]]");
  EXPECT_EQ(text(ragged::less(x, y)), "[[False, True], [], [True]]");
  EXPECT_EQ(text(ragged::equal(x, 3.0)), "[[True, False], [], [False]]");
  EXPECT_EQ(text(ragged::map_flat_values([](const Tensor& v) { return square(v); }, x)),
            "[[9.0, 1.0], [], [16.0]]");
  EXPECT_THROW(x + ragged::constant<float>({{1}, {2}, {3}}), InvalidArgumentError);
}

TEST(RaggedTensor, Reductions) {
  const RaggedTensor x = ragged::constant<float>({{3, 1, 4}, {1, 5}, {9}, {2, 6}});
  EXPECT_EQ(ragged::reduce_sum(x, 1).to_vector<float>(), (std::vector<float>{8, 6, 9, 8}));
  EXPECT_EQ(ragged::reduce_sum(x, 0).to_vector<float>(), (std::vector<float>{15, 12, 4}));
  EXPECT_EQ(ragged::reduce_max(x, 1).to_vector<float>(), (std::vector<float>{4, 5, 9, 6}));
  EXPECT_EQ(ragged::reduce_min(x, 0).to_vector<float>(), (std::vector<float>{1, 1, 4}));
  EXPECT_EQ(ragged::reduce_mean(x, 1).to_vector<float>(), (std::vector<float>{8.0f / 3, 3, 9, 4}));
  EXPECT_EQ(ragged::reduce_prod(x, 1).to_vector<float>(), (std::vector<float>{12, 5, 9, 12}));
  const RaggedTensor big = ragged::less(x, 5.0);
  EXPECT_EQ(ragged::reduce_all(big, 1).to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(ragged::reduce_any(big, 1).to_vector<bool>(), (std::vector<bool>{true, true, false, true}));
}

TEST(RaggedTensor, Joins) {
  const RaggedTensor x = ragged::constant<int32_t>({{1, 2}, {}, {3}}),
                     y = ragged::constant<int32_t>({{4}, {5, 6}, {}});
  EXPECT_EQ(text(ragged::concat({x, y}, 0)), "[[1, 2], [], [3], [4], [5, 6], []]");
  EXPECT_EQ(text(ragged::concat({x, y}, 1)), "[[1, 2, 4], [5, 6], [3]]");
  EXPECT_EQ(text(ragged::gather(x, {2, 0, 0})), "[[3], [1, 2], [1, 2]]");
}

TEST(RaggedTensor, ThroughFunctionsAndTapes) {
  int traces = 0;
  auto scaled = function([&](const RaggedTensor& x, const Tensor& by) {
    ++traces;
    return ragged::concat({x * by, ragged::gather(x, {0})}, 0);
  });
  const RaggedTensor x = ragged::constant<float>({{3, 1}, {}, {4}});
  EXPECT_EQ(text(scaled(x, constant(2.f))), "[[6.0, 2.0], [], [8.0], [3.0, 1.0]]");
  EXPECT_EQ(text(scaled(ragged::constant<float>({{5, 5}, {1}, {}}), constant(1.f))),
            "[[5.0, 5.0], [1.0], [], [5.0, 5.0]]");
  EXPECT_EQ(traces, 1);

  auto mean_of =
      function([](const RaggedTensor& v) { return reduce_sum(square(ragged::reduce_mean(v, 1))); });
  const RaggedTensor rows = ragged::constant<float>({{3, 1}, {2}, {4, 4, 4, 4}});
  for (const bool traced : {false, true}) {
    GradientTape tape;
    tape.watch(rows.flat_values);
    const Tensor y = traced ? mean_of(rows) : reduce_sum(square(ragged::reduce_mean(rows, 1)));
    EXPECT_EQ(y.item<float>(), 24);
    EXPECT_EQ(tape.gradient(y, rows.flat_values).tensor().to_vector<float>(),
              (std::vector<float>{2, 2, 4, 2, 2, 2, 2}));
  }
}

TEST(RaggedTensor, WhatCannotBe) {
  for (const std::vector<int64_t>& splits : {std::vector<int64_t>{1, 7}, {0, 3}, {0, 5, 3, 7}, {0, 8}, {}})
    EXPECT_THROW(RaggedTensor::from_row_splits(kDigits, constant(splits, {int64_t(splits.size())})),
                 InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_row_lengths(kDigits, {3, 3}), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_value_rowids(kDigits, {1, 0, 2, 2, 2, 2, 3}), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_value_rowids(kDigits, {0, 0, 2, 2, 2, 2, 3}, 3), InvalidArgumentError);
  EXPECT_THROW(ragged::constant<int32_t>({{1}})[1], OutOfRangeError);
}

}  // namespace
}  // namespace rw
