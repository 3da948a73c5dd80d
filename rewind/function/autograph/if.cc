#include "rewind/function/autograph/if.h"

#include "rewind/base/error.h"
#include "rewind/function/autograph/contents.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/thread_state.h"

namespace rw::autograph::detail {

bool is_staged(const Tensor& predicate) {
  return thread_state().trace != nullptr || predicate.impl()->kind == TensorKind::kBatched;
}

Tensor scalar_truth(const Tensor& predicate) {
  const Shape& shape = predicate.shape();
  if (shape.fully_known() && shape.num_elements() != 1)
    at_users_line(
        [&] { fail_invalid("bool", "the condition must be one value: got shape " + shape.to_string()); });
  Tensor truth = cast(predicate, DType::kBool);
  if (!shape.has_rank() || shape.rank() != 0) truth = reshape(truth, Shape());
  return truth;
}

// Branches are left open until both are known: what neither changes is no result.
class StagedIf {
 public:
  StagedIf(Tensor predicate, const State& state)
      : predicate_(std::move(predicate)),
        state_(state),
        nesting_(std::in_place, "if"),
        before_(state),
        start_("if", state) {
    if (Trace* const trace = current_trace(); trace && ++trace->num_branchings > kMostBranchings)
      fail_exhausted("if",
                     "more than " + std::to_string(kMostBranchings) +
                         " staged ifs stand in one graph: a loop of C++'s is unrolled, whose end a tensor "
                         "decides, or which has very many iterations; loop over rw::range(n) with a tensor "
                         "n, or while a tensor's condition holds, which is a loop in the graph");
    const int64_t n = predicate_.shape().fully_known() ? predicate_.shape().num_elements() : 1;
    if (n != 1)
      fail_invalid("if", "the condition must be one value: got shape " + predicate_.shape().to_string());
  }
  ~StagedIf() {
    if (done_) return;
    scope_.reset();  // an exception leaves a branch
    start_.restore();
  }

  bool next() {
    if (scope_) end_branch();
    if (results_.size() == 2) {
      finish();
      done_ = true;
      nesting_.reset();
      return false;
    }
    if (!results_.empty()) start_.restore();
    traces_.push_back(new_body("if_branch" + std::to_string(results_.size())));
    scope_.emplace(*traces_.back());
    return true;
  }
  bool then_branch() const { return results_.empty(); }

 private:
  Access::Kind kind(size_t i) const { return state_.entries[i].access->kind; }

  void end_branch() {
    for (size_t i = 0; i < state_.size; ++i)
      if (kind(i) == Access::kValue && !start_[i].equal()) fail_changed("if", state_, i);
    results_.emplace_back(state_);
    if (results_.size() == 1) first_.emplace("if", state_);
    scope_.reset();
  }

  // Puts the state behind branch b back, does something with variable i there, and notes what it then holds.
  template <class F>
  void in_branch(size_t b, size_t i, F f) {
    const TraceScope scope(*traces_[b]);
    f();
    results_[b].variables[i] = held_by(state_, i);
  }
  // Where one branch leaves a number of the host's and the other another one, or one of the graph: both are
  // of the graph. What only one branch returns is zeros behind the other one. Leaves the variable with the
  // structure of the second branch.
  void make_alike(size_t i) {
    BodyResult &a = results_[0].variables[i], &b = results_[1].variables[i];
    if (a.key == b.key) return;
    const Access& access = *state_.entries[i].access;
    const auto promote = [&] { access.promote(state_.addresses[i]); };
    if (kind(i) == Access::kResult && holds_nothing(a) != holds_nothing(b)) {
      const size_t unset = holds_nothing(a) ? 0 : 1, set = 1 - unset;
      if (unset == 1) (*first_)[i].restore();
      if (access.promote) in_branch(set, i, promote);
      if (results_[set].variables[i].tensors.empty())
        fail_invalid("if", "a staged branch returns a " + std::string(access.type) +
                               ", and the graph cannot say which path was taken; return an rw::Tensor");
      in_branch(unset, i, [&] { fill_with_zeros("if", state_, i); });
    } else if (access.promote) {
      in_branch(1, i, promote);
      if (!a.tensors.empty()) return;
      const Copy second(state_, i);
      (*first_)[i].restore();
      in_branch(0, i, promote);
      second.restore();
    }
  }
  void check_same(size_t i) const {
    const BodyResult &a = results_[0].variables[i], &b = results_[1].variables[i];
    const std::string name = name_of_variable(state_, i);
    const std::string x = structure_text(a.key), y = structure_text(b.key);
    if (x != y) {
      if (a.tensors.empty() && b.tensors.empty() && !holds_nothing(a) && !holds_nothing(b))
        fail_changed("if", state_, i);
      const bool unset = holds_nothing(a) || holds_nothing(b);
      fail_with_sites("if",
                      unset ? name + " is set in one branch only, and the other leaves it without a value"
                            : "both branches must leave " + name + " in one structure: the first leaves (" +
                                  x + "), the second (" + y + ")" +
                                  (x.starts_with("a list") && y.starts_with("a list") &&
                                           a.tensors.size() != b.tensors.size()
                                       ? "; a list whose length a tensor decides must be an rw::TensorArray"
                                       : ""),
                      a, b);
    }
    for (size_t k = 0; k < a.tensors.size(); ++k)
      if (a.tensors[k].dtype() != b.tensors[k].dtype())
        fail_with_sites("if",
                        "both branches must leave " + name + " with one dtype: it is " +
                            std::string(name_of(a.tensors[k].dtype())) + " after the first and " +
                            std::string(name_of(b.tensors[k].dtype())) +
                            " after the second; rw::cast converts",
                        a, b);
  }

  void finish() {
    std::vector<Tensor> outputs[2];
    std::vector<std::vector<uint8_t>> changed;
    for (size_t i = 0; i < state_.size; ++i) {
      if (is_scratch(state_, i) && holds_nothing(before_.variables[i])) {
        start_[i].restore();
        results_[1].variables[i] = before_.variables[i];
        changed.emplace_back();
        continue;
      }
      make_alike(i);
      check_same(i);
      const BodyResult &a = results_[0].variables[i], &b = results_[1].variables[i];
      const TensorList& old = before_.variables[i].tensors;
      changed.emplace_back(a.tensors.size());
      for (size_t k = 0; k < a.tensors.size(); ++k) {
        const auto is_old = [&](const Tensor& t) { return k < old.size() && t.impl() == old[k].impl(); };
        if (is_old(a.tensors[k]) && is_old(b.tensors[k]) && old.size() == a.tensors.size()) continue;
        changed[i][k] = 1;
        outputs[0].push_back(a.tensors[k]);
        outputs[1].push_back(b.tensors[k]);
      }
    }
    std::vector<DType> types;
    for (const Tensor& t : outputs[0]) types.push_back(t.dtype());
    for (size_t b = 0; b < 2; ++b) {
      const TraceScope scope(*traces_[b]);
      traces_[b]->finish(outputs[b]);
    }
    std::vector<Tensor> inputs = share_captures(traces_);
    inputs.insert(inputs.begin(), predicate_);
    const Tensors taken = apply_control("If", inputs,
                                        {{"Tout", types},
                                         {"then_branch", BodyRef(traces_[0]->graph_ref())},
                                         {"else_branch", BodyRef(traces_[1]->graph_ref())}});
    const Tensor* next = taken.data();
    for (size_t i = 0; i < changed.size(); ++i)
      replace(state_, i, results_[1].variables[i].tensors, changed[i], next);
  }

  static constexpr int kMostBranchings = 1 << 16;
  const Tensor predicate_;
  const State state_;
  std::optional<Nesting> nesting_;
  const Contents before_;
  const Copies start_;
  std::optional<Copies> first_;  // behind the first branch
  std::vector<Ref<Trace>> traces_;
  std::vector<Contents> results_;
  std::optional<TraceScope> scope_;
  bool done_ = false;
};

void EndIf::operator()(StagedIf* staged) const { delete staged; }
StagedIfPtr stage_if(const Tensor& predicate, const State& state) {
  return at_users_line([&] { return StagedIfPtr(new StagedIf(predicate, state)); });
}
bool next_branch(StagedIf& staged) {
  return at_users_line([&] { return staged.next(); });
}
bool then_branch(const StagedIf& staged) { return staged.then_branch(); }

}  // namespace rw::autograph::detail
