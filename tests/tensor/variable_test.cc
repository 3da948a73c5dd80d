// Variables: identity, snapshots, updates in place, and what is refused.
#include "rewind/tensor/variable.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/training.h"

namespace rw {
namespace {

using Floats = std::vector<float>;

Variable vector_of(Floats values, VariableOptions options = {}) {
  return Variable(constant(values), options);
}

TEST(Variable, CopiesAreTheSameVariable) {
  const Variable a = vector_of({1, 2});
  const Variable b = a;
  b.assign({3.0f, 4.0f});
  EXPECT_EQ(a.to_vector<float>(), (Floats{3, 4}));
  EXPECT_TRUE(same_variable(a, b));
}

TEST(Variable, SnapshotsStayAsTheyWere) {
  const Variable v = vector_of({1, 2});
  const Tensor before = v.value();
  v.assign_add({10.0f, 20.0f});
  const Tensor between = v.value();
  v.assign_sub({1.0f, 1.0f});
  v.scatter_update({0}, constant(std::vector<float>{7}));
  EXPECT_EQ(before.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(between.to_vector<float>(), (Floats{11, 22}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{7, 21}));
}

TEST(Variable, UpdatesInPlaceWhenNobodyLooks) {
  const Variable v = vector_of({1, 2, 3});
  const void* before = v.value().host_data();
  v.assign_add({1.0f, 1.0f, 1.0f});
  EXPECT_EQ(v.value().host_data(), before);
  const Tensor held = v.value();
  v.assign_add({1.0f, 1.0f, 1.0f});
  EXPECT_NE(v.value().host_data(), before);
}

TEST(Variable, TheAssignedTensorIsNeverWritten) {
  const Tensor initial = constant(Floats{1, 2});
  const Variable v(initial);
  v.assign_add({1.0f, 1.0f});
  EXPECT_EQ(initial.to_vector<float>(), (Floats{1, 2}));
  const Tensor delta = v.value();
  v.assign_add(delta);
  EXPECT_EQ(delta.to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{4, 6}));
}

TEST(Variable, ForeignMemoryIsNeverWritten) {
  float memory[] = {1, 2, 3, 4};
  const Variable v(from_blob(memory, {2, 2}));
  const Variable m(from_blob(memory, {2, 2}));
  v.assign_sub(v.value());
  v.scatter_add({0, 1}, constant(Floats{1, 1, 1, 1}, {2, 2}));
  resource_apply_momentum(v, m, 0.5, constant(Floats{1, 1, 1, 1}, {2, 2}), 0.9);
  EXPECT_EQ(Floats(memory, memory + 4), (Floats{1, 2, 3, 4}));
  EXPECT_FLOAT_EQ(m.to_vector<float>()[3], 4.6f);
}

TEST(Variable, ScatterUpdates) {
  const Variable v(constant(Floats{1, 2, 3, 4, 5, 6}, {3, 2}));
  v.scatter_add({0, 2, 0}, constant(Floats{1, 1, 1, 1, 1, 1}, {3, 2}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{3, 4, 3, 4, 6, 7}));
  v.scatter_mul({1}, 2.0);
  v.scatter_max({2}, constant(Floats{0, 9}, {1, 2}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{3, 4, 6, 8, 6, 9}));
  v.scatter_update({1, 1}, constant(Floats{1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{3, 4, 3, 4, 6, 9}));
}

TEST(Variable, MistakesAreNamed) {
  const Variable v = vector_of({1, 2}, {.name = "w"});
  EXPECT_THROW(v.assign(constant(Floats{1, 2, 3})), InvalidArgumentError);
  EXPECT_THROW(v.assign(constant(std::vector<int32_t>{1, 2})), InvalidArgumentError);
  EXPECT_THROW(v.assign_add(constant(Floats{1})), InvalidArgumentError);
  EXPECT_THROW(v.assign_add(constant(std::vector<double>{1, 2})), InvalidArgumentError);
  EXPECT_THROW(v.scatter_add({2}, 1.0), InvalidArgumentError);
  EXPECT_THROW(v.scatter_add({0}, constant(Floats{1, 2})), InvalidArgumentError);
  EXPECT_THROW(v.sparse_read({-1}), InvalidArgumentError);
  EXPECT_THROW(Variable().value(), FailedPreconditionError);
  try {
    v.sparse_read({0, 5});
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("indices[1] = 5 is not in [0, 2)"), std::string::npos) << e.what();
  }
  EXPECT_EQ(v.to_vector<float>(), (Floats{1, 2}));
  const Variable n(constant(std::vector<int32_t>{4, 6}));
  EXPECT_THROW(n.scatter_div({0}, 0), InvalidArgumentError);
}

TEST(Variable, ThreadsAddUp) {
  const Variable v(constant(std::vector<int64_t>(1000, 0)));
  const Tensor ones = constant(std::vector<int64_t>(1000, 1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        v.assign_add(ones);
        const Tensor seen = v.value();  // a snapshot is one moment: all its elements agree
        const auto values = seen.data<int64_t>();
        if (values.front() != values.back()) std::abort();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(v.to_vector<int64_t>(), std::vector<int64_t>(1000, 1600));
}

TEST(Variable, SparseReadsHaveSparseGradients) {
  const Variable v(constant(Floats{1, 2, 3, 4, 5, 6}, {3, 2}));
  GradientTape tape;
  const Tensor rows = v.sparse_read({2, 0, 2});
  const auto gradients = tape.flat_gradient({rows}, {v.handle()}, {});
  ASSERT_NE(gradients[0].slices(), nullptr);
  EXPECT_EQ(gradients[0].slices()->indices.to_vector<int32_t>(), (std::vector<int32_t>{2, 0, 2}));
  EXPECT_EQ(gradients[0].tensor().to_vector<float>(), (Floats{1, 1, 0, 0, 2, 2}));
}

}  // namespace
}  // namespace rw
