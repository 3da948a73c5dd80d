// Vectors of the instruction set a file is compiled for, and where the compiler may fuse multiply-adds.
#pragma once

#include <cstdint>

namespace rw::RW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class A>
using VectorOf [[gnu::vector_size(kVectorBytes)]] = A;
// The same at any address.
template <class A>
using LooseVectorOf [[gnu::vector_size(kVectorBytes), gnu::aligned(alignof(A)), gnu::may_alias]] = A;
template <class A>
constexpr int kLanesOf = kVectorBytes / int(sizeof(A));

}  // namespace
}  // namespace rw::RW_ISA

// Multiply-adds are fused, where the instruction set can, in the tiles of products and only there: a function
// marked RW_MAY_CONTRACT begins with RW_CONTRACT_HERE.
#if defined(__clang__)
#define RW_CONTRACT_HERE _Pragma("clang fp contract(fast)")
#define RW_MAY_CONTRACT
#else
#define RW_CONTRACT_HERE
#define RW_MAY_CONTRACT __attribute__((optimize("fp-contract=fast")))
#endif
