// TensorArray and lists: value semantics, errors, gradients of every way in and out. Values and errors are
// those that tf.TensorArray gives.
#include "rewind/tensor/tensor_array.h"

#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/tensor_list.h"
#include "rewind/tensor/ops/list.h"
#include "rewind/tensor/tensor_impl.h"
#include "tests/support/floats.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

using test::floats;

TEST(TensorArray, WritesGiveNewArrays) {
  const TensorArray a(float32, {.size = 3});
  const TensorArray b = a.write(1, 5.0);
  const TensorArray c = b.write(1, 7.0).write(0, 1.0);
  EXPECT_EQ(floats(b.stack()), (Floats{0, 5, 0}));
  EXPECT_EQ(floats(c.stack()), (Floats{1, 7, 0}));
  EXPECT_EQ(b.element_shape(), Shape());
  EXPECT_EQ(c.size().item<int32_t>(), 3);
  EXPECT_THROW((void)a.stack(), InvalidArgumentError);  // no shape is known
}

TEST(TensorArray, LongArraysShareTheirElements) {
  TensorArray a(float32, {.size = 100});
  for (int i = 0; i < 100; ++i) a = a.write(i, float(i));
  const TensorArray b = a.write(50, -1.0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(a.gather({i}).data<float>()[0], float(i));
    EXPECT_EQ(b.gather({i}).data<float>()[0], i == 50 ? -1.0f : float(i));
  }
}

TEST(TensorArray, ReadsEachElementOnce) {
  const auto a = TensorArray(float32, {.size = 2}).write(1, {1., 2.});
  EXPECT_EQ(floats(a.read(1)), (Floats{1, 2}));
  EXPECT_THROW((void)a.read(1), InvalidArgumentError);
  EXPECT_EQ(floats(a.write(1, {3., 4.}).read(1)), (Floats{3, 4}));
  const auto b = TensorArray(float32, {.size = 2, .clear_after_read = false}).write(1, 1.0);
  EXPECT_EQ(floats(b.read(1)), floats(b.read(1)));
}

TEST(TensorArray, UnwrittenElementsAreZeros) {
  EXPECT_EQ(floats(TensorArray(float32, {.size = 3, .element_shape = {2}}).read(0)), (Floats{0, 0}));
  EXPECT_EQ(TensorArray(float32, {.element_shape = {2}}).stack().shape(), (Shape{0, 2}));
}

TEST(TensorArray, DynamicArraysGrow) {
  const auto a = TensorArray(float32, {.size = 1, .dynamic_size = true}).write(3, 1.0);
  EXPECT_EQ(floats(a.stack()), (Floats{0, 0, 0, 1}));
  EXPECT_EQ(floats(a.scatter({5, 0}, {8., 9.}).stack()), (Floats{9, 0, 0, 1, 0, 8}));
}

TEST(TensorArray, RowsRunsAndPlaces) {
  const TensorArray a(float32, {.size = 3});
  const Tensor rows = constant({{1., 2.}, {3., 4.}});
  EXPECT_EQ(a.unstack(rows).size().item<int32_t>(), 2);
  EXPECT_EQ(floats(a.unstack(rows).gather({1, 1, 0})), (Floats{3, 4, 3, 4, 1, 2}));
  EXPECT_EQ(floats(a.unstack(rows).concat()), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(a.scatter({2, 0}, rows).stack()), (Floats{3, 4, 0, 0, 1, 2}));
  const auto runs = TensorArray(float32, {.size = 2}).split({1., 2., 3.}, {1, 2});
  EXPECT_EQ(floats(runs.concat()), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(runs.read(1)), (Floats{2, 3}));
}

TEST(TensorArray, FlowCarriesTheList) {
  const auto a = TensorArray(float32, {.size = 2}).write(0, 1.0);
  const auto b = a.write(1, 2.0);
  EXPECT_EQ(floats(a.with_flow(b.flow()).stack()), (Floats{1, 2}));
  EXPECT_THROW((void)a.with_flow(constant(1.0)), InvalidArgumentError);
}

TEST(TensorArray, Mistakes) {
  const TensorArray a(float32, {.size = 3});
  EXPECT_THROW((void)a.read(3), OutOfRangeError);
  EXPECT_THROW((void)a.read(-1), OutOfRangeError);
  EXPECT_THROW((void)a.write(3, 1.0), OutOfRangeError);
  EXPECT_THROW((void)a.write(-1, 1.0), OutOfRangeError);
  EXPECT_THROW((void)a.write(0, constant(1)), InvalidArgumentError);
  EXPECT_THROW((void)a.write(0, 1.0).write(1, {1., 2.}), InvalidArgumentError);
  EXPECT_THROW((void)a.scatter({3, 0}, {1., 2.}), OutOfRangeError);
  EXPECT_THROW((void)TensorArray(float32, {.size = 1}).unstack({1., 2.}), InvalidArgumentError);
  EXPECT_THROW((void)a.split({1., 2., 3.}, {1, 2}), InvalidArgumentError);
  EXPECT_THROW((void)a.split({1., 2., 3.}, {1, 1, 0}), InvalidArgumentError);
  EXPECT_THROW(TensorArray(float32, {.size = -1}), InvalidArgumentError);
}

TEST(TensorArray, InferShapeOffMixesShapes) {
  const auto a = TensorArray(float32, {.size = 2, .infer_shape = false}).write(0, 1.0).write(1, {1., 2.});
  EXPECT_EQ(a.read(1).shape(), Shape{2});
  EXPECT_EQ(a.read(0).shape(), Shape());
}

// The gradient of sum(weights * f(x)) is J^T weights: linear maps show every path.
Floats gradient_of(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  const Tensor weights = reshape(range(1.0, double(y.size() + 1)), shape(y));
  return floats(tape.gradient(reduce_sum(y * weights), x));
}

TEST(TensorArray, GradientsFlowThrough) {
  const Tensor x = constant({{1., 2.}, {3., 4.}, {5., 6.}});
  const TensorArray a(float32, {.size = 3, .clear_after_read = false});
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.unstack(t).stack(); }),
            (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.unstack(t).read(1); }),
            (Floats{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.unstack(t).write(1, {0., 0.}).stack(); }),
            (Floats{1, 2, 0, 0, 5, 6}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.write(2, t[0]).write(0, t[2]).stack(); }),
            (Floats{5, 6, 0, 0, 1, 2}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.unstack(t).gather({2, 2, 0}); }),
            (Floats{5, 6, 0, 0, 4, 6}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.scatter({2, 0, 1}, t).stack(); }),
            (Floats{5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(gradient_of(x, [&](const Tensor& t) { return a.unstack(t).concat(); }),
            (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(gradient_of(x,
                        [&](const Tensor& t) {
                          const auto b = TensorArray(float32, {.size = 2}).split(t, {1, 2});
                          return b.read(1);
                        }),
            (Floats{0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(gradient_of(x,
                        [&](const Tensor& t) {
                          auto b = TensorArray(float32, {.dynamic_size = true});
                          for (int i = 0; i < 3; ++i) b = b.write(2 * i, t[i]);
                          return b.stack();
                        }),
            (Floats{1, 2, 5, 6, 9, 10}));
  // Two readers of one list: their gradients are lists that add up.
  EXPECT_EQ(gradient_of(x,
                        [&](const Tensor& t) {
                          const auto b = a.unstack(t);
                          return b.read(1) + b.stack()[1] + b.read(0);
                        }),
            (Floats{1, 2, 2, 4, 0, 0}));
}

TEST(TensorArray, SecondDerivative) {
  const Tensor x = constant(3.0);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    auto a = TensorArray(float32, {.size = 3}).write(0, x).write(1, x * x).write(2, x * x * x);
    first = inner.gradient(reduce_sum(a.stack()), x);
  }
  EXPECT_FLOAT_EQ(first.item<float>(), 1 + 6 + 27);
  EXPECT_FLOAT_EQ(Tensor(outer.gradient(first, x)).item<float>(), 2 + 18);
}

TEST(TensorArray, ForwardMode) {
  const Tensor x = constant({1., 2.});
  const ForwardAccumulator acc(x, constant({1., 10.}));
  const auto a = TensorArray(float32, {.size = 3}).write(0, x * x).write(2, x);
  EXPECT_EQ(floats(acc.jvp(a.stack())), (Floats{2, 40, 0, 0, 1, 10}));
}

TEST(TensorArray, Batches) {
  const Tensor x = constant({{1., 2.}, {3., 4.}});
  const Tensor y = vectorized_map(
      [](const Tensor& row) {
        auto a = TensorArray(float32, {.size = 2, .element_shape = {}});
        return a.write(0, row[1]).write(1, row[0] * row[0]).stack();
      },
      x);
  EXPECT_EQ(floats(y), (Floats{2, 1, 4, 9}));
}

TEST(TensorList, GradientOfAListIsAList) {
  const Tensor list = tensor_list_from_tensor(constant({1., 2., 3.}), constant(-1));
  GradientTape tape;
  tape.watch(list);
  const Tensor y = tensor_list_get_item(list, constant(1), constant(-1), float32);
  const Tensor g = tape.gradient(y * 4.0, list);
  ASSERT_EQ(g.dtype(), variant);
  EXPECT_EQ(floats(tensor_list_stack(g, constant(std::vector<int>{}), float32)), (Floats{0, 4, 0}));
}

// A list nobody else holds is changed in place when the caller says that it is not used again.
TEST(TensorList, LastUseChangesInPlace) {
  Tensor list = tensor_list_reserve(constant(-1), constant(2), float32);
  const auto object = [](const Tensor& t) { return static_cast<Ref<Object>*>(t.impl()->data)->get(); };
  const Object* before = object(list);
  EXPECT_NE(object(tensor_list_set_item(list, constant(0), constant(1.0))), before);
  const Tensor other = list;
  const LastUse scope;
  EXPECT_EQ(object(tensor_list_set_item(list, constant(0), constant(1.0))), before);
  const Tensor shared = tensor_list_resize(list, constant(2));  // the same object now has two handles
  EXPECT_NE(object(tensor_list_set_item(list, constant(0), constant(2.0))), before);
  EXPECT_EQ(floats(tensor_list_stack(shared, constant(-1), float32)), (Floats{1, 0}));
}

TEST(TensorList, OtherVariantsAndShapesAreRefused) {
  const Tensor list = tensor_list_from_tensor(constant({1., 2., 3.}), constant(-1));
  EXPECT_THROW(tensor_list_get_item(list, constant(0), constant({2}), float32), InvalidArgumentError);
  EXPECT_THROW(tensor_list_scatter_into(list, constant({1., 2.}), constant({0, -1})), InvalidArgumentError);
  EXPECT_THROW(tensor_list_scatter_into(list, constant({1., 2.}), constant({0})), InvalidArgumentError);
  EXPECT_THROW(tensor_list_length(constant(1.0)), InvalidArgumentError);
}

}  // namespace
}  // namespace rw
