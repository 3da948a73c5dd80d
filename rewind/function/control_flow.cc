#include "rewind/function/control_flow.h"

#include "rewind/base/error.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/effect.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::detail {
namespace {

// Results of branch b must look like those of branch 0.
void check_same(const char* what, const BodyResult& first, const BodyResult& other, size_t b) {
  const std::string branch = "branch " + std::to_string(b);
  const std::string a = structure_text(first.key);
  const std::string c = structure_text(other.key);
  if (a != c)
    fail_branches(what, "all branches must return the same structure: branch 0 returns (" + a + "), " +
                            branch + " (" + c + ")");
  for (size_t i = 0; i < first.tensors.size(); ++i) {
    const Tensor& x = first.tensors[i];
    const Tensor& y = other.tensors[i];
    if (x.dtype() == y.dtype()) continue;
    fail_branches(what, "all branches must return the same dtypes: output " + std::to_string(i) + " is " +
                            std::string(name_of(x.dtype())) + " in branch 0 and " +
                            std::string(name_of(y.dtype())) + " in " + branch + "; rw::cast converts");
  }
}

TensorList stage(const char* what, const char* row, const Tensor& selector,
                 std::span<const BranchFn> branches) {
  const int64_t n = selector.shape().fully_known() ? selector.shape().num_elements() : 1;
  if (n != 1) fail_branches(what, "the choice must be one value: got shape " + selector.shape().to_string());
  std::vector<Ref<Trace>> traces;
  std::vector<BodyResult> results(branches.size());
  for (size_t b = 0; b < branches.size(); ++b) {
    traces.push_back(new_body(std::string(what) + "_branch" + std::to_string(b)));
    const TraceScope scope(*traces.back());
    NestWriter writer = results[b].writer();
    branches[b](writer);
    if (b > 0) check_same(what, results[0], results[b], b);
    traces.back()->finish({results[b].tensors.data(), results[b].tensors.size()});
  }
  std::vector<Tensor> inputs = share_captures(traces);
  inputs.insert(inputs.begin(), selector);
  std::vector<DType> types;
  for (const Tensor& t : results[0].tensors) types.push_back(t.dtype());
  Attrs attrs{{"Tout", types}};
  std::vector<BodyRef> bodies;
  for (const Ref<Trace>& t : traces) bodies.emplace_back(t->graph_ref());
  if (std::string_view(row) == "If")
    attrs = attrs.with("then_branch", bodies[0]).with("else_branch", bodies[1]);
  else attrs = attrs.with("branches", bodies);
  const Tensors outputs = apply_control(row, inputs, attrs);
  return {outputs.begin(), outputs.end()};
}

Tensor count_true(const std::vector<Tensor>& predicates) {
  std::vector<Tensor> flags;
  for (const Tensor& p : predicates) flags.push_back(reshape(cast(p, DType::kInt32), {}));
  return reduce_sum(stack(flags));
}

}  // namespace

bool can_branch(const Tensor& selector) { return value_is_known(selector); }

bool predicate_value(const Tensor& predicate) { return bool(predicate); }

size_t branch_at(const Tensor& index, size_t count) {
  if (index.dtype() != DType::kInt32)
    fail_branches("switch_case", "branch_index must be int32: got " + std::string(name_of(index.dtype())));
  const int32_t i = index.item<int32_t>();
  return i < 0 || size_t(i) >= count ? count - 1 : size_t(i);
}

TensorList stage_cond(const Tensor& predicate, BranchFn then_branch, BranchFn else_branch) {
  return stage("cond", "If", predicate, std::vector<BranchFn>{then_branch, else_branch});
}

TensorList stage_case(const Tensor& index, std::span<const BranchFn> branches) {
  if (index.dtype() != DType::kInt32)
    fail_branches("switch_case", "branch_index must be int32: got " + std::string(name_of(index.dtype())));
  return stage("switch_case", "Case", index, branches);
}

void fail_branches(const char* what, const std::string& rule) { fail_invalid(what, rule); }

void require_exclusive(const std::vector<Tensor>& predicates) {
  debugging::assert_less_equal(count_true(predicates), 1, "case: more than one predicate is true");
}

void require_one_true(const std::vector<Tensor>& predicates) {
  debugging::assert_positive(count_true(predicates), "case: no predicate is true, and there is no default");
}

}  // namespace rw::detail
