#include "rewind/function/autograph.h"

#include <vector>

#include "rewind/base/error.h"
#include "rewind/function/loop_staging.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/thread_state.h"

namespace rw::autograph::detail {

// What the variables hold: their tensors, and a structure each.
struct Contents {
  std::vector<BodyResult> variables;

  explicit Contents(const State& state) : variables(state.size()) {
    for (size_t i = 0; i < variables.size(); ++i) {
      NestWriter writer = variables[i].writer();
      state.write(i, writer);
    }
  }
};

// The name of variable i in "x, total".
static std::string name_of_variable(std::string_view names, size_t i) {
  for (size_t n = 0; n < i && !names.empty(); ++n) {
    const size_t comma = names.find(", ");
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 2);
  }
  names = names.substr(0, names.find(", "));
  return names.empty() ? "variable " + std::to_string(i) : "\"" + std::string(names) + "\"";
}

// Replaces tensors of the variables, as many as are marked, by those of a list in order.
class Replacing {
 public:
  Replacing(State& state, std::span<const Tensor> tensors) : state_(state), next_(tensors.data()) {}
  void variable(size_t i, const TensorList& now, const std::vector<uint8_t>& marked) {
    TensorList all = now;
    for (size_t k = 0; k < all.size(); ++k)
      if (marked[k]) all[k] = *next_++;
    NestReader reader{all.data()};
    state_.read(i, reader);
  }

 private:
  State& state_;
  const Tensor* next_;
};

bool is_staged(const Tensor& predicate) { return !value_is_known(predicate); }

// In a batch the elements end at different steps.
bool loops_are_staged(const State& state) {
  if (rw::detail::tracing()) return true;
  if (thread_state().depth == 0) return false;
  for (const BodyResult& v : Contents(state).variables)
    for (const Tensor& t : v.tensors)
      if (rw::detail::is_batch(t)) return true;
  return false;
}

// Branches are left open until both are known: what neither changes is no result.
class StagedIf {
 public:
  StagedIf(Tensor predicate, State& state, std::string_view names)
      : predicate_(std::move(predicate)), state_(state), names_(names), before_(state) {
    const int64_t n = predicate_.shape().fully_known() ? predicate_.shape().num_elements() : 1;
    if (n != 1)
      fail_invalid("if", "the condition must be one value: got shape " + predicate_.shape().to_string());
    state_.save();
  }
  ~StagedIf() {
    if (done_) return;
    scope_.reset();  // an exception leaves a branch
    state_.restore();
  }

  bool next() {
    if (scope_) {
      results_.emplace_back(state_);
      scope_.reset();
    }
    if (results_.size() == 2) {
      finish();
      done_ = true;
      return false;
    }
    if (!results_.empty()) state_.restore();
    traces_.push_back(new_body("if_branch" + std::to_string(results_.size())));
    scope_.emplace(*traces_.back());
    return true;
  }
  bool then_branch() const { return results_.empty(); }

 private:
  void check_same(size_t i, const BodyResult& a, const BodyResult& b) const {
    const std::string name = name_of_variable(names_, i);
    const std::string x = structure_text(a.key), y = structure_text(b.key);
    if (x != y) {
      const bool unset = x == "nothing" || y == "nothing";
      fail_invalid("if", unset
                             ? name + " is set in one branch only, and the other leaves it without a value"
                             : "both branches must leave " + name + " in one structure: the first leaves (" +
                                   x + "), the second (" + y + ")");
    }
    for (size_t k = 0; k < a.tensors.size(); ++k)
      if (a.tensors[k].dtype() != b.tensors[k].dtype())
        fail_invalid("if", "both branches must leave " + name + " with one dtype: it is " +
                               std::string(name_of(a.tensors[k].dtype())) + " after the first and " +
                               std::string(name_of(b.tensors[k].dtype())) +
                               " after the second; rw::cast converts");
  }

  void finish() {
    std::vector<Tensor> outputs[2];
    std::vector<std::vector<uint8_t>> changed;
    for (size_t i = 0; i < before_.variables.size(); ++i) {
      const BodyResult &a = results_[0].variables[i], &b = results_[1].variables[i];
      check_same(i, a, b);
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
    Replacing replacing(state_, {taken.data(), taken.size()});
    for (size_t i = 0; i < changed.size(); ++i)
      replacing.variable(i, results_[1].variables[i].tensors, changed[i]);
  }

  const Tensor predicate_;
  State& state_;
  const std::string_view names_;
  const Contents before_;
  std::vector<Ref<Trace>> traces_;
  std::vector<Contents> results_;
  std::optional<TraceScope> scope_;
  bool done_ = false;
};

void EndIf::operator()(StagedIf* staged) const { delete staged; }
StagedIfPtr stage_if(const Tensor& predicate, State& state, std::string_view names) {
  return StagedIfPtr(new StagedIf(predicate, state, names));
}
bool next_branch(StagedIf& staged) { return staged.next(); }
bool then_branch(const StagedIf& staged) { return staged.then_branch(); }

// The first attempt takes all of the state for loop variables. Those that the body leaves alone are none: the
// second attempt reads them from outside. Where the condition assigns to the state, the loop is turned: the
// condition runs once before the loop and then at the end of the body, which hands its value on.
class StagedWhile {
 public:
  StagedWhile(State& state, const WhileLoopOptions& options, std::string_view names)
      : state_(state), options_(options), names_(names), before_(state) {
    state_.save();
    for (const BodyResult& v : before_.variables) chosen_.emplace_back(v.tensors.size(), uint8_t(1));
  }
  ~StagedWhile() {
    if (done_) return;
    if (loop_) loop_->leave();  // an exception leaves a graph
    state_.restore();
  }

  bool open() {
    if (done_) return false;
    if (turned_) return true;  // before the loop, and behind the body
    state_.restore();
    begin();
    place(symbols_ = loop_->open_condition());
    return true;
  }
  // Whether the body runs.
  bool close_condition(const Tensor& condition) {
    if (turned_) return close_turned(condition);
    assigns_ = !unchanged(symbols_);
    if (assigns_) loop_->leave();
    else loop_->close_condition(condition);
    place(symbols_ = loop_->open_body());
    return true;
  }
  void close_body() {
    if (turned_) return;
    if (assigns_) {  // this attempt only told so
      loop_->leave();
      state_.restore();
      turned_ = true;
      return;
    }
    const Contents after(state_);
    if (choose_less(after)) return loop_->leave();
    if (loop_->close_body(results(after))) finish(after);
  }

 private:
  bool close_turned(const Tensor& condition) {
    const Tensor more = reshape(cast(condition, DType::kBool), {});
    if (!more_.defined()) {  // before the loop
      more_ = more;
      before_ = Contents(state_);
      open_turned();
      return true;
    }
    const Contents after(state_);
    BodyResult all = results(after);
    all.tensors.push_back(more);
    all.key.add_tensor(more);
    if (choose_less(after)) loop_->leave();
    else if (loop_->close_body(all)) return finish(after), false;
    open_turned();
    return true;
  }
  void open_turned() {
    begin();
    loop_->close_condition(loop_->open_condition().back());
    symbols_ = loop_->open_body();
    symbols_.pop_back();
    place(symbols_);
  }

  // Of the tensors that are loop variables, in order.
  template <class F>
  void for_each_chosen(const Contents& contents, F f) const {
    for (size_t i = 0; i < chosen_.size(); ++i)
      for (size_t k = 0; k < chosen_[i].size(); ++k)
        if (chosen_[i][k]) f(i, k, contents.variables[i].tensors[k]);
  }
  void begin() {
    rw::detail::LoopState initial;
    std::vector<std::string> names;
    for_each_chosen(before_, [&](size_t i, size_t, const Tensor& t) {
      initial.tensors.push_back(t);
      initial.key.add_tensor(t);
      names.push_back(name_of_variable(names_, i));
    });
    if (turned_) {
      initial.tensors.push_back(more_);
      initial.key.add_tensor(more_);
      names.emplace_back("the condition");
    }
    loop_.emplace("while", std::move(initial), options_, std::move(names));
  }
  void place(const std::vector<Tensor>& tensors) {
    Replacing replacing(state_, tensors);
    for (size_t i = 0; i < chosen_.size(); ++i)
      replacing.variable(i, before_.variables[i].tensors, chosen_[i]);
  }
  bool unchanged(const std::vector<Tensor>& symbols) const {
    const Contents now(state_);
    bool same = true;
    size_t at = 0;
    for (size_t i = 0; i < chosen_.size(); ++i)
      same = same && now.variables[i].tensors.size() == before_.variables[i].tensors.size();
    if (same)
      for_each_chosen(now,
                      [&](size_t, size_t, const Tensor& t) { same &= t.impl() == symbols[at++].impl(); });
    return same;
  }
  void check_structures(const Contents& after) const {
    for (size_t i = 0; i < chosen_.size(); ++i) {
      const std::string was = structure_text(before_.variables[i].key);
      const std::string is = structure_text(after.variables[i].key);
      if (was == is) continue;
      fail_invalid("while", was == "nothing"
                                ? name_of_variable(names_, i) +
                                      " must have a value before the loop: the body may never run"
                                : "the body must leave " + name_of_variable(names_, i) +
                                      " in the structure that it has before the loop: it is (" + was +
                                      ") before, and (" + is + ") after one iteration");
    }
  }
  // Whether there are fewer loop variables than was thought.
  bool choose_less(const Contents& after) {
    check_structures(after);
    bool less = false;
    size_t at = 0;
    std::vector<std::vector<uint8_t>> chosen = chosen_;
    for_each_chosen(after, [&](size_t i, size_t k, const Tensor& t) {
      if (t.impl() != symbols_[at++].impl()) return;
      chosen[i][k] = 0;
      less = true;
    });
    chosen_ = std::move(chosen);
    return less;
  }
  BodyResult results(const Contents& after) const {
    BodyResult results;
    for_each_chosen(after, [&](size_t, size_t, const Tensor& t) {
      results.tensors.push_back(t);
      results.key.add_tensor(t);
    });
    return results;
  }
  void finish(const Contents& after) {
    const TensorList behind = loop_->finish();
    Replacing replacing(state_, {behind.data(), behind.size()});
    for (size_t i = 0; i < chosen_.size(); ++i) {
      TensorList whole = after.variables[i].tensors;
      for (size_t k = 0; k < whole.size(); ++k)
        if (!chosen_[i][k]) whole[k] = before_.variables[i].tensors[k];
      replacing.variable(i, whole, chosen_[i]);
    }
    done_ = true;
  }

  State& state_;
  const WhileLoopOptions options_;
  const std::string_view names_;
  Contents before_;
  std::vector<std::vector<uint8_t>> chosen_;  // by variable and tensor: whether it is a loop variable
  std::vector<Tensor> symbols_;               // what stands for the loop variables in the open graph
  std::optional<LoopStaging> loop_;
  Tensor more_;
  bool assigns_ = false, turned_ = false, done_ = false;
};

void EndWhile::operator()(StagedWhile* staged) const { delete staged; }
StagedWhilePtr stage_while(State& state, const WhileLoopOptions& options, std::string_view names) {
  return StagedWhilePtr(new StagedWhile(state, options, names));
}
bool open_loop(StagedWhile& staged) { return staged.open(); }
bool close_condition(StagedWhile& staged, const Tensor& condition) {
  return staged.close_condition(condition);
}
void close_body(StagedWhile& staged) { staged.close_body(); }

}  // namespace rw::autograph::detail
