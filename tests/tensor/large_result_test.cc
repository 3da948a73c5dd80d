// Results too large for the caches are written past them; they hold what small ones hold.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "rewind/kernel/cpu/large_result.h"
#include "rewind/rewind.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw {
namespace {

constexpr int64_t kColumns = 4096 + 16;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.impl()->data, b.impl()->data, size_t(a.size()) * size_of(a.dtype())) == 0;
}

// f of the whole, and of its rows a few at a time, which is not large.
void expect_same_in_parts(const char* what, const std::vector<Tensor>& args,
                          const std::function<Tensor(const std::vector<Tensor>&)>& f) {
  const Tensor whole = f(args);
  ASSERT_GE(whole.size() * int64_t(size_of(whole.dtype())), LargeResult::kBytes) << what;
  const int64_t rows = whole.dim(0), step = rows / 9 + 1;
  for (int64_t r = 0; r < rows; r += step) {
    const int64_t end = std::min(rows, r + step);
    std::vector<Tensor> parts;
    for (const Tensor& t : args) parts.push_back(t.rank() > 0 && t.dim(0) == rows ? t(Slice(r, end)) : t);
    ASSERT_TRUE(same_bits(whole(Slice(r, end)), f(parts))) << what << ", rows from " << r;
  }
}

Tensor drawn(Shape shape, int64_t seed) {
  return random::stateless_normal(std::move(shape), constant(std::vector<int64_t>{seed, 3}));
}

TEST(LargeResult, HoldsWhatSmallOnesHold) {
  const int64_t rows = LargeResult::kBytes / 4 / kColumns + 1;
  const Tensor x = drawn({rows, kColumns}, 1), y = drawn({rows, kColumns}, 2);
  const Tensor row = drawn({kColumns}, 3), column = drawn({rows, 1}, 4);
  using Args = std::vector<Tensor>;
  expect_same_in_parts("add", {x, y}, [](const Args& a) { return a[0] + a[1]; });
  expect_same_in_parts("with one number", {x}, [](const Args& a) { return 3.f - a[0]; });
  expect_same_in_parts("rows", {x, row}, [](const Args& a) { return a[0] * a[1]; });
  expect_same_in_parts("columns", {x, column}, [](const Args& a) { return a[0] - a[1]; });
  expect_same_in_parts("exp", {x}, [](const Args& a) { return exp(a[0]); });
  expect_same_in_parts("cast", {x}, [](const Args& a) { return cast(a[0], DType::kFloat64); });
  expect_same_in_parts("where", {x, y}, [](const Args& a) { return where(a[0] > a[1], a[0], a[1]); });
}

TEST(LargeResult, OfAnySizeAndType) {
  for (const int64_t more : {0, 1, 15, 16, 129, 5000}) {
    const int64_t n = LargeResult::kBytes / 2 + more;
    const Tensor x = cast(drawn({n}, more), DType::kBfloat16);
    expect_same_in_parts("bfloat16", {x}, [](const std::vector<Tensor>& a) { return a[0] + a[0]; });
  }
  const Tensor x = drawn({LargeResult::kBytes + 77}, 5);
  expect_same_in_parts("bool", {x}, [](const std::vector<Tensor>& a) { return a[0] < 0.f; });
}

}  // namespace
}  // namespace rw
