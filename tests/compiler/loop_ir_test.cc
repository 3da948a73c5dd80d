// The loop IR: what the verifier refuses, and the interpreter against results computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "rewind/base/error.h"
#include "rewind/compiler/loop/builder.h"

namespace rw::loop {
namespace {

template <class T>
std::vector<T> iota(size_t n) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), T(0));
  return v;
}

int64_t run(const Kernel& kernel, std::initializer_list<void*> buffers) {
  return interpret(kernel)->run(buffers.begin(), 0, kernel.parallel_extent());
}

Kernel scaled_rows() {
  Builder b("scaled_rows");
  const int32_t x = b.in(float32, 12), y = b.out(float32, 12);
  const Var two = b.constant(2.0f);
  b.loop(3, LoopKind::kParallel, [&](Index i) {
    b.loop(4, LoopKind::kVector,
           [&](Index j) { b.store(y, 4 * i + j, b.op("Mul", {b.load(x, 4 * i + j), two})); });
  });
  return b.finish();
}

TEST(LoopIr, Prints) {
  EXPECT_EQ(to_string(scaled_rows()),
            "scaled_rows(in f32[12] b0, out f32[12] b1)\n"
            "  %0 f32 = 2.000000\n"
            "  for i0 < 3 parallel\n"
            "    for i1 < 4 vector\n"
            "      %1 f32 = load b0[4*i0 + i1]\n"
            "      %2 f32 = Mul(%1, %0)\n"
            "      store b1[4*i0 + i1] = %2\n");
}

TEST(LoopIr, RunsARangeOfTheParallelLoop) {
  const Kernel kernel = scaled_rows();
  EXPECT_EQ(kernel.parallel_extent(), 3);
  auto x = iota<float>(12);
  std::vector<float> y(12, -1);
  void* buffers[] = {x.data(), y.data()};
  EXPECT_EQ(interpret(kernel)->run(buffers, 1, 3), 0);
  EXPECT_EQ(y, (std::vector<float>{-1, -1, -1, -1, 8, 10, 12, 14, 16, 18, 20, 22}));
}

TEST(LoopIr, ReducesRows) {
  Builder b;
  const int32_t x = b.in(int32, 40), y = b.out(int32, 2), m = b.out(int32, 2);
  b.loop(2, LoopKind::kSerial, [&](Index i) {
    const auto r = b.reduce_many(20, [&](Index j) {
      const Var v = b.load(x, 20 * i + j);
      return std::vector<std::pair<Combine, Var>>{{Combine::kSum, v}, {Combine::kMax, v}};
    });
    b.store(y, i, r[0]);
    b.store(m, i, r[1]);
  });
  auto values = iota<int32_t>(40);
  std::vector<int32_t> sums(2), largest(2);
  EXPECT_EQ(run(b.finish(), {values.data(), sums.data(), largest.data()}), 0);
  EXPECT_EQ(sums, (std::vector<int32_t>{190, 590}));
  EXPECT_EQ(largest, (std::vector<int32_t>{19, 39}));
}

TEST(LoopIr, ReductionsOfNothingGiveTheIdentity) {
  Builder b;
  const int32_t x = b.in(float32, 1), y = b.out(float32, 1), a = b.out(DType::kBool, 1);
  b.store(y, 0, b.reduce(0, Combine::kMax, [&](Index j) { return b.load(x, j); }));
  b.store(a, 0, b.reduce(0, Combine::kAll, [&](Index j) { return b.op("IsNan", {b.load(x, j)}); }));
  float in = 3, out = 0;
  bool all = false;
  EXPECT_EQ(run(b.finish(), {&in, &out, &all}), 0);
  EXPECT_EQ(out, -INFINITY);
  EXPECT_TRUE(all);
}

// The order of a long sum: 4096 at a time, then the partial sums.
TEST(LoopIr, LongReductionsGoByBlocks) {
  const int64_t n = 2 * 4096 + 5;
  const auto sum_of = [](const float* x, int64_t count) {
    Builder b;
    const int32_t in = b.in(float32, count), out = b.out(float32, 1);
    b.store(out, 0, b.reduce(count, Combine::kSum, [&](Index j) { return b.load(in, j); }));
    float result = 0;
    EXPECT_EQ(run(b.finish(), {const_cast<float*>(x), &result}), 0);
    return result;
  };
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / float(i + 1);
  const float parts[] = {sum_of(x.data(), 4096), sum_of(x.data() + 4096, 4096), sum_of(x.data() + 8192, 5)};
  EXPECT_EQ(sum_of(x.data(), n), sum_of(parts, 3));
}

TEST(LoopIr, HalfFloatsAreRoundedAfterEachOp) {
  Builder b;
  const int32_t x = b.in(float16, 1), y = b.out(float16, 1);
  const Var v = b.load(x, 0);
  b.store(y, 0, b.op("Sub", {b.op("AddV2", {v, b.constant(Half(2048.0f))}), b.constant(Half(2048.0f))}));
  Half in(1.0f), out;
  EXPECT_EQ(run(b.finish(), {&in, &out}), 0);
  EXPECT_EQ(float(out), 0.0f);  // 2049 is no float16
}

Kernel collatz() {
  Builder b("collatz");
  const int32_t x = b.in(int64, 1), y = b.out(int64, 1);
  const Var one = b.constant(int64_t{1}), two = b.constant(int64_t{2}), three = b.constant(int64_t{3});
  const int32_t n = b.local(b.load(x, 0)), steps = b.local(b.constant(int64_t{0}));
  b.if_then(b.op("Less", {b.get(n), one}), [&] { b.fail(7); });
  b.while_loop([&] { return b.op("NotEqual", {b.get(n), one}); },
               [&] {
                 const Var v = b.get(n);
                 const Var odd = b.op("Equal", {b.op("FloorMod", {v, two}), one});
                 b.if_else(
                     odd, [&] { b.set(n, b.op("AddV2", {b.op("Mul", {v, three}), one})); },
                     [&] { b.set(n, b.op("FloorDiv", {v, two})); });
                 b.set(steps, b.op("AddV2", {b.get(steps), one}));
               });
  b.store(y, 0, b.get(steps));
  return b.finish();
}

TEST(LoopIr, LoopsWithLocals) {
  int64_t n = 27, steps = 0;
  EXPECT_EQ(run(collatz(), {&n, &steps}), 0);
  EXPECT_EQ(steps, 111);
}

TEST(LoopIr, FailuresLeaveTheKernel) {
  int64_t n = 0, steps = -1;
  EXPECT_EQ(run(collatz(), {&n, &steps}), 7);
  EXPECT_EQ(steps, -1);
}

TEST(LoopIr, DynamicPlaces) {
  Builder b;
  const int32_t x = b.in(float32, 10), at = b.in(int64, 3), y = b.out(float32, 3);
  b.loop(3, LoopKind::kVector,
         [&](Index i) { b.store(y, i, b.load(x, dynamic(b.load(at, i)) + int64_t{1})); });
  auto values = iota<float>(10);
  std::vector<int64_t> places = {8, 0, 4};
  std::vector<float> out(3);
  EXPECT_EQ(run(b.finish(), {values.data(), places.data(), out.data()}), 0);
  EXPECT_EQ(out, (std::vector<float>{9, 1, 5}));
}

TEST(LoopIr, IntegersDividedByZeroStayWhatTheyAre) {
  Builder b;
  const int32_t x = b.in(int32, 1), q = b.out(int32, 1), m = b.out(int32, 1);
  const Var v = b.load(x, 0), zero = b.constant(0);
  b.store(q, 0, b.op("FloorDiv", {v, zero}));
  b.store(m, 0, b.op("FloorMod", {v, zero}));
  int32_t in = 7, quotient = 0, rest = -1;
  EXPECT_EQ(run(b.finish(), {&in, &quotient, &rest}), 0);
  EXPECT_EQ(quotient, 7);
  EXPECT_EQ(rest, 0);
}

TEST(LoopIr, IdentityIsStructure) {
  Kernel a = collatz(), b = collatz();
  b.name = "other";
  EXPECT_TRUE(equal(a, b));
  EXPECT_EQ(hash_of(a), hash_of(b));
  b.body[0].literal ^= 1;
  EXPECT_FALSE(equal(a, b));
  EXPECT_NE(hash_of(a), hash_of(b));
}

// Each entry breaks one rule.
void expect_refused(Kernel kernel, const char* why) {
  try {
    verify(kernel);
    ADD_FAILURE() << "accepted: " << why;
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
  }
}

Stmt& store_of(Kernel& k) { return k.body[1].body[0].body[2]; }

TEST(LoopVerify, RefusesBrokenKernels) {
  const Kernel good = scaled_rows();
  const auto broken = [&](auto change) {
    Kernel k = good;
    change(k);
    return k;
  };
  expect_refused(broken([](Kernel& k) { store_of(k).args[0] = 9; }), "value out of range");
  expect_refused(broken([](Kernel& k) { k.num_vars = 4, store_of(k).args[0] = 3; }), "undefined value %3");
  expect_refused(broken([](Kernel& k) { store_of(k).at.constant = 1; }), "places 1 to 12 of 12");
  expect_refused(broken([](Kernel& k) { store_of(k).at.terms[1].step = -1; }), "places -3 to 8 of 12");
  expect_refused(broken([](Kernel& k) { store_of(k).buffer = 0; }), "a store to an input");
  expect_refused(broken([](Kernel& k) { store_of(k).buffer = 2; }), "no such buffer");
  expect_refused(broken([](Kernel& k) { store_of(k).at.terms[1].loop = 0; }), "in two terms");
  expect_refused(broken([](Kernel& k) { store_of(k).at.terms.pop_back(); }), "does not move with i1");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].body[1].op = "Median"; }), "no definition");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].body[1].op = "LogicalAnd"; }), "no definition");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].body[1].dtype = float64; }), "type");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].body[1].result = 1; }), "second assignment");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].kind = LoopKind::kParallel; }), "outermost");
  expect_refused(broken([](Kernel& k) { k.body[1].body[0].loop = 0; }), "second loop of the same variable");
  expect_refused(broken([](Kernel& k) { k.body[1].extent = -1; }), "negative extent");
  expect_refused(broken([](Kernel& k) { k.body.push_back(store_of(k)); }), "beside the parallel loop");
  expect_refused(broken([](Kernel& k) { k.body[1].body.push_back(store_of(k)); }), "undefined value %2");
  expect_refused(broken([](Kernel& k) {
                   k.body[0] = {.code = Code::kIndex, .dtype = int64, .result = 0, .at = 2 * Index{1}};
                 }),
                 "outside its loop");
  expect_refused(
      broken([](Kernel& k) { k.body[1].body[0].body.push_back({.code = Code::kFail, .literal = 3}); }),
      "a failure where there are lanes");
  expect_refused(broken([](Kernel& k) { k.body[1].body.push_back({.code = Code::kFail}); }), "status 0");
  expect_refused(broken([](Kernel& k) { k.buffers[0].dtype = DType::kString; }), "a buffer has the type");
  expect_refused(broken([](Kernel& k) { k.buffers.push_back({float64, 1 << 20, Role::kScratch}); }),
                 "scratch");
}

TEST(LoopVerify, RefusesLocalsAcrossIndependentIterations) {
  Builder b;
  const int32_t x = b.in(float32, 8);
  const int32_t sum = b.local(b.constant(0.0f));
  b.loop(8, LoopKind::kVector, [&](Index i) { b.set(sum, b.load(x, i)); });
  EXPECT_THROW(b.finish(), InternalError);
}

TEST(LoopVerify, RefusesReductionsOfAnotherType) {
  Builder b;
  const int32_t x = b.in(float32, 8), y = b.out(float32, 1);
  b.store(y, 0, b.reduce(8, Combine::kAny, [&](Index i) { return b.load(x, i); }));
  EXPECT_THROW(b.finish(), InternalError);
}

}  // namespace
}  // namespace rw::loop
