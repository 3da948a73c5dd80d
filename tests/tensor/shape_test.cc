// Public shape functions, indexing, sharing of memory, printing, DLPack: what the op table's cases do not
// reach.
#include <gtest/gtest.h>

#include <sstream>

#include "rewind/rewind.h"
#include "rewind/tensor/dlpack.h"
#include "rewind/tensor/dlpack_abi.h"
#include "tests/support/floats.h"

namespace rw {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  return constant(values, shape);
}
using test::floats;
using Floats = std::vector<float>;

TEST(Shape, FunctionsTakeListsAndTensors) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(reshape(x, {3, -1}).shape(), Shape({3, 2}));
  EXPECT_EQ(reshape(x, constant({6})).shape(), Shape({6}));
  EXPECT_EQ(reshape(x, x.shape()).shape(), Shape({2, 3}));
  EXPECT_EQ(floats(transpose(x)), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(expand_dims(x, -1).shape(), Shape({2, 3, 1}));
  EXPECT_EQ(squeeze(expand_dims(x, 0)).shape(), Shape({2, 3}));
  EXPECT_EQ(concat({x, x}, 1).shape(), Shape({2, 6}));
  EXPECT_EQ(stack({x, x}, -1).shape(), Shape({2, 3, 2}));
  EXPECT_EQ(unstack(x, 1).size(), 3u);
  EXPECT_EQ(split(x, 3, 1)[2].shape(), Shape({2, 1}));
  EXPECT_EQ(split(x, {2, -1}, 1)[0].shape(), Shape({2, 2}));
  EXPECT_EQ(split(x, {2})[0].shape(), Shape({2, 3}));
  EXPECT_EQ(floats(slice(x, {0, 1}, {2, 1})), (Floats{1, 4}));
  EXPECT_EQ(tile(x, {2, 2}).shape(), Shape({4, 6}));
  EXPECT_EQ(floats(pad(counting({2}), {{1, 1}}, "CONSTANT", 7)), (Floats{7, 0, 1, 7}));
  EXPECT_EQ(floats(pad(counting({3}), {{2, 0}}, "reflect")), (Floats{2, 1, 0, 1, 2}));
  EXPECT_EQ(floats(reverse(counting({3}), 0)), (Floats{2, 1, 0}));
  EXPECT_EQ(floats(roll(counting({3}), 1, 0)), (Floats{2, 0, 1}));
  EXPECT_EQ(shape(x).to_vector<int32_t>(), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(size(x, int64).item<int64_t>(), 6);
  EXPECT_EQ(rank(x).item<int32_t>(), 2);
  EXPECT_EQ(broadcast_static_shape({2, 1}, {3}), Shape({2, 3}));
  EXPECT_THROW(broadcast_static_shape({2}, {3}), InvalidArgumentError);
  EXPECT_EQ(nn::space_to_depth(counting({1, 2, 2, 1}), 2).shape(), Shape({1, 1, 1, 4}));
}

TEST(Shape, MeshgridHasBothOrders) {
  const auto xy = meshgrid({counting({3}), counting({2})});
  EXPECT_EQ(xy[0].shape(), Shape({2, 3}));
  EXPECT_EQ(floats(xy[0]), (Floats{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(floats(xy[1]), (Floats{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(meshgrid({counting({3}), counting({2})}, "ij")[0].shape(), Shape({3, 2}));
}

TEST(Shape, RepeatTakesANumberOrOnePerElement) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(floats(repeat(x, 2)), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(floats(repeat(x, {1, 2}, 0)), (Floats{0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(floats(repeat(x, {0, 3}, 1)), (Floats{1, 1, 1, 3, 3, 3}));
  EXPECT_EQ(floats(repeat(constant(7.f), 3)), (Floats{7, 7, 7}));
  EXPECT_THROW(repeat(x, {1, 2, 3}, 0), InvalidArgumentError);
  EXPECT_THROW(repeat(x, -1), InvalidArgumentError);
}

TEST(Index, WritesPartsOfVariables) {
  Variable v(counting({2, 3}));
  const Tensor before = v.value();
  assign_slice(v, {Slice(), 1}, 9);
  EXPECT_EQ(v.to_vector<float>(), (Floats{0, 9, 2, 3, 9, 5}));
  assign_slice(v, {1}, counting({3}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{0, 9, 2, 0, 1, 2}));
  EXPECT_EQ(floats(before), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(assign_slice(v, {Slice(0, 1)}, counting({2})), InvalidArgumentError);
}

TEST(Index, FollowsPython) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x[1].shape(), Shape({3, 4}));
  EXPECT_EQ(floats(x[-1][0])[0], 12);
  EXPECT_EQ(x(1, 2, 3).item<float>(), 23);
  EXPECT_EQ(floats(x(0, Slice(), 1)), (Floats{1, 5, 9}));
  EXPECT_EQ(floats(x(1, 0, Slice(none, none, -1))), (Floats{15, 14, 13, 12}));
  EXPECT_EQ(floats(x(1, 0, Slice(-3, -1))), (Floats{13, 14}));
  EXPECT_EQ(x(ellipsis, newaxis).shape(), Shape({2, 3, 4, 1}));
  EXPECT_EQ(x(newaxis, ellipsis, 0).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(x(constant(1), Slice(constant(1), none)).shape(), Shape({2, 4}));
  EXPECT_EQ(x.index({0, Slice(0, 2)}).shape(), Shape({2, 4}));
  float sum = 0;
  for (const Tensor row : counting({3, 2})) sum += row[1].item<float>();
  EXPECT_EQ(sum, 9);
}

TEST(Index, SaysWhatIsOutOfBounds) {
  try {
    counting({2, 3})[5];
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("slice index 5 of dimension 0 out of bounds"), std::string::npos)
        << e.what();
  }
  EXPECT_THROW(counting({2})(0, 0), InvalidArgumentError);
  EXPECT_THROW(counting({2})(constant(1.5)), InvalidArgumentError);
  EXPECT_THROW(counting({2})(ellipsis, ellipsis), InvalidArgumentError);
  EXPECT_THROW(constant(1).begin(), InvalidArgumentError);
}

TEST(Share, BigPartsAreViewsAndVariablesStillCopyOnWrite) {
  const Tensor x = counting({4, 1024});
  EXPECT_EQ(x[2].data<float>().data(), x.data<float>().data() + 2048);
  EXPECT_EQ(split(x, 2)[1].data<float>().data(), x.data<float>().data() + 2048);
  EXPECT_EQ(unstack(x)[3].data<float>().data(), x.data<float>().data() + 3072);
  EXPECT_NE(x(1, 1).host_data(), x.data<float>().data() + 1025);  // small: copied, so that x may go
  const auto double_one = [](const Variable& variable) {
    raw_op("ResourceStridedSliceAssign", {variable.handle(), constant({1}), constant({2}), constant({1}),
                                          variable.value()(Slice(1, 2)) * 2});
  };
  Variable v(x);
  const Tensor row = reshape(v.value()[1], {1024});
  raw_op("ResourceStridedSliceAssign",
         {v.handle(), constant({1}), constant({2}), constant({1}), constant(0.f)});
  EXPECT_EQ(row(1).item<float>(), 1025);
  Variable w(row);  // starts as a view
  double_one(w);
  EXPECT_EQ(x(1, 1).item<float>(), 1025);
  EXPECT_EQ(w.value()(1).item<float>(), 2050);
}

TEST(Print, LooksLikeTensorFlow) {
  EXPECT_EQ(constant({1., 2.5}).to_string(), "tf.Tensor([1.  2.5], shape=(2,), dtype=float32)");
  EXPECT_EQ(constant({{1, 2}, {3, -4}}).to_string(),
            "tf.Tensor(\n[[ 1  2]\n [ 3 -4]], shape=(2, 2), dtype=int32)");
  EXPECT_EQ(constant(0.1).repr(), "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>");
  EXPECT_EQ(constant("it's").to_string(), "tf.Tensor(b\"it's\", shape=(), dtype=string)");
  std::ostringstream out;
  out << constant(true);
  EXPECT_EQ(out.str(), "tf.Tensor(True, shape=(), dtype=bool)");
}

TEST(Dlpack, SharesMemoryBothWays) {
  const Tensor x = counting({2, 3});
  DLManagedTensor* given = to_dlpack(x);
  EXPECT_EQ(given->dl_tensor.data, x.host_data());
  const Tensor back = from_dlpack(given);
  EXPECT_EQ(back.host_data(), x.host_data());
  EXPECT_EQ(back.shape(), x.shape());
}

TEST(Dlpack, CopiesWhatIsNotRowMajor) {
  static int freed = 0;
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t dims[2] = {3, 2}, strides[2] = {1, 3};
  DLManagedTensor managed{{data, {kRwDlCpu, 0}, 2, {kRwDlFloat, 32, 1}, dims, strides, 0},
                          nullptr,
                          [](DLManagedTensor*) { ++freed; }};
  EXPECT_EQ(floats(from_dlpack(&managed)), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(freed, 1);
  managed.dl_tensor.device.device_type = 2;
  EXPECT_THROW(from_dlpack(&managed), InvalidArgumentError);
  EXPECT_THROW(to_dlpack(constant("text")), InvalidArgumentError);
}

}  // namespace
}  // namespace rw
