#include "rewind/tensor/ops/random_scale.h"

#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/op_calls.h"

namespace rw::random::detail {
namespace {

Tensor as(const Tensor& t, DType dtype, int64_t otherwise) {
  if (!t.defined()) return scalar_tensor(otherwise, dtype);
  if (t.dtype() == dtype) return t;
  return apply_one(RW_OP("Cast"), {&t}, {{"DstT", dtype}});
}

}  // namespace

IntegerRange integer_range(const char* tag, const UniformOptions& o) {
  if (!o.maxval.defined()) fail_invalid(tag, "maxval must be given for " + std::string(name_of(o.dtype)));
  return {as(o.minval, o.dtype, 0), as(o.maxval, o.dtype, 1)};
}

Tensor scale_uniform(Tensor draw, const UniformOptions& o) {
  if (!o.minval.defined() && !o.maxval.defined()) return draw;
  const Tensor low = as(o.minval, o.dtype, 0);
  const Tensor width = op2(RW_OP("Sub"), as(o.maxval, o.dtype, 1), low);
  return op2(RW_OP("AddV2"), op2(RW_OP("Mul"), draw, width), low);
}

Tensor scale_normal(Tensor draw, const NormalOptions& o) {
  if (o.stddev.defined()) draw = op2(RW_OP("Mul"), draw, as(o.stddev, o.dtype, 1));
  if (o.mean.defined()) draw = op2(RW_OP("AddV2"), draw, as(o.mean, o.dtype, 0));
  return draw;
}

}  // namespace rw::random::detail
