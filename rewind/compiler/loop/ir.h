// The loop IR: what fusion decides, said in loops. Buffers, loop nests, loads, stores and scalar ops; an
// emitter translates it and decides nothing.
//
//   kernel(in f32[6400] b0, out f32[6400] b1)
//     for i0 < 100 parallel
//       for i1 < 64 vector
//         %0 f32 = load b0[64*i0 + i1]
//         %1 f32 = Tanh(%0)
//         store b1[64*i0 + i1] = %1
//
// Scalar ops are those of kernel/elementwise: an op's name and dtype name its definition, so the bits are
// those of the eager kernel whatever runs the loops.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/dtype.h"
#include "rewind/base/small_vector.h"

namespace rw::loop {

using Var = int32_t;  // a value: assigned once, visible to the end of its block and in blocks inside it

// constant + sum of step * loop variable + an int64 value: an element's place in a buffer.
struct Affine {
  struct Term {
    int32_t loop;
    int64_t step;
  };
  int64_t constant = 0;
  SmallVector<Term, 4> terms;
  Var dynamic = -1;
};

enum class Code : uint8_t {
  kConst,   // result = literal (its bits in dtype)
  kIndex,   // result int64 = affine `at`
  kLoad,    // result = buffer[at]
  kStore,   // buffer[at] = args[0]
  kOp,      // result = op(args...) by the elementwise definition for the dtype of args[0]; also "Cast" and
            // "Select" (bool, x, y). dtype is the result's. 16-bit floats are rounded after each op, as
            // everywhere. An integer divisor of 0 counts as 1: who must refuse it looks first.
  kLocal,   // declares a mutable local, `local`, with the value args[0]; lives to the end of its block
  kGet,     // result = local
  kSet,     // local = args[0]
  kFor,     // for loop variable `loop` in [0, extent): body
  kReduce,  // the same, and reductions of values of the body in the order that is part of a reduction's
            // definition (kernel/cpu/isa/reduce.cc, runs along the last axis; longer ones by blocks of 4096).
            // Iterations are independent, whatever its kind.
  kWhile,   // while (condition, then its args[0] is true) body
  kIf,      // if args[0]: body, otherwise other
  kFail,    // leaves the kernel with status `literal`, not 0; never inside a vector loop
};

enum class LoopKind : uint8_t {
  kSerial,
  kParallel,  // iterations are independent and go to threads; outermost, at most one in a kernel
  kVector,    // iterations are independent and go to lanes; loops, reduces and locals inside have lanes
};

enum class Combine : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll };

// 16-bit floats are accumulated in float: dtype is float32 then. result has the type of the accumulator.
struct Reduction {
  Combine combine;
  DType dtype;  // of the accumulator
  Var value;    // in the body
  Var result;   // visible behind the statement
};

struct Stmt;
using Block = std::vector<Stmt>;

struct Stmt {
  Code code;
  DType dtype = DType::kInvalid;
  Var result = -1;
  SmallVector<Var, 3> args;
  std::string_view op;  // lives for ever: an Op's name, or a literal
  uint64_t literal = 0;
  int32_t buffer = -1;
  Affine at;
  int32_t local = -1;
  int32_t loop = -1;
  int64_t extent = 0;
  LoopKind kind = LoopKind::kSerial;
  std::vector<Reduction> reductions;
  Block condition;  // kWhile
  Block body;
  Block other;  // kIf
};

enum class Role : uint8_t {
  kIn,
  kOut,      // may also be read and be the same memory as an input of the same element order
  kScratch,  // one for each iteration of the parallel loop; small, made by the kernel itself
};

struct BufferDef {
  DType dtype;
  int64_t size;  // elements
  Role role;
};

struct Kernel {
  std::string name = "kernel";  // for dumps; not part of its identity
  std::vector<BufferDef> buffers;
  Block body;
  int32_t num_vars = 0;
  int32_t num_locals = 0;
  int32_t num_loops = 0;
  int64_t parallel_extent() const;  // 1 without a parallel loop
};

std::string to_string(const Kernel& kernel);
// Throws InternalError naming the statement: undefined values, wrong types, places outside their buffer.
void verify(const Kernel& kernel);
// A number that equal kernels share (structure, not name), and the comparison behind it.
uint64_t hash_of(const Kernel& kernel);
bool equal(const Kernel& a, const Kernel& b);

// A kernel that can run. `buffers` are those of roles kIn and kOut, in the order of Kernel::buffers. Runs
// iterations [begin, end) of the parallel loop (all of the kernel when there is none). Returns 0, or the
// status of the kFail that was met. Thread-safe.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual int64_t run(void* const* buffers, int64_t begin, int64_t end) const = 0;
};

// Slow, and right: the meaning of the IR.
std::shared_ptr<const Executable> interpret(const Kernel& kernel);

}  // namespace rw::loop
