// Every elementwise definition and cast in compiled loops: the bits of the eager kernel and of the
// interpreter, in full vectors and in tails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/loop/builder.h"
#include "rewind/compiler/loop/scalar_ops.h"
#include "rewind/kernel/cpu/elementwise.h"
#include "tests/compiler/loop_bits.h"

namespace rw::loop {
namespace {

// Elements: not a multiple of any number of lanes.
constexpr int64_t kCount = 30 * 30 + 64 + 7;

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
    }
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
    run_eager(op, in, eager.data(), n);
    std::vector<void*> buffers;
    for (auto& x : in) buffers.push_back(x.data());
    buffers.push_back(got.data());
    EXPECT_EQ(compile(b.finish())->run(buffers.data(), 0, 1), 0);
    EXPECT_EQ(difference(op.out, got.data(), eager.data(), n), "");
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
    find_cast(from, to)(in.data(), eager.data(), kCount);
    void* buffers[] = {in.data(), got.data()};
    compiled[i]->run(buffers, 0, 1);
    EXPECT_EQ(difference(to, got.data(), eager.data(), kCount), "") << name_of(from) << " to " << name_of(to);
  }
}

}  // namespace
}  // namespace rw::loop
