#include "rewind/tensor/literal.h"

#include "rewind/base/error.h"
#include "rewind/tensor/operand.h"

namespace rw {
namespace {

class Flattener {
 public:
  void walk(std::span<const Literal> list, size_t level) {
    std::vector<int64_t>& dims = flat.dims;
    if (dims.size() == level) dims.push_back(int64_t(list.size()));
    else if (dims[level] != int64_t(list.size()))
      fail_invalid("constant", "rows of nested lists must be equally long: got " +
                                   std::to_string(dims[level]) + " and " + std::to_string(list.size()) +
                                   " elements at depth " + std::to_string(level + 1));
    for (const Literal& item : list) {
      if (item.kind() == Literal::Kind::kList) {
        walk({item.begin(), item.size()}, level + 1);
        continue;
      }
      if (depth_ == 0) depth_ = level + 1;
      equally_deep_ &= depth_ == level + 1;
      flat.leaves.push_back(item);
    }
  }
  void check_depth() const {
    if (!equally_deep_ || (depth_ > 0 && depth_ != flat.dims.size()))
      fail_invalid("constant", "elements of nested lists must be equally deep: got some at depth " +
                                   std::to_string(depth_) + " and others deeper or less deep");
  }
  detail::FlatLiterals flat;

 private:
  size_t depth_ = 0;  // of the first element; 0 before one
  bool equally_deep_ = true;
};

DType common_type(DType a, DType b) {
  if (a == b) return a;
  for (const DType t : {a, b}) {
    if (is_floating(t) || is_integer(t)) continue;
    fail_invalid("constant", "elements of a list must be all numbers, all bools or all strings: got " +
                                 std::string(name_of(a)) + " beside " + std::string(name_of(b)));
  }
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  return is_floating(a) ? DType::kFloat32 : DType::kInt64;
}

}  // namespace

namespace detail {

FlatLiterals flatten(std::initializer_list<Literal> list) {
  Flattener f;
  f.walk(list, 0);
  f.check_depth();
  return std::move(f.flat);
}

DType common_type(std::span<const Literal> leaves) {
  if (leaves.empty()) return DType::kFloat32;
  DType type = leaves[0].dtype();
  for (const Literal& leaf : leaves) type = rw::common_type(type, leaf.dtype());
  return type;
}

}  // namespace detail

Tensor constant(std::initializer_list<Literal> v, DType dtype) {
  return constant(Operand(v).tensor(dtype), dtype);
}

}  // namespace rw
