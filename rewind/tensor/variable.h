// Variable: state with an identity. Usable wherever a tensor is: it reads as its current value. Any number of
// threads may read and write one; each read is a snapshot, each write is done whole.
#pragma once

#include <memory>
#include <string>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/tensor.h"

namespace rw {

struct VariableOptions {
  bool trainable = true;
  std::string name = "Variable";
  DType dtype = DType::kInvalid;        // kInvalid: the initial value's
  Shape shape = Shape::unknown_rank();  // what later values must fit; unknown: the initial value's shape
};

// A handle: copies are the same variable, in whatever way they are made (`Variable b(a)`, `auto b = a`, by
// value into a function). b = a.copy() is another one; so is Variable b(a.value()), with options of its own.
class Variable {
 public:
  Variable() = default;  // undefined
  explicit Variable(const Operand& initial_value, VariableOptions options = {});
  // Variable({{1.}, {2.}}): braces that the compiler could take for a variable and its options otherwise.
  template <detail::Listed T, size_t A>
  explicit Variable(const T (&list)[A], VariableOptions options = {})
      : Variable(Operand(list, Shape{A}), std::move(options)) {}
  template <detail::Listed T, size_t A, size_t B>
  explicit Variable(const T (&list)[A][B], VariableOptions options = {})
      : Variable(Operand(*list, Shape{A, B}), std::move(options)) {}
  template <detail::Listed T, size_t A, size_t B, size_t C>
  explicit Variable(const T (&list)[A][B][C], VariableOptions options = {})
      : Variable(Operand(**list, Shape{A, B, C}), std::move(options)) {}
  template <detail::Listed T, size_t A, size_t B, size_t C, size_t D>
  explicit Variable(const T (&list)[A][B][C][D], VariableOptions options = {})
      : Variable(Operand(***list, Shape{A, B, C, D}), std::move(options)) {}
  // A new variable of this one's value, dtype, shape, name and trainability. The values are shared until one
  // of the two is assigned.
  Variable copy() const;

  bool defined() const { return state_ != nullptr; }
  const std::string& name() const;  // "w:0"
  DType dtype() const;
  const Shape& shape() const;
  bool trainable() const;
  // The resource tensor that state ops take.
  const Tensor& handle() const;

  // The current value, a snapshot: later assignments do not change it. Tapes that watch hear of it.
  Tensor value() const;
  Tensor read_value() const { return value(); }
  operator Tensor() const { return value(); }  // NOLINT: a variable is usable wherever a tensor is

  // Each returns the variable itself, for chaining. Shapes and types must fit.
  const Variable& assign(const Operand& value) const;
  const Variable& assign_add(const Operand& delta) const;
  const Variable& assign_sub(const Operand& delta) const;
  // Rows `indices` along the first axis.
  const Variable& scatter_update(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_add(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_sub(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_mul(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_div(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_max(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_min(const Operand& indices, const Operand& updates) const;
  // Rows `indices` of the value; its gradient stays sparse.
  Tensor sparse_read(const Operand& indices) const;

  // Reading without copying out: as on a tensor.
  template <class T>
  T item() const {
    return value().item<T>();
  }
  template <class T>
  std::vector<T> to_vector() const {
    return value().to_vector<T>();
  }
  // As its value would be: one element, true unless it is 0.
  explicit operator bool() const { return bool(value()); }
  std::string repr() const;  // "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=...>"

  friend bool same_variable(const Variable& a, const Variable& b) { return a.id() == b.id(); }
  // The same for all handles of one variable. A trace in which this is asked of an argument is one for that
  // variable.
  const void* id() const;

  // For functions. The variable as an argument of a trace: behind a handle tensor of its own, which the trace
  // takes for the argument; used anywhere else it is the variable itself.
  Variable as_argument() const;
  // The living variable with this handle; undefined if there is none.
  static Variable behind(const Tensor& handle);
  // id() without a word to the trace, and an object that keeps the variable alive.
  const std::shared_ptr<const void> identity() const;

 private:
  struct State;
  const State& state() const;
  void create(const Tensor& initial, std::string name, Shape shape, bool trainable);
  const Tensor& written() const;  // the handle, for an op that writes
  std::shared_ptr<const State> state_;
};

std::ostream& operator<<(std::ostream& out, const Variable& variable);

}  // namespace rw
