// The matrix exponential by Padé approximants with scaling and squaring, composed as TensorFlow composes it,
// so that it is differentiable. Coefficients and bounds: Higham, "The scaling and squaring method revisited"
// (2005).
#include <cmath>
#include <vector>

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/linalg.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::linalg {
namespace {

// exp(a) is about (v - u)^-1 (v + u): u holds the odd terms, v the even ones.
struct Pade {
  Tensor u, v;
};

Tensor identity_like(const Tensor& a) {
  const Tensor diagonal = diag_part(a);
  return diag(apply_one(RW_OP("OnesLike"), {&diagonal}));
}

// Orders 3 to 9: `b` holds the coefficients of a^0, a^1, ...
Pade pade(const Tensor& a, std::span<const double> b) {
  const Tensor square = matmul(a, a);
  Tensor power = identity_like(a);
  Tensor odd = b[1] * power;
  Tensor even = b[0] * power;
  for (size_t i = 2; i < b.size(); i += 2) {
    power = i == 2 ? square : matmul(power, square);
    even = even + b[i] * power;
    odd = odd + b[i + 1] * power;
  }
  return {matmul(a, odd), even};
}

Pade pade13(const Tensor& a) {
  static constexpr double b[] = {64764752532480000.,
                                 32382376266240000.,
                                 7771770303897600.,
                                 1187353796428800.,
                                 129060195264000.,
                                 10559470521600.,
                                 670442572800.,
                                 33522128640.,
                                 1323241920.,
                                 40840800.,
                                 960960.,
                                 16380.,
                                 182.,
                                 1.};
  const Tensor eye = identity_like(a);
  const Tensor a2 = matmul(a, a);
  const Tensor a4 = matmul(a2, a2);
  const Tensor a6 = matmul(a4, a2);
  const Tensor odd =
      matmul(a6, a6 * b[13] + a4 * b[11] + a2 * b[9]) + a6 * b[7] + a4 * b[5] + a2 * b[3] + eye * b[1];
  const Tensor even =
      matmul(a6, a6 * b[12] + a4 * b[10] + a2 * b[8]) + a6 * b[6] + a4 * b[4] + a2 * b[2] + eye * b[0];
  return {matmul(a, odd), even};
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return apply_one(RW_OP("SelectV2"), {&condition, &x, &y});
}
Tensor less(const Tensor& x, double bound) {
  const Tensor limit = constant(bound, x.dtype());
  return apply_one(RW_OP("Less"), {&x, &limit});
}

constexpr double kThree[] = {120., 60., 12., 1.};
constexpr double kFive[] = {30240., 15120., 3360., 420., 30., 1.};
constexpr double kSeven[] = {17297280., 8648640., 1995840., 277200., 25200., 1512., 56., 1.};
constexpr double kNine[] = {17643225600., 8821612800., 2075673600., 302702400., 30270240.,
                            2162160.,     110880.,     3960.,       90.,        1.};

// The norm of the largest column sum, as (..., 1, 1).
Tensor column_norm(const Tensor& a) {
  const Tensor absolute = apply_one(RW_OP("Abs"), {&a});
  const Tensor rows = constant(-2);
  const Tensor cols = constant(-1);
  const Tensor sums = apply_one(RW_OP("Sum"), {&absolute, &rows}, {{"keep_dims", true}});
  return apply_one(RW_OP("Max"), {&sums, &cols}, {{"keep_dims", true}});
}

// The larger of two sizes as a number of this type.
Tensor longest_side(const Size& rows, const Size& columns, DType dtype) {
  if (rows.known() && columns.known())
    return scalar_tensor(double(std::max(rows.number(), columns.number())), dtype);
  const Tensor a = rows.tensor();
  const Tensor b = columns.tensor();
  const Tensor most = apply_one(RW_OP("Maximum"), {&a, &b});
  return apply_one(RW_OP("Cast"), {&most}, {{"DstT", dtype}});
}

double largest(const Tensor& x) {
  double most = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double v =
        x.dtype() == DType::kFloat64 ? x.data<double>()[size_t(i)] : double(x.data<float>()[size_t(i)]);
    if (!(v <= most)) most = v;
  }
  return most;
}

}  // namespace

Tensor expm(const Operand& input) {
  const Tensor& a = input.tensor();
  if (a.dtype() != DType::kFloat32 && a.dtype() != DType::kFloat64)
    fail_invalid("expm", "type must be float32 or float64: got " + std::string(name_of(a.dtype())));
  const bool ranked = a.shape().has_rank();
  if (ranked && (a.rank() < 2 || (a.dim(-1) != a.dim(-2) && a.dim(-1) >= 0 && a.dim(-2) >= 0)))
    fail_invalid("expm", "the last two sizes must be equal: input is " + a.shape().to_string());
  if (a.impl()->kind == TensorKind::kEager && a.size() == 0) return a;
  const bool wide = a.dtype() == DType::kFloat64;
  const Tensor norm = column_norm(a);
  // Halve until the norm is small enough for the highest order.
  const Tensor ratio = norm * (1.0 / (wide ? 5.371920351148152 : 3.925724783138660));
  const Tensor log_ratio = apply_one(RW_OP("Log"), {&ratio}) * (1.0 / std::log(2.0));
  const Tensor floored = apply_one(RW_OP("Ceil"), {&log_ratio});
  const Tensor zero = constant(0.0, a.dtype());
  const Tensor halvings = apply_one(RW_OP("Maximum"), {&floored, &zero});
  const Tensor exponent = -halvings;
  const Tensor two = constant(2.0, a.dtype());
  const Tensor factor = apply_one(RW_OP("Pow"), {&two, &exponent});
  const Tensor small = a * factor;

  std::vector<Pade> orders{pade(a, kThree), pade(a, kFive)};
  std::vector<double> bounds{4.258730016922831e-01};
  if (wide) {
    orders.push_back(pade(a, kSeven));
    orders.push_back(pade(a, kNine));
    orders.push_back(pade13(small));
    bounds = {1.495585217958292e-02, 2.539398330063230e-01, 9.504178996162932e-01, 2.097847961257068e+00};
  } else {
    orders.push_back(pade(small, kSeven));
    bounds.push_back(1.880152677804762e+00);
  }
  Pade chosen = orders.back();
  for (size_t i = bounds.size(); i-- > 0;) {
    const Tensor fits = less(norm, bounds[i]);
    chosen = {where(fits, orders[i].u, chosen.u), where(fits, orders[i].v, chosen.v)};
  }
  Tensor result = solve(chosen.v - chosen.u, chosen.v + chosen.u);

  // The number of squarings is the batch's largest; where it is not known yet, as many as a finite result can
  // need.
  int rounds = 12;
  if (halvings.impl()->kind == TensorKind::kEager) {
    const double most = largest(halvings);
    rounds = std::isfinite(most) ? int(most) : 0;
  }
  for (int i = 0; i < rounds; ++i) {
    const Tensor step = constant(double(i), a.dtype());
    const Tensor more = apply_one(RW_OP("Less"), {&step, &halvings});
    result = where(more, matmul(result, result), result);
  }
  return result;
}

Tensor pinv(const Operand& a) {
  const Tensor& x = a.tensor();
  const SvdResult f = svd(x);
  const double eps = x.dtype() == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  const Sizes sizes = sizes_of(x);
  const Tensor rcond = longest_side(sizes[sizes.size() - 2], sizes.back(), x.dtype()) * (10.0 * eps);
  const Tensor axis = constant(-1);
  const Tensor largest_value = apply_one(RW_OP("Max"), {&f.s, &axis}, {{"keep_dims", true}});
  const Tensor limit = largest_value * rcond;
  const Tensor keep = apply_one(RW_OP("Greater"), {&f.s, &limit});
  const Tensor ones = apply_one(RW_OP("OnesLike"), {&f.s});
  const Tensor zeros = apply_one(RW_OP("ZerosLike"), {&f.s});
  const Tensor safe = where(keep, f.s, ones);
  const Tensor inverse = apply_one(RW_OP("Reciprocal"), {&safe});
  const Tensor weights = where(keep, inverse, zeros);
  const Tensor row_axis = constant(-2);
  const Tensor rows = apply_one(RW_OP("ExpandDims"), {&weights, &row_axis});
  return matmul(f.v * rows, f.u, {.adjoint_b = true});
}

}  // namespace rw::linalg
