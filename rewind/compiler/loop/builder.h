// Writes kernels of the loop IR.
//
//   Builder b;
//   const int32_t x = b.in(DType::kFloat32, 6400), y = b.out(DType::kFloat32, 6400);
//   b.loop(100, LoopKind::kParallel, [&](Index i) {
//     b.loop(64, LoopKind::kVector, [&](Index j) {
//       b.store(y, 64 * i + j, b.op("Tanh", {b.load(x, 64 * i + j)}));
//     });
//   });
//   Kernel kernel = b.finish();
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewind/compiler/loop/ir.h"

namespace rw::loop {

// A loop variable, and the places made of them.
struct Index {
  int32_t loop;
};
Affine operator*(int64_t step, Index i);
Affine operator*(int64_t factor, const Affine& a);
Affine operator+(const Affine& a, const Affine& b);  // at most one of them has a dynamic part

// Everything a place may be written as.
struct Place : Affine {
  Place(int64_t constant) { this->constant = constant; }  // NOLINT: conversions are the purpose
  Place(Index i) : Affine(1 * i) {}                       // NOLINT
  Place(const Affine& a) : Affine(a) {}                   // NOLINT
};
inline Affine operator+(Index a, Index b) { return 1 * a + 1 * b; }
inline Affine operator+(const Affine& a, Index b) { return a + 1 * b; }
inline Affine operator+(Index a, const Affine& b) { return 1 * a + b; }
inline Affine operator+(const Affine& a, int64_t c) { return a + Affine{.constant = c}; }
inline Affine operator+(Index a, int64_t c) { return 1 * a + c; }
// The value of an int64 as a place, to be added to others.
inline Affine dynamic(Var v) { return Affine{.dynamic = v}; }

class Builder {
 public:
  explicit Builder(std::string name = "kernel") { kernel_.name = std::move(name); }

  int32_t in(DType dtype, int64_t size) { return buffer(dtype, size, Role::kIn); }
  int32_t out(DType dtype, int64_t size) { return buffer(dtype, size, Role::kOut); }
  int32_t scratch(DType dtype, int64_t size) { return buffer(dtype, size, Role::kScratch); }
  int32_t buffer(DType dtype, int64_t size, Role role);

  template <Element T>
  Var constant(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return constant_bits(dtype_of<T>, bits);
  }
  Var constant_bits(DType dtype, uint64_t bits);
  Var constant_of(DType dtype, double value);  // rounded to the type
  Var index(const Place& at);
  Var load(int32_t buffer, const Place& at);
  void store(int32_t buffer, const Place& at, Var value);
  // The result's type is that of the definition.
  Var op(std::string_view name, std::initializer_list<Var> args);
  Var op(std::string_view name, const Var* args, size_t count);
  Var cast(Var x, DType to);  // x itself when it has the type
  Var select(Var condition, Var x, Var y);

  int32_t local(Var initial);
  Var get(int32_t local);
  void set(int32_t local, Var value);
  void fail(int64_t status);

  template <class Body>  // body(Index)
  void loop(int64_t extent, LoopKind kind, Body body) {
    const Index i = open(Code::kFor, extent, kind);
    body(i);
    close();
  }
  template <class Body>  // Var body(Index)
  Var reduce(int64_t extent, Combine combine, Body body) {
    const Index i = open(Code::kReduce, extent, LoopKind::kVector);
    const Var value = body(i);
    return close_reduce({{combine, value}})[0];
  }
  // body(Index) gives pairs of how and what; the results come in their order.
  template <class Body>
  std::vector<Var> reduce_many(int64_t extent, Body body) {
    const Index i = open(Code::kReduce, extent, LoopKind::kVector);
    return close_reduce(body(i));
  }
  template <class Condition, class Body>  // Var condition(), body()
  void while_loop(Condition condition, Body body) {
    open_block(Code::kWhile);
    const Var go_on = condition();
    next_block(go_on);
    body();
    close();
  }
  template <class Then, class Else>
  void if_else(Var condition, Then then, Else otherwise) {
    open_block(Code::kIf);
    stack_.back().args.push_back(condition);
    then();
    next_block(-1);
    otherwise();
    close();
  }
  template <class Then>
  void if_then(Var condition, Then then) {
    if_else(condition, then, [] {});
  }

  DType dtype_of_var(Var v) const { return var_types_[size_t(v)]; }
  // The kernel, verified. The builder is empty afterwards.
  Kernel finish();

 private:
  Stmt& add(Stmt stmt);
  Var new_var(DType dtype);
  Index open(Code code, int64_t extent, LoopKind kind);
  void open_block(Code code);
  void next_block(Var condition);
  void close();
  std::vector<Var> close_reduce(const std::vector<std::pair<Combine, Var>>& values);

  Kernel kernel_;
  std::vector<DType> var_types_;
  std::vector<DType> local_types_;
  std::vector<Stmt> stack_;    // statements that are open, outermost first
  std::vector<Block> blocks_;  // the block of each that is being filled
};

}  // namespace rw::loop
