// Loops that are compiled once per instruction set (plain x86-64, AVX2, AVX-512) and chosen when the process
// starts. Files in this folder are compiled with RW_ISA set to the set's name and the matching flags. They
// hold plain loops over pointers and define nothing with external linkage outside rw::RW_ISA: an inline
// function that the linker shares between objects must never carry AVX-512 code (a test looks at the objects'
// symbols).
#pragma once

#include <cstdint>

#include "rewind/base/dtype.h"

namespace rw {

using UnaryLoop = void (*)(const void* x, void* out, int64_t n);
// Steps are 0 (one value for all) or 1.
using BinaryLoop = void (*)(const void* x, int64_t x_step, const void* y, int64_t y_step, void* out,
                            int64_t n);
using TernaryLoop = void (*)(const void* x, int64_t x_step, const void* y, int64_t y_step, const void* z,
                             int64_t z_step, void* out, int64_t n);

template <class Loop>
struct LoopRow {
  const char* op;
  DType in, out;
  Loop loop;
};
using UnaryRow = LoopRow<UnaryLoop>;
using BinaryRow = LoopRow<BinaryLoop>;
using TernaryRow = LoopRow<TernaryLoop>;

// Lists of tables; a list ends with nullptr, a table with op == nullptr.
struct ElementwiseLoops {
  const UnaryRow* const* unary;
  const BinaryRow* const* binary;
  const TernaryRow* const* ternary;
  const UnaryRow* casts;  // by in and out; op is "Cast"
  // condition ? x : y, by the elements' size: 1, 2, 4 or 8 bytes. The condition is bool.
  TernaryLoop (*select)(size_t element_size);
  // Copies to a place aligned to 64 bytes past the caches. Other threads see it after finish_moves.
  void (*move_past_caches)(const void* from, void* to, int64_t bytes);
  void (*finish_moves)();
};

struct AttentionLoops;  // attention.h
struct NnLoops;         // nn.h
struct WindowLoops;     // window.h
struct WinogradLoops;   // winograd.h
struct ReduceRow;       // reduce.h
struct RandomLoops;     // random.h
struct ScatterRow;      // indexed.h
struct UpdateRow;       // indexed.h

enum class GemmMode { kSet, kAdd, kSubtract };  // what a product does to its destination

// A matrix product by tiles of rows x cols over packed panels; see isa/gemm.cc.
struct GemmBlocks {
  int rows, cols;
  int64_t acc_bytes;  // of the type that sums are kept in
  void (*pack)(const void* x, int64_t step, int64_t depth_step, int64_t count, int64_t depth, int width,
               void* packed);
  void (*tile)(const void* a, const void* b, int64_t depth, void* c, int64_t ldc, int rows, int cols,
               GemmMode mode);
  void (*finish)(const void* acc, void* out, int64_t n);  // from sums to elements
};

// What each instruction set offers. Rows end with op == nullptr, lists of tables with nullptr.
struct IsaLoops {
  const ElementwiseLoops* elementwise;
  const NnLoops* nn;
  const AttentionLoops* attention;
  const WindowLoops* window;
  const WinogradLoops* winograd;
  const GemmBlocks* gemm;  // by dtype
  const ReduceRow* reduce;
  const RandomLoops* random;
  const ScatterRow* scatter;
  const UpdateRow* update;
};

// The set for this machine; REWIND_ISA=base|v3|v4 in the environment asks for a smaller one.
const IsaLoops& isa_loops();
const char* isa_name();

}  // namespace rw
