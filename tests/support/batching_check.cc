#include "tests/support/batching_check.h"

#include "rewind/op/table.h"
#include "tests/support/case_run.h"
#include "tests/support/compare.h"

namespace rw::test {
namespace {

constexpr int kBatch = 3;
using LeafSet = std::vector<uint32_t>;

// Leaves that a batch may run over: tensors of numbers.
LeafSet batchable(const Case& c, const Op& op) {
  LeafSet found;
  if (!op.simple) return c.wanted;
  for (uint32_t k = 0; k < c.call.inputs.size(); ++k) {
    auto& in = c.call.inputs[k];
    if (in.kind != Input::kTensor) return c.wanted;  // positions of inputs and leaves differ
    if (in.value.dtype != DType::kString) found.push_back(k);
  }
  return found;
}

Case plain(const Case& c) {
  Case copy = clone(c);
  copy.wanted.clear();
  copy.output_gradients.clear();
  return copy;
}

// Example e: the leaf's elements rotated by e, so that values stay in the op's domain and examples differ.
Array rotated(const Array& x, int64_t e) {
  Array r = x;
  if (x.size() == 0) return r;
  size_t width = x.bytes.size() / size_t(x.size()), n = size_t(x.size());
  for (size_t i = 0; i < n; ++i)
    r.bytes.replace(i * width, width, x.bytes, (i + size_t(e)) % n * width, width);
  return r;
}

// The loop's results; empty when the op refuses an example.
std::vector<Result> run_examples(const Case& c, const LeafSet& set, bool rotate) {
  std::vector<Result> results;
  for (int e = 0; e < kBatch; ++e) {
    Case one = plain(c);
    auto inputs = leaves(one.call);
    for (auto k : set) inputs[k]->value = rotated(inputs[k]->value, rotate ? e : 0);
    results.push_back(run_case(one));
    if (results.back().failed) return {};
  }
  return results;
}

std::string compare_stacked(const std::vector<Result>& want, const Result& got, const Tolerance& tolerance) {
  if (got.failed) return got.error + ": " + got.message;
  for (size_t k = 0; k < want[0].outputs.size(); ++k) {
    if (!want[0].outputs[k]) continue;
    Array all = *want[0].outputs[k];
    all.dims.insert(all.dims.begin(), kBatch);
    for (int e = 1; e < kBatch; ++e) {
      all.bytes += want[size_t(e)].outputs[k]->bytes;
      auto& more = want[size_t(e)].outputs[k]->strings;
      all.strings.insert(all.strings.end(), more.begin(), more.end());
    }
    auto text = difference(all, k < got.outputs.size() ? got.outputs[k] : std::nullopt, tolerance, 2);
    if (!text.empty()) return "output " + std::to_string(k) + ": " + text;
  }
  return "";
}

// Lists in a number that is not known, and sizes or places that differ, so that the rank is open.
bool may_lack_trace(const Case& c, const LeafSet& set) {
  const Op& op = find_op(c.call.op);
  bool may = op.name.starts_with("TensorList") || op.name.starts_with("Optional");
  for (auto k : set) may |= op.simple && size_t(k) < op.inputs.size() && op.inputs[k].host_memory;
  return may;
}

std::string check_set(const Case& c, const LeafSet& set) {
  bool rotate = true;
  auto want = run_examples(c, set, rotate);
  for (auto& r : want)  // sizes that depend on values cannot be stacked
    for (size_t k = 0; k < r.outputs.size(); ++k)
      if (r.outputs[k] && r.outputs[k]->dims != want[0].outputs[k]->dims) rotate = false;
  if (want.empty()) rotate = false;
  if (!rotate) want = run_examples(c, set, rotate);
  if (want.empty()) return "";

  Case base = plain(c);
  std::vector<Array> stacked;
  for (auto k : set) {
    const Array& x = leaves(base.call)[k]->value;
    Array all = make_array(x.dtype, x.dims);
    all.dims.insert(all.dims.begin(), kBatch);
    all.bytes.clear();
    for (int e = 0; e < kBatch; ++e) all.bytes += rotated(x, rotate ? e : 0).bytes;
    stacked.push_back(std::move(all));
  }
  base.wanted = set;
  for (const bool traced : {false, true}) {
    const Result got = run_batched(base, stacked, traced);
    if (traced && got.error == "UnimplementedError" && may_lack_trace(c, set)) continue;
    auto text = compare_stacked(want, got, c.tolerance);
    if (!text.empty()) return (traced ? "in a trace: " : "") + text;
  }
  return "";
}

// Every choice of leaves, or of many each alone and all.
std::vector<LeafSet> choices(const LeafSet& all) {
  std::vector<LeafSet> sets;
  if (all.size() > 4) {
    sets.push_back(all);
    for (auto k : all) sets.push_back({k});
    return sets;
  }
  for (size_t bits = 1; bits < size_t{1} << all.size(); ++bits) {
    LeafSet set;
    for (size_t i = 0; i < all.size(); ++i)
      if (bits >> i & 1) set.push_back(all[i]);
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace

Verdict check_batching(const Case& c) {
  const Op& op = find_op(c.call.op);
  if (op.stateful) return {Verdict::kSkipped, "the op is stateful"};
  Result alone = run_case(plain(c));
  if (alone.failed) return {Verdict::kSkipped, alone.error + ": " + alone.message};
  LeafSet all = batchable(c, op);
  if (all.empty()) return {Verdict::kSkipped, "nothing to batch over"};
  for (auto& set : choices(all)) {
    auto text = check_set(c, set);
    if (text.empty()) continue;
    std::string names;
    for (auto k : set) names += (names.empty() ? "" : ", ") + std::to_string(k);
    return {Verdict::kFailed, "batched over input " + names + ": " + text};
  }
  return {};
}

}  // namespace rw::test
