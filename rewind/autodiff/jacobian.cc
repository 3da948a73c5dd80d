// Jacobians: one backward pass over a batch of output gradients, the rows of the identity.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching_scope.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// n rows of zeros with a one each, as an n x n matrix.
Tensor identity_rows(int64_t n, DType dtype) {
  const Tensor zero = constant(int64_t{0});
  const Tensor end = constant(n);
  const Tensor step = constant(int64_t{1});
  const Tensor indices = apply_one(RW_OP("Range"), {&zero, &end, &step});
  const Tensor depth = constant(int32_t(n));
  const Tensor on = scalar_tensor(int64_t{1}, dtype);
  const Tensor off = scalar_tensor(int64_t{0}, dtype);
  return apply_one(RW_OP("OneHot"), {&indices, &depth, &on, &off});
}

Shape joined(const Shape& a, const Shape& b) {
  Shape s = a;
  for (const int64_t d : b) s.append(d);
  return s;
}

}  // namespace

std::vector<Gradient> GradientTape::flat_jacobian(const Tensor& target, const std::vector<Tensor>& sources,
                                                  UnconnectedGradients unconnected) {
  if (!target.defined()) fail_invalid("jacobian", "the target is an undefined tensor");
  const int64_t n = target.size();
  const std::vector<Tensor> rows = vectorized_map(
      [&](const std::vector<Tensor>& row) {
        GradientOptions options;
        options.output_gradients = {reshape_to(row[0], target.shape())};
        options.unconnected_gradients = unconnected;
        std::vector<Tensor> dense;
        for (const Gradient& g : flat_gradient({target}, sources, options)) dense.push_back(g.tensor());
        return dense;
      },
      {identity_rows(n, target.dtype())});
  std::vector<Gradient> result;
  for (const Tensor& r : rows) {
    if (!r.defined()) {
      result.emplace_back();
      continue;
    }
    Shape source = r.shape();
    source.erase(0);
    result.emplace_back(reshape_to(r, joined(target.shape(), source)));
  }
  return result;
}

Gradient GradientTape::batch_jacobian(const Tensor& target, const Tensor& source,
                                      UnconnectedGradients unconnected) {
  if (target.rank() < 1 || source.rank() < 1 || target.dim(0) != source.dim(0)) {
    fail_invalid("batch_jacobian", "target and source must have the same first size: got " +
                                       target.shape().to_string() + " and " + source.shape().to_string());
  }
  Shape inner = target.shape();
  inner.erase(0);
  const int64_t n = inner.num_elements();
  const Tensor rows = vectorized_map(std::function<Tensor(const Tensor&)>([&](const Tensor& row) {
                                       GradientOptions options;
                                       const Tensor one = reshape_to(row, inner);
                                       options.output_gradients = {repeat_in_front(one, target.dim(0))};
                                       options.unconnected_gradients = unconnected;
                                       return flat_gradient({target}, {source}, options)[0].tensor();
                                     }),
                                     identity_rows(n, target.dtype()));
  if (!rows.defined()) return {};
  // (n, batch, source...) -> (batch, n, source...)
  std::vector<int32_t> order{1, 0};
  for (int i = 2; i < rows.rank(); ++i) order.push_back(i);
  const Tensor perm = constant(order);
  const Tensor swapped = apply_one(RW_OP("Transpose"), {&rows, &perm});
  Shape rest = source.shape();
  rest.erase(0);
  return reshape_to(swapped, joined(target.shape(), rest));
}

}  // namespace rw
