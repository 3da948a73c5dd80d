// Assertions about tensors. Each computes its condition with ops and hands the values to Assert.
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/effect.h"
#include "rewind/tensor/ops/reduce.h"

namespace rw::debugging {
namespace {

Tensor all_of(const Tensor& condition) { return reduce_all(condition); }

void require(const Tensor& condition, const std::string& message, const std::string& rule,
             const std::vector<std::pair<std::string, Tensor>>& values) {
  std::vector<Tensor> data{constant(message.empty() ? rule : message + "; " + rule)};
  for (const auto& [name, value] : values) {
    data.push_back(
        constant(name + " " + std::string(name_of(value.dtype())) + value.shape().to_string() + " ="));
    data.push_back(value);
  }
  Assert(all_of(condition), data);
}

void compare(const Op& op, const char* sign, const Operand& x, const Operand& y, const std::string& message) {
  const OperandPair p = unify(x, y);
  require(apply_one(op, {&p.a, &p.b}), message, std::string("x ") + sign + " y must hold",
          {{"x", p.a}, {"y", p.b}});
}

void compare_zero(const Op& op, const char* sign, const Operand& x, const std::string& message) {
  const Tensor& t = x.tensor();
  const Tensor zero = scalar_tensor(int64_t{0}, t.dtype());
  require(apply_one(op, {&t, &zero}), message, std::string("x ") + sign + " 0 must hold", {{"x", t}});
}

[[noreturn]] void fail_static(const std::string& message, const std::string& rule) {
  fail_invalid("Assert", message.empty() ? rule : message + "; " + rule);
}

// A rank that a trace does not know is compared when the graph runs.
bool compares_later(const Op& op, const Operand& x, const std::vector<int>& ranks,
                    const std::string& message) {
  if (x.shape().has_rank()) return false;
  const Tensor rank = apply_one(RW_OP("Rank"), {&x.tensor()});
  const Tensor list = constant(std::vector<int32_t>(ranks.begin(), ranks.end()));
  require(reduce_any(apply_one(op, {&rank, &list})), message, "the rank does not fit",
          {{"rank", rank}, {"expected", list}});
  return true;
}

}  // namespace

void Assert(const Operand& condition, const MixedOperands& list, int summarize) {
  const std::vector<Tensor>& data = list.tensors();
  std::vector<Tensor> inputs{condition.tensor()};
  inputs.insert(inputs.end(), data.begin(), data.end());
  if (data.empty()) inputs.push_back(constant(""));
  rw::apply(RW_OP("Assert"), inputs, {{"summarize", summarize}});
}

#define RW_COMPARE(name, op, sign)                                            \
  void name(const Operand& x, const Operand& y, const std::string& message) { \
    compare(RW_OP(op), sign, x, y, message);                                  \
  }
RW_COMPARE(assert_equal, "Equal", "==")
RW_COMPARE(assert_none_equal, "NotEqual", "!=")
RW_COMPARE(assert_less, "Less", "<")
RW_COMPARE(assert_less_equal, "LessEqual", "<=")
RW_COMPARE(assert_greater, "Greater", ">")
RW_COMPARE(assert_greater_equal, "GreaterEqual", ">=")
#undef RW_COMPARE

#define RW_COMPARE_ZERO(name, op, sign) \
  void name(const Operand& x, const std::string& message) { compare_zero(RW_OP(op), sign, x, message); }
RW_COMPARE_ZERO(assert_positive, "Greater", ">")
RW_COMPARE_ZERO(assert_negative, "Less", "<")
RW_COMPARE_ZERO(assert_non_negative, "GreaterEqual", ">=")
RW_COMPARE_ZERO(assert_non_positive, "LessEqual", "<=")
#undef RW_COMPARE_ZERO

void assert_near(const Operand& x, const Operand& y, double rtol, double atol, const std::string& message) {
  const OperandPair p = unify(x, y);
  if (!is_floating(p.a.dtype())) fail_static(message, "x and y must be floating-point numbers");
  // Ten units in the last place of the dtype by default.
  const double eps = p.a.dtype() == DType::kFloat64   ? 2.220446049250313e-16
                     : p.a.dtype() == DType::kFloat32 ? 1.1920928955078125e-07
                     : p.a.dtype() == DType::kFloat16 ? 9.765625e-04
                                                      : 7.8125e-03;
  const Tensor relative = scalar_tensor(rtol < 0 ? 10 * eps : rtol, p.a.dtype());
  const Tensor absolute = scalar_tensor(atol < 0 ? 10 * eps : atol, p.a.dtype());
  const Tensor difference = apply_one(RW_OP("Sub"), {&p.a, &p.b});
  const Tensor error = apply_one(RW_OP("Abs"), {&difference});
  const Tensor size = apply_one(RW_OP("Abs"), {&p.b});
  const Tensor scaled = apply_one(RW_OP("Mul"), {&relative, &size});
  const Tensor allowed = apply_one(RW_OP("AddV2"), {&absolute, &scaled});
  require(apply_one(RW_OP("Less"), {&error, &allowed}), message, "x and y must be near",
          {{"x", p.a}, {"y", p.b}});
}

void assert_rank(const Operand& x, int rank, const std::string& message) {
  if (compares_later(RW_OP("Equal"), x, {rank}, message)) return;
  if (x.tensor().rank() != rank)
    fail_static(message, "rank must be " + std::to_string(rank) + ": got shape " + x.shape().to_string());
}
void assert_rank_at_least(const Operand& x, int rank, const std::string& message) {
  if (compares_later(RW_OP("GreaterEqual"), x, {rank}, message)) return;
  if (x.tensor().rank() < rank)
    fail_static(message,
                "rank must be at least " + std::to_string(rank) + ": got shape " + x.shape().to_string());
}
void assert_rank_in(const Operand& x, const std::vector<int>& ranks, const std::string& message) {
  if (compares_later(RW_OP("Equal"), x, ranks, message)) return;
  std::string list;
  for (const int r : ranks) {
    if (x.tensor().rank() == r) return;
    list += (list.empty() ? "" : ", ") + std::to_string(r);
  }
  fail_static(message, "rank must be one of " + list + ": got shape " + x.shape().to_string());
}
void assert_scalar(const Operand& x, const std::string& message) { assert_rank(x, 0, message); }
void assert_type(const Operand& x, DType dtype, const std::string& message) {
  if (x.dtype() != dtype)
    fail_static(message,
                "dtype must be " + std::string(name_of(dtype)) + ": got " + std::string(name_of(x.dtype())));
}
void assert_integer(const Operand& x, const std::string& message) {
  if (!is_integer(x.dtype()))
    fail_static(message, "dtype must be an integer: got " + std::string(name_of(x.dtype())));
}
Tensor assert_all_finite(const Operand& x, const std::string& message) { return check_numerics(x, message); }
Tensor check_numerics(const Operand& x, const std::string& message) {
  return apply_one(RW_OP("CheckNumerics"), {&x.tensor()}, {{"message", message}});
}

}  // namespace rw::debugging
