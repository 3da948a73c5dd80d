// Every elementwise definition and cast in compiled loops: the bits of the eager kernel and of the
// interpreter, in full vectors and in tails, whether denormals are flushed or not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "rewind/base/float_mode.h"
#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/loop/builder.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/kernel/cpu/elementwise.h"
#include "tests/compiler/loop_bits.h"

namespace rw::loop {
namespace {

// Elements: not a multiple of any number of lanes.
constexpr int64_t kCount = 33 * 33 + 64 + 7;

std::vector<ScalarOp> all_ops() {
  std::vector<ScalarOp> ops;
  for_each_scalar_op(
      [](const ScalarOp& op, void* data) { static_cast<std::vector<ScalarOp>*>(data)->push_back(op); }, &ops);
  return ops;
}

Kernel kernel_of(const ScalarOp& op, int64_t n) {
  Builder b(std::string(op.name));
  std::vector<int32_t> in;
  for (int i = 0; i < op.arity; ++i) in.push_back(b.in(op.in, n));
  const int32_t out = b.out(op.out, n);
  b.loop(n, LoopKind::kVector, [&](Index i) {
    std::vector<Var> args;
    for (int32_t x : in) args.push_back(b.load(x, i));
    b.store(out, i, b.op(op.name, args.data(), args.size()));
  });
  return b.finish();
}

void run_eager(const ScalarOp& op, const std::vector<std::vector<char>>& in, void* out, int64_t n) {
  const size_t d = size_t(op.in);
  if (op.arity == 1) unary_loops_of(op.name)->by_dtype[d](in[0].data(), out, n);
  else if (op.arity == 2) binary_loops_of(op.name)->by_dtype[d](in[0].data(), 1, in[1].data(), 1, out, n);
  else ternary_loops_of(op.name)->by_dtype[d](in[0].data(), 1, in[1].data(), 1, in[2].data(), 1, out, n);
}

std::vector<std::vector<char>> inputs_of(const ScalarOp& op, int64_t n) {
  std::vector<std::vector<char>> in;
  for (int i = 0; i < op.arity; ++i) in.push_back(test_values(op.in, n, uint64_t(i + 1), size_t(i)));
  if (divides_integers(op.name, op.in)) {
    const size_t size = size_of(op.in);
    for (size_t i = 0; i < size_t(n); ++i) {
      char* element = in[1].data() + i * size;
      if (std::all_of(element, element + size, [](char c) { return c == 0; })) *element = 3;
    }
  }
  return in;
}

// The slow ones run fewer elements.
int64_t count_for(const ScalarOp& op) {
  for (std::string_view slow :
       {"Zeta", "Polygamma", "Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Betainc"})
    if (op.name == slow) return 300 + 7;
  return kCount;
}

// Calls run(), on a thread that flushes denormals and on one that does not.
template <class Run>
void in_both_modes(Run run) {
  for (const bool flushes : {true, false}) {
    SCOPED_TRACE(flushes ? "flushing denormals" : "with denormals");
    std::optional<KernelFloatMode> mode;
    if (flushes) mode.emplace();
    run();
  }
}

TEST(LoopDefinitions, CompiledIsEagerBitForBit) {
  std::map<std::string, std::vector<ScalarOp>> by_name;
  for (const ScalarOp& op : all_ops()) by_name[std::string(op.name)].push_back(op);
  ASSERT_GT(by_name.size(), 90u);
  for (const auto& [name, ops] : by_name) {
    SCOPED_TRACE(name);
    std::vector<Kernel> kernels;
    std::vector<const Kernel*> pointers;
    for (const ScalarOp& op : ops) kernels.push_back(kernel_of(op, count_for(op)));
    for (const Kernel& k : kernels) pointers.push_back(&k);
    const auto compiled = compile_all(pointers);
    for (size_t i = 0; i < ops.size(); ++i) {
      const ScalarOp& op = ops[i];
      const int64_t n = count_for(op);
      auto in = inputs_of(op, n);
      std::vector<char> got(size_t(n) * size_of(op.out)), eager(got), interpreted(got);
      in_both_modes([&] {
        run_eager(op, in, eager.data(), n);
        std::vector<void*> buffers;
        for (auto& x : in) buffers.push_back(x.data());
        buffers.push_back(got.data());
        EXPECT_EQ(compiled[i]->run(buffers.data(), 0, 1), 0);
        EXPECT_EQ(difference(op.out, got.data(), eager.data(), n), "") << "compiled, " << name_of(op.in);
        buffers.back() = interpreted.data();
        interpret(kernels[i])->run(buffers.data(), 0, 1);
        EXPECT_EQ(difference(op.out, interpreted.data(), eager.data(), n), "")
            << "interpreted, " << name_of(op.in);
      });
    }
  }
}

// Denormals and ordinary numbers in every operand: eager kernels, compiled loops and the interpreter agree.
// (Compilers take a float made double and back for the float, as they take a product by 1.)
TEST(LoopDefinitions, DenormalsInEveryOperand) {
  for (const ScalarOp& op : all_ops()) {
    if (op.in != float32 && op.in != float64) continue;
    SCOPED_TRACE(std::string(op.name) + " " + std::string(name_of(op.in)));
    int64_t n = 1;
    dispatch<set_of(float32, float64)>(op.in, [&]<class T>() {
      using Limits = std::numeric_limits<T>;
      const T tiny = Limits::min();
      const std::vector<T> values = {0,         T(-0.0),
                                     1,         T(0.5),
                                     2,         3,
                                     -1,        Limits::infinity(),
                                     tiny / 64, -tiny / T(1 << 20),
                                     2 * tiny,  Limits::denorm_min()};
      for (int i = 0; i < op.arity; ++i) n *= int64_t(values.size());
      std::vector<std::vector<char>> in(size_t(op.arity), std::vector<char>(size_t(n) * sizeof(T)));
      for (int64_t e = 0, step = 1; step < n; step *= int64_t(values.size()), ++e)
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(in[size_t(e)].data() + size_t(i) * sizeof(T), &values[size_t(i / step) % values.size()],
                      sizeof(T));
      const Kernel kernel = kernel_of(op, n);
      const auto compiled = compile(kernel);
      const auto interpreter = interpret(kernel);
      std::vector<char> got(size_t(n) * size_of(op.out)), eager(got);
      std::vector<void*> buffers;
      for (auto& x : in) buffers.push_back(x.data());
      buffers.push_back(got.data());
      in_both_modes([&] {
        run_eager(op, in, eager.data(), n);
        compiled->run(buffers.data(), 0, 1);
        EXPECT_EQ(difference(op.out, got.data(), eager.data(), n), "") << "compiled";
        interpreter->run(buffers.data(), 0, 1);
        EXPECT_EQ(difference(op.out, got.data(), eager.data(), n), "") << "interpreted";
      });
    });
  }
}

// A scalar is computed as a lane is.
TEST(LoopDefinitions, ScalarsHaveTheSameBits) {
  for (const ScalarOp& op : all_ops()) {
    if (op.in != float32 && op.in != float64 && op.in != int32 && op.in != DType::kBool) continue;
    SCOPED_TRACE(std::string(op.name) + " " + std::string(name_of(op.in)));
    Builder b;
    constexpr int64_t n = 40;
    std::vector<int32_t> from;
    for (int i = 0; i < op.arity; ++i) from.push_back(b.in(op.in, n));
    const int32_t out = b.out(op.out, n);
    b.loop(n, LoopKind::kSerial, [&](Index i) {
      std::vector<Var> args;
      for (int32_t x : from) args.push_back(b.load(x, i));
      b.store(out, i, b.op(op.name, args.data(), args.size()));
    });
    auto in = inputs_of(op, n);
    std::vector<char> got(n * size_of(op.out)), eager(got);
    const auto compiled = compile(b.finish());
    in_both_modes([&] {
      run_eager(op, in, eager.data(), n);
      std::vector<void*> buffers;
      for (auto& x : in) buffers.push_back(x.data());
      buffers.push_back(got.data());
      EXPECT_EQ(compiled->run(buffers.data(), 0, 1), 0);
      EXPECT_EQ(difference(op.out, got.data(), eager.data(), n), "");
    });
  }
}

TEST(LoopDefinitions, AllTails) {
  std::vector<Kernel> kernels;
  std::vector<const Kernel*> pointers;
  const ScalarOp& op = *find_scalar_op("Tanh", float32);
  for (int64_t n = 1; n <= 70; ++n) kernels.push_back(kernel_of(op, n));
  for (const Kernel& k : kernels) pointers.push_back(&k);
  const auto compiled = compile_all(pointers);
  for (int64_t n = 1; n <= 70; ++n) {
    auto in = inputs_of(op, n);
    std::vector<char> got(size_t(n + 1) * 4, 7), eager(got);
    run_eager(op, in, eager.data(), n);
    void* buffers[] = {in[0].data(), got.data()};
    compiled[size_t(n - 1)]->run(buffers, 0, 1);
    EXPECT_EQ(difference(float32, got.data(), eager.data(), n + 1), "") << n << " elements";
  }
}

TEST(LoopDefinitions, Casts) {
  std::vector<Kernel> kernels;
  std::vector<const Kernel*> pointers;
  std::vector<std::pair<DType, DType>> pairs;
  constexpr DTypeSet kSet = kRealTypes | set_of(DType::kBool);
  for (int f = 0; f < 24; ++f) {
    for (int t = 0; t < 24; ++t) {
      if (f == t || !contains(kSet, DType(f)) || !contains(kSet, DType(t))) continue;
      pairs.push_back({DType(f), DType(t)});
      Builder b;
      const int32_t x = b.in(DType(f), kCount), y = b.out(DType(t), kCount);
      b.loop(kCount, LoopKind::kVector, [&](Index i) { b.store(y, i, b.cast(b.load(x, i), DType(t))); });
      kernels.push_back(b.finish());
    }
  }
  for (const Kernel& k : kernels) pointers.push_back(&k);
  const auto compiled = compile_all(pointers);
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto [from, to] = pairs[i];
    auto in = test_values(from, kCount, 5);
    std::vector<char> got(size_t(kCount) * size_of(to)), eager(got);
    in_both_modes([&, from = from, to = to] {
      find_cast(from, to)(in.data(), eager.data(), kCount);
      void* buffers[] = {in.data(), got.data()};
      compiled[i]->run(buffers, 0, 1);
      EXPECT_EQ(difference(to, got.data(), eager.data(), kCount), "")
          << name_of(from) << " to " << name_of(to);
    });
  }
}

// What an optimiser takes for nothing, flushes: each eager op one by one gives the same.
TEST(LoopDefinitions, OperationsThatChangeNoNumberFlush) {
  struct Step {
    const char* op;
    double constant;
    bool left;
  };
  for (const DType dtype : {float32, float64, float16, bfloat16}) {
    for (const Step& s :
         {Step{"Mul", 1, false}, Step{"Mul", 1, true}, Step{"Mul", -1, false}, Step{"Div", 1, false},
          Step{"AddV2", -0.0, false}, Step{"AddV2", -0.0, true}, Step{"Sub", 0, false},
          Step{"Sub", -0.0, true}, Step{"AddV2", 0, false}, Step{"Maximum", 0, false},
          Step{"Maximum", -1, true}, Step{"Minimum", 1, false}, Step{"Mul", 1e-40, false}}) {
      SCOPED_TRACE(std::string(s.op) + " " + std::to_string(s.constant) + " " + std::string(name_of(dtype)));
      for (const LoopKind kind : {LoopKind::kVector, LoopKind::kSerial}) {
        Builder b;
        const int32_t x = b.in(dtype, kCount), y = b.out(dtype, kCount);
        b.loop(kCount, kind, [&](Index i) {
          const Var v = b.load(x, i), c = b.constant_of(dtype, s.constant);
          b.store(y, i, s.left ? b.op(s.op, {c, v}) : b.op(s.op, {v, c}));
        });
        const auto compiled = compile(b.finish());
        auto in = test_values(dtype, kCount, 3);
        const BinaryLoops& loops = *binary_loops_of(s.op);
        std::vector<char> got(size_t(kCount) * size_of(dtype)), eager(got);
        std::vector<char> constant(size_of(dtype));
        dispatch<kFloatTypes>(dtype, [&]<class T>() {
          const T c(static_cast<Compute<T>>(s.constant));
          std::memcpy(constant.data(), static_cast<const void*>(&c), sizeof(T));
        });
        in_both_modes([&] {
          const BinaryLoop loop = loops.by_dtype[size_t(dtype)];
          if (s.left) loop(constant.data(), 0, in.data(), 1, eager.data(), kCount);
          else loop(in.data(), 1, constant.data(), 0, eager.data(), kCount);
          void* buffers[] = {in.data(), got.data()};
          compiled->run(buffers, 0, 1);
          EXPECT_EQ(difference(dtype, got.data(), eager.data(), kCount), "");
        });
      }
    }
  }
}

// A choice keeps the bits, also where a processor's min or max would do.
TEST(LoopDefinitions, ChoicesKeepDenormals) {
  for (const DType dtype : {float32, float64}) {
    for (const char* test : {"Greater", "Less", "GreaterEqual", "LessEqual", "Equal", "NotEqual"}) {
      for (const bool turned : {false, true}) {
        SCOPED_TRACE(std::string(test) + (turned ? " turned " : " ") + std::string(name_of(dtype)));
        for (const LoopKind kind : {LoopKind::kVector, LoopKind::kSerial}) {
          Builder b;
          const int32_t x = b.in(dtype, kCount), y = b.in(dtype, kCount), z = b.out(dtype, kCount);
          const int32_t one = b.out(dtype, kCount), other = b.out(dtype, kCount);
          const Var number = b.load(y, 24);  // 1e-40, one for all
          b.loop(kCount, kind, [&](Index i) {
            const Var v = b.load(x, i), w = b.load(y, i);
            b.store(z, i, b.op("Select", {b.op(test, {v, w}), turned ? w : v, turned ? v : w}));
            b.store(one, i,
                    b.op("Select", {b.op(test, {v, number}), turned ? number : v, turned ? v : number}));
            const int32_t local = b.local(b.op(test, {v, w}));
            b.store(other, i, b.op("Select", {b.get(local), turned ? w : v, turned ? v : w}));
          });
          const Kernel kernel = b.finish();
          const auto compiled = compile(kernel);
          auto first = test_values(dtype, kCount, 3), second = test_values(dtype, kCount, 4, 1);
          std::memcpy(second.data() + 24 * size_of(dtype), first.data() + 24 * size_of(dtype),
                      size_of(dtype));
          std::vector<char> got[3], want[3];
          for (auto* list : {got, want})
            for (int k = 0; k < 3; ++k) list[k].resize(size_t(kCount) * size_of(dtype));
          in_both_modes([&] {
            void* buffers[] = {first.data(), second.data(), got[0].data(), got[1].data(), got[2].data()};
            compiled->run(buffers, 0, 1);
            for (int k = 0; k < 3; ++k) buffers[2 + k] = want[k].data();
            interpret(kernel)->run(buffers, 0, 1);
            for (int k = 0; k < 3; ++k)
              EXPECT_EQ(difference(dtype, got[k].data(), want[k].data(), kCount), "") << "output " << k;
          });
        }
      }
    }
  }
}

// A bfloat16 is made of bits, and is compared as a number all the same, also where LLVM's own passes run: in
// kernels with branches.
TEST(LoopDefinitions, NumbersMadeOfBitsAreComparedAsNumbers) {
  Builder b;
  const int32_t x = b.in(bfloat16, kCount), y = b.out(DType::kBool, kCount), z = b.out(float32, 1);
  b.loop(kCount, LoopKind::kVector, [&](Index i) { b.store(y, i, b.cast(b.load(x, i), DType::kBool)); });
  b.store(z, Affine{}, b.reduce(3, Combine::kSum, [&](Index i) {
    const Var v = b.cast(b.load(x, i), float32);
    const int32_t local = b.local(v);
    b.if_then(b.op("Greater", {v, b.constant(0.0f)}), [&] { b.set(local, b.op("Square", {v})); });
    return b.get(local);
  }));
  const Kernel kernel = b.finish();
  const auto compiled = compile(kernel);
  auto in = test_values(bfloat16, kCount, 3);
  std::vector<char> got(kCount), want(kCount), number(4);
  in_both_modes([&] {
    void* buffers[] = {in.data(), got.data(), number.data()};
    compiled->run(buffers, 0, 1);
    buffers[1] = want.data();
    interpret(kernel)->run(buffers, 0, 1);
    EXPECT_EQ(difference(DType::kBool, got.data(), want.data(), kCount), "");
  });
}

// A float64 that came from a float32 goes back flushed.
TEST(LoopDefinitions, CastsThereAndBackFlush) {
  for (const LoopKind kind : {LoopKind::kVector, LoopKind::kSerial}) {
    Builder b;
    const int32_t x = b.in(float32, kCount), y = b.out(float32, kCount);
    b.loop(kCount, kind, [&](Index i) { b.store(y, i, b.cast(b.cast(b.load(x, i), float64), float32)); });
    const Kernel kernel = b.finish();
    const auto compiled = compile(kernel);
    auto in = test_values(float32, kCount, 3);
    std::vector<char> got(size_t(kCount) * 4), want(got);
    in_both_modes([&] {
      void* buffers[] = {in.data(), got.data()};
      compiled->run(buffers, 0, 1);
      buffers[1] = want.data();
      interpret(kernel)->run(buffers, 0, 1);
      EXPECT_EQ(difference(float32, got.data(), want.data(), kCount), "");
    });
  }
}

}  // namespace
}  // namespace rw::loop
