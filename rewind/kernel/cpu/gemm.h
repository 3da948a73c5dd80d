// Matrix products on raw memory: c[i] = op(a[i]) op(b[i]) for a batch of row-major matrices. The bits of a
// product depend on its sizes, types, transposes and values; not on the number of threads.
#pragma once

#include <memory>

#include "rewind/base/function_ref.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/kernel.h"

namespace rw {

// Memory that a sequence of products shares: a kernel's scratch, or, for a thread inside a kernel, its own.
// It holds one request at a time.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(KernelContext& ctx) : ctx_(&ctx) {}
  char* room(size_t bytes) {  // aligned to a cache line
    if (bytes > size_) {
      if (!ctx_) own_.reset(new char[bytes + 64]);
      char* memory = ctx_ ? ctx_->scratch<char>(bytes + 64) : own_.get();
      data_ = memory + (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64;
      size_ = bytes;
    }
    return data_;
  }
  // One more of the same kind, for a request that lives beside this one's.
  Workspace another() const { return ctx_ ? Workspace(*ctx_) : Workspace(); }

 private:
  KernelContext* ctx_ = nullptr;
  std::unique_ptr<char[]> own_;
  char* data_ = nullptr;
  size_t size_ = 0;
};

struct Gemm {
  int64_t m = 0, n = 0, k = 0;        // c is (m, n), op(a) is (m, k), op(b) is (k, n)
  bool transpose_a = false;           // a lies as (k, m)
  bool transpose_b = false;           // b lies as (n, k)
  int64_t lda = 0, ldb = 0, ldc = 0;  // elements between stored rows
  int64_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;  // elements between matrices; 0: one for all

  // Dense matrices; a and b of one batch entry follow each other.
  static Gemm dense(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b, int64_t batch = 1) {
    return {m, n,     k,     transpose_a, transpose_b, transpose_a ? m : k, transpose_b ? k : n,
            n, batch, m * k, k * n,       m * n};
  }
};

// Types: the four floats (16-bit ones are computed in float and rounded once) and all integers (which wrap).
// Returns false for any other type. k == 0 gives zeros.
bool gemm(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c);

// The library's own product, for every type, by blocks of isa/gemm.cc: what small products, integers and
// float64 run on, and floats without oneDNN. Modes other than kSet are for types of 4 and 8 bytes.
void gemm_plain(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c,
                GemmMode mode = GemmMode::kSet);

// Whether a product is small enough for gemm_direct; by its type and sizes alone.
bool is_direct(DType dtype, const Gemm& g);
// Calls `rows_done(begin, end)` from any thread for rows of c that are finished, each once.
void gemm_direct(Workspace& workspace, const Gemm& g, const float* a, const float* b, float* c,
                 FunctionRef<void(int64_t, int64_t)> rows_done);

// The same for aᵀ b with a long inner axis and a small result.
bool is_long(DType dtype, const Gemm& g);
void gemm_long(Workspace& workspace, const Gemm& g, const float* a, const float* b, float* c);

// oneDNN's, for float32. False when this product is not for it.
bool gemm_onednn(Workspace& workspace, DType dtype, const Gemm& g, const void* a, const void* b, void* c);

}  // namespace rw
