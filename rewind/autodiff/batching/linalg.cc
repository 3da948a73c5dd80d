// Batching of linear algebra: these ops take leading axes as they are.
#include <algorithm>

#include "rewind/autodiff/batching.h"
#include "rewind/tensor/apply.h"

namespace rw {
namespace {

// The first `count` inputs get the batch axis; where another one differs within the batch, elements run one
// by one.
void leading(BatchContext& c, int count) {
  for (int i = count; i < c.num_inputs(); ++i)
    if (c.batched(i)) return batch_by_loop(c);
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) { inputs.push_back(i < count ? c.with_batch(i) : c.input(i)); }
  const Tensors out = apply(c.op(), inputs, c.attrs());
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (out[size_t(i)].rank() > 0) {
      c.set(i, out[size_t(i)]);
      continue;
    }
    // A scalar that stands for vectors nobody asked for.
    c.set(i, fill_sizes({c.batch()}, out[size_t(i)]));
  }
}

void triangular_solve(BatchContext& c) {
  const int rank = std::max(c.rank(0), c.rank(1));
  const Tensor matrix = c.aligned(0, rank);
  const Tensor rhs = c.aligned(1, rank);
  c.set(0, apply_one(c.op(), {&matrix, &rhs}, c.attrs()));
}

// Diagonals of tensors are those of matrices with the axes merged.
void diag(BatchContext& c) {
  const Sizes sizes = sizes_of(c.input(0));
  const Tensor flat = reshape_sizes(c.input(0), {sizes[0], product(sizes, 1, sizes.size())});
  Sizes out = sizes;
  out.insert(out.end(), sizes.begin() + 1, sizes.end());
  c.set(0, reshape_sizes(apply_one(RW_OP("MatrixDiag"), {&flat}), out));
}

void diag_part(BatchContext& c) {
  const Sizes sizes = sizes_of(c.input(0));
  const size_t half = (sizes.size() - 1) / 2;
  const Size n = product(sizes, 1, half + 1);
  const Tensor flat = reshape_sizes(c.input(0), {sizes[0], n, n});
  const Tensor part = apply_one(RW_OP("MatrixDiagPart"), {&flat});
  c.set(0, reshape_sizes(part, Sizes(sizes.begin(), sizes.begin() + int64_t(half) + 1)));
}

}  // namespace

void register_linalg_batching() {
  for (const char* op :
       {"Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Lu", "Qr", "Svd",
        "SelfAdjointEigV2", "MatrixSquareRoot", "MatrixDiag", "MatrixDiagPart", "MatrixBandPart",
        "MatrixDiagV2", "MatrixDiagV3", "MatrixDiagPartV2", "MatrixDiagPartV3"})
    register_batching(op, [](BatchContext& c) { leading(c, 1); });
  for (const char* op : {"CholeskyGrad", "MatrixSolve", "MatrixSolveLs", "MatrixSetDiag", "MatrixSetDiagV2",
                         "MatrixSetDiagV3", "Cross"})
    register_batching(op, [](BatchContext& c) { leading(c, 2); });
  register_batching("MatrixTriangularSolve", triangular_solve);
  register_batching("Diag", diag);
  register_batching("DiagPart", diag_part);
}

}  // namespace rw
