// The op table: every op the library knows, by TensorFlow's name. Open: a program adds its own rows with the
// same call that the library uses.
//
// A row is text in one line, as in
//   MatMul(a: T, b: T) -> (product: T); transpose_a: bool = false; T: {float, double}
// arguments:  name: TYPE | name: type_attribute | name: N * type_attribute | name: type_list_attribute
// attributes: name: int|float|bool|string|type|shape|tensor|func|list(...)|{allowed, ...} [>= minimum] [=
// default] flags:      stateful, commutative, aggregate {number} and {real} stand for TensorFlow's sets of
// number types with and without complex and quantised ones.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "rewind/op/op.h"

namespace rw {

class OpTable;

class OpBuilder {
 public:
  explicit OpBuilder(Op& op) : op_(op) {}
  OpBuilder& shape(ShapeRule rule) {
    op_.shape_rule = rule;
    return *this;
  }
  OpBuilder& tag(std::string_view name) {
    op_.tag = name;
    return *this;
  }
  OpBuilder& host(std::initializer_list<std::string_view> arguments);
  OpBuilder& view() {
    op_.view = true;
    return *this;
  }
  OpBuilder& shares() {
    op_.shares = true;
    return *this;
  }
  OpBuilder& runtime() {
    op_.runtime = true;
    return *this;
  }
  OpBuilder& elementwise() {
    op_.elementwise = true;
    return *this;
  }
  const Op& op() const { return op_; }

 private:
  Op& op_;
};

class OpTable {
 public:
  // Adds a row. Throws InvalidArgumentError for a bad text and AlreadyExistsError for a second row of a name.
  OpBuilder add(std::string_view schema);
  // nullptr when there is no such row. Rows never move and never go away.
  const Op* find(std::string_view name) const;
  std::vector<const Op*> all() const;
};

// The process's table. Whoever asks first fills it with the library's rows and everything that hangs on them:
// kernels, gradients, batching rules. So what a program registers comes behind the library's, whenever it
// does so, and replaces it; and rows that it adds never take a name of the library's.
OpTable& op_table();
// Throws NotFoundError with the nearest names.
const Op& find_op(std::string_view name);

}  // namespace rw
