// Jacobians: one backward pass over a batch of output gradients, the rows of the identity.
#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/batching_scope.h"
#include "rewind/autodiff/grad_ops.h"
#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/sizes.h"

namespace rw {
namespace {

// n rows of zeros with a one each, as an n x n matrix.
Tensor identity_rows(const Size& n, DType dtype) {
  const Tensor zero = constant(int64_t{0});
  const Tensor end = n.tensor();
  const Tensor step = constant(int64_t{1});
  // As an op, which the compiler knows: a product with these rows is no product.
  const Tensor indices = apply_one(RW_OP("Range"), {&zero, &end, &step});
  const Tensor depth = n.tensor(DType::kInt32);
  const Tensor on = scalar_tensor(int64_t{1}, dtype);
  const Tensor off = scalar_tensor(int64_t{0}, dtype);
  return apply_one(RW_OP("OneHot"), {&indices, &depth, &on, &off});
}

Sizes joined(Sizes a, const Sizes& b, size_t from) {
  a.insert(a.end(), b.begin() + int64_t(from), b.end());
  return a;
}

}  // namespace

std::vector<Gradient> GradientTape::flat_jacobian(const Tensor& target, const std::vector<Tensor>& sources,
                                                  UnconnectedGradients unconnected) {
  if (!target.defined()) fail_invalid("jacobian", "the target is an undefined tensor");
  // Outside of the map: sizes are the same for all of its elements.
  const Sizes target_sizes = sizes_of(target);
  const std::vector<Tensor> rows = vectorized_map(
      [&](const std::vector<Tensor>& row) {
        GradientOptions options;
        options.output_gradients = {reshape_sizes(row[0], target_sizes)};
        options.unconnected_gradients = unconnected;
        std::vector<Tensor> dense;
        for (const Gradient& g : flat_gradient({target}, sources, options)) dense.push_back(g.tensor());
        return dense;
      },
      {identity_rows(product(target_sizes), target.dtype())});
  std::vector<Gradient> result;
  for (const Tensor& r : rows) {
    if (!r.defined()) {
      result.emplace_back();
      continue;
    }
    result.emplace_back(reshape_sizes(r, joined(target_sizes, sizes_of(r), 1)));
  }
  return result;
}

Gradient GradientTape::batch_jacobian(const Tensor& target, const Tensor& source,
                                      UnconnectedGradients unconnected) {
  return batch_jacobian_of(target, source, source, unconnected);
}
Gradient GradientTape::batch_jacobian(const Tensor& target, const Variable& source,
                                      UnconnectedGradients unconnected) {
  return batch_jacobian_of(target, source.handle(), source.value(), unconnected);
}

Gradient GradientTape::batch_jacobian_of(const Tensor& target, const Tensor& source, const Tensor& value,
                                         UnconnectedGradients unconnected) {
  if (!target.defined()) fail_invalid("batch_jacobian", "the target is an undefined tensor");
  if (!value.defined()) fail_invalid("batch_jacobian", "the source is an undefined tensor");
  const bool batches = target.rank() >= 1 && value.rank() >= 1;
  const bool same = batches && (target.dim(0) == value.dim(0) || target.dim(0) < 0 || value.dim(0) < 0);
  if (!same) {
    fail_invalid("batch_jacobian", "target and source must have the same first size: got " +
                                       target.shape().to_string() + " and " + value.shape().to_string());
  }
  const Sizes target_sizes = sizes_of(target);
  const Sizes source_sizes = sizes_of(value);
  const Sizes inner(target_sizes.begin() + 1, target_sizes.end());
  const Tensor rows =
      vectorized_map(std::function<Tensor(const Tensor&)>([&](const Tensor& row) {
                       GradientOptions options;
                       options.output_gradients = {broadcast_sizes(reshape_sizes(row, inner), target_sizes)};
                       options.unconnected_gradients = unconnected;
                       return flat_gradient({target}, {source}, options)[0].tensor();
                     }),
                     identity_rows(product(inner), target.dtype()));
  if (!rows.defined()) return {};
  // (n, batch, source...) -> (batch, n, source...)
  std::vector<int32_t> order{1, 0};
  for (int i = 2; i < rows.rank(); ++i) order.push_back(i);
  const Tensor perm = constant(order);
  const Tensor swapped = apply_one(RW_OP("Transpose"), {&rows, &perm});
  return reshape_sizes(swapped, joined(target_sizes, source_sizes, 1));
}

}  // namespace rw
