// Tensors from other libraries whose fields are missing or make no sense.
#include "rewind/tensor/dlpack.h"

#include <gtest/gtest.h>

#include <limits>

#include "rewind/rewind.h"
#include "rewind/tensor/dlpack_abi.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

struct Foreign {
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t dims[2] = {2, 3};
  int freed = 0;
  DLManagedTensor managed{{data, {kRwDlCpu, 0}, 2, {kRwDlFloat, 32, 1}, dims, nullptr, 0},
                          this,
                          [](DLManagedTensor* m) { ++static_cast<Foreign*>(m->manager_ctx)->freed; }};
  DLTensor& tensor() { return managed.dl_tensor; }
  // What is refused still belongs to the caller.
  void expect_refused(const std::string& why) {
    expect_error<InvalidArgumentError>([&] { from_dlpack(&managed); }, why);
    EXPECT_EQ(freed, 0);
  }
};

TEST(DlpackErrors, MissingShape) {
  Foreign f;
  f.tensor().shape = nullptr;
  f.expect_refused("[from_dlpack] shape must not be null: the tensor has 2 axes");
}

TEST(DlpackErrors, ScalarsHaveNoShape) {
  Foreign f;
  f.tensor().shape = nullptr;
  f.tensor().ndim = 0;
  f.tensor().byte_offset = 2 * sizeof(float);
  {
    const Tensor x = from_dlpack(&f.managed);
    EXPECT_EQ(x.shape(), Shape());
    EXPECT_EQ(x.item<float>(), 2);
  }
  EXPECT_EQ(f.freed, 1);
}

TEST(DlpackErrors, SizesThatMakeNoSense) {
  Foreign f;
  f.dims[1] = -1;
  f.expect_refused("sizes must not be negative");
  f.dims[1] = -7;
  f.expect_refused("sizes must not be negative");
  f.dims[0] = f.dims[1] = int64_t{1} << 40;
  f.expect_refused("overflows");
  f.dims[0] = 1;
  f.dims[1] = int64_t{1} << 61;
  f.expect_refused("overflows");
  f.tensor().ndim = -1;
  f.expect_refused("ndim must not be negative: got -1");
  f.tensor().ndim = std::numeric_limits<int32_t>::max();
  f.expect_refused("rank must be at most 254");
}

TEST(DlpackErrors, MissingMemory) {
  Foreign f;
  f.tensor().data = nullptr;
  f.expect_refused("data must not be null");
  f.tensor().byte_offset = 4096;
  f.expect_refused("data must not be null");
  f.dims[1] = 0;
  EXPECT_EQ(from_dlpack(&f.managed).shape(), Shape({2, 0}));
  EXPECT_EQ(f.freed, 1);
}

TEST(DlpackErrors, TypesThatRewindLacks) {
  Foreign f;
  f.tensor().dtype.lanes = 4;
  f.expect_refused("lanes 1: got code 2, 32 bits, 4 lanes");
  f.tensor().dtype.lanes = 0;
  f.expect_refused("0 lanes");
  f.tensor().dtype = {kRwDlFloat, 8, 1};
  f.expect_refused("unsupported dtype: code 2, 8 bits");
  f.tensor().dtype = {77, 32, 1};
  f.expect_refused("unsupported dtype: code 77");
}

}  // namespace
}  // namespace rw
