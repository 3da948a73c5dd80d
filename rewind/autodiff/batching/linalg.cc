// Batching of linear algebra: these ops take leading axes as they are.
#include <algorithm>

#include "rewind/autodiff/batching.h"
#include "rewind/autodiff/grad_ops.h"
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
    const Tensor dims = constant(std::vector<int64_t>{c.batch_size()});
    c.set(i, apply_one(RW_OP("Fill"), {&dims, &out[size_t(i)]}));
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
  const Shape& s = c.input(0).shape();
  const Tensor flat = reshape_to(c.input(0), {s[0], c.input(0).size() / std::max<int64_t>(1, s[0])});
  Shape out = s;
  for (int i = 1; i < s.rank(); ++i) out.append(s[i]);
  c.set(0, reshape_to(apply_one(RW_OP("MatrixDiag"), {&flat}), out));
}

void diag_part(BatchContext& c) {
  const Shape& s = c.input(0).shape();
  const int half = (s.rank() - 1) / 2;
  Shape out{s[0]};
  int64_t n = 1;
  for (int i = 1; i <= half; ++i) {
    out.append(s[i]);
    n *= s[i];
  }
  const Tensor flat = reshape_to(c.input(0), {s[0], n, n});
  c.set(0, reshape_to(apply_one(RW_OP("MatrixDiagPart"), {&flat}), out));
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
