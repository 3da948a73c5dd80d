#include "rewind/function/autograph/loop.h"

#include "rewind/base/error.h"
#include "rewind/function/autograph/contents.h"
#include "rewind/function/autograph/options.h"
#include "rewind/function/loop_staging.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/random_seed.h"
#include "rewind/tensor/thread_state.h"

namespace rw::autograph {
namespace detail {

bool loops_are_staged() { return thread_state().trace != nullptr; }
bool is_batch(const Tensor& predicate) { return predicate.impl()->kind == TensorKind::kBatched; }

static thread_local StagedLoop* innermost = nullptr;

// Attempts. The first one takes all tensors and numbers of the state for loop variables. What the body leaves
// alone is none: the next attempt reads it from outside. What is set in the body first begins as zeros, whose
// types and shapes an attempt has shown. Where the condition assigns to the state, the loop is turned: the
// condition runs once before the loop and then at the end of the body, which hands its value on; so does the
// condition of a do loop, which begins with true. A loop whose condition the host can compute before every
// iteration is the host's.
class StagedLoop {
 public:
  StagedLoop(LoopKind kind, const State& state, Elements* elements)
      : kind_(kind),
        what_(kind == LoopKind::kFor       ? "for"
              : kind == LoopKind::kDoWhile ? "do"
                                           : "while"),
        state_(state),
        elements_(elements),
        nesting_(std::in_place, what_),
        original_(what_, state),
        start_(std::in_place, what_, state),
        chosen_(state.size),
        numbers_(state.size, 1),
        first_set_(state.size),
        first_shapes_(state.size),
        relaxed_(state.size),
        host_at_start_(state.size) {
    if (kind == LoopKind::kDoWhile) {
      more_ = constant(true);
      turned_ = true;
    }
  }
  ~StagedLoop() {
    leave();  // an exception leaves a graph
    if (!done_ && !host_) original_.restore();
  }

  bool open() {
    if (done_) return false;
    if (host_) return kind_ != LoopKind::kDoWhile || host_more_;
    if (turned_) {
      if (!loop_ && more_.defined()) begin_turned();  // a do loop
      return true;
    }
    begin();
    own_and_state(symbols_ = open_condition());
    if (elements_ && !elements_->asking_has_effects()) more_elements_ = elements_->more(own_);
    return true;
  }

  // Whether the body runs.
  bool close_condition(const Condition& c) {
    if (host_) return host_condition(c);
    if (turned_) return close_turned(c);
    if (!c.value.staged() && !elements_) return go_to_host(c.value.host());
    const Tensor more = elements_ ? more_elements(c.value) : tensor_of(c.value);
    by_numbers_ = c.by == Condition::kLocal && !elements_;
    assigns_ = !unchanged();
    behind_condition_.emplace(state_);
    condition_ = more;
    if (assigns_ && elements_) fail_invalid("for", "the condition must not assign to variables");
    if (assigns_) loop_->leave();
    else loop_->close_condition(more);
    open_body();
    return true;
  }
  void begin_body() {
    if (body_open_) return;
    loop_->close_condition(more_elements(true));
    open_body();
  }
  void close_body() {
    if (host_ || turned_) return;
    if (elements_) begin_body();
    close_rest();
    if (!assigns_) return finish_attempt(nullptr);
    if (by_numbers_ && host_decides(nullptr)) return go_to_host();
    give_up();  // this attempt only told that the condition assigns
    start_->restore();
    turned_ = true;
  }
  // Of a do loop.
  void close_body(FunctionRef<Condition()> condition) {
    const Condition c = condition();
    if (host_) host_more_ = host_condition(c);
    else close_turned(c);
  }
  // Goes on as a staged loop that runs while `more`.
  void stage_rest(const Tensor& more) {
    host_ = false;
    turned_ = true;
    more_ = more;
    start_.emplace(what_, state_);
    begin_turned();
  }

  void set_options(const LoopOptions& options) {
    if (options_known_) return;
    options_known_ = true;
    given_ = options;
    again_ = options.maximum_iterations.defined() || !options.shape_invariants.empty();
    if (!again_) loop_->set_parallel_iterations(options.parallel_iterations);
  }

 private:
  Access::Kind kind(size_t i) const { return state_.entries[i].access->kind; }
  static Tensor tensor_of(const Local<bool>& value) { return value.as<bool>(); }
  // In the graph of the condition: whether `wanted`, and there is an element.
  Tensor more_elements(const Local<bool>& wanted) {
    if (elements_->asking_has_effects())
      return tensor_of(and_(wanted, [&] { return elements_->more(own_); }));
    return wanted.is_true_on_host() ? more_elements_ : logical_and(more_elements_, tensor_of(wanted));
  }

  // ---- attempts

  void begin() {
    if (++attempts_ > kMostAttempts)
      fail_exhausted(what_, "tracing the body " + std::to_string(kMostAttempts) +
                                " times did not show what the loop carries: each time the body left its "
                                "variables in another structure or shape; set_loop_options tells a shape "
                                "that changes");
    if (!seeds_) seeds_.emplace();
    else seeds_->go_back();
    start_->restore();
    for (size_t i = 0; i < state_.size; ++i) {
      host_at_start_[i] = held_by(state_, i).tensors.empty();
      if (first_set_[i]) {
        first_set_[i]->restore();
        fill_with_zeros(what_, state_, i);
      }
      if (const Access& a = *state_.entries[i].access; a.promote && numbers_[i])
        a.promote(state_.addresses[i]);
    }
    before_.emplace(state_);
    for (size_t i = 0; i < state_.size; ++i)
      if (const size_t n = before_->variables[i].tensors.size(); chosen_[i].size() != n)
        chosen_[i].assign(n, 1);

    rw::detail::LoopState initial;
    std::vector<std::string> names;
    const auto add = [&](const Tensor& t, std::string name) {
      initial.tensors.push_back(t);
      initial.key.add_tensor(t);
      names.push_back(std::move(name));
    };
    if (elements_)
      for (const Tensor& t : elements_->initial()) add(t, "the place in the range");
    num_own_ = names.size();
    for_each_chosen(*before_,
                    [&](size_t i, size_t, const Tensor& t) { add(t, name_of_variable(state_, i)); });
    if (turned_) add(more_, "the condition");
    loop_.emplace(what_, initial, loop_options(initial), std::move(names));
    body_open_ = again_ = false;
    outer_ = std::exchange(innermost, this);
  }
  WhileLoopOptions loop_options(const rw::detail::LoopState& initial) const {
    WhileLoopOptions options;
    options.maximum_iterations = given_.maximum_iterations;
    options.parallel_iterations = given_.parallel_iterations;
    options.relax_shapes = elements_ && elements_->relaxes_shapes() && given_.shape_invariants.empty();
    bool any = !given_.shape_invariants.empty();
    for (size_t i = 0; i < state_.size; ++i) any |= first_set_[i].has_value() || !relaxed_[i].empty();
    if (!any) return options;
    for (const Tensor& t : initial.tensors) options.shape_invariants.push_back(t.shape());
    size_t at = num_own_;
    for_each_chosen(*before_, [&](size_t i, size_t k, const Tensor&) {
      if (first_set_[i]) options.shape_invariants[at] = first_shapes_[i][k];
      if (k < relaxed_[i].size() && relaxed_[i][k]) options.shape_invariants[at] = *relaxed_[i][k];
      for (const ShapeInvariant& v : given_.shape_invariants)
        if (v.variable == state_.addresses[i]) options.shape_invariants[at] = v.shape;
      ++at;
    });
    return options;
  }
  void leave() {
    rest_.reset();
    if (!loop_) return;
    loop_->leave();
    loop_.reset();
    innermost = outer_;
  }
  void give_up() {
    leave();
    seeds_->go_back();
  }
  std::vector<Tensor> open_condition() {
    std::vector<Tensor> symbols = loop_->open_condition();
    loop_->trace_of_condition().repeats = true;
    return symbols;
  }
  void open_body() {
    symbols_ = loop_->open_body();
    loop_->trace_of_body().repeats = true;
    if (turned_) symbols_.pop_back();
    own_and_state(symbols_);
    body_open_ = true;
    if (!elements_) return;
    elements_->take(own_);
    const Tensor always = elements_->always();
    if (!always.defined()) return;
    rest_ = stage_if(always, state_);
    next_branch(*rest_);
  }
  // The other branch changes nothing.
  void close_rest() {
    if (!rest_) return;
    next_branch(*rest_);
    next_branch(*rest_);
    rest_.reset();
  }
  // Puts the symbols of the open graph into the variables.
  void own_and_state(const std::vector<Tensor>& symbols) {
    own_.assign(symbols.begin(), symbols.begin() + int64_t(num_own_));
    const Tensor* next = symbols.data() + num_own_;
    for (size_t i = 0; i < chosen_.size(); ++i)
      replace(state_, i, before_->variables[i].tensors, chosen_[i], next);
  }

  // Of the tensors that are loop variables, in order.
  template <class F>
  void for_each_chosen(const Contents& contents, F f) const {
    for (size_t i = 0; i < chosen_.size(); ++i)
      for (size_t k = 0; k < chosen_[i].size(); ++k)
        if (chosen_[i][k]) f(i, k, contents.variables[i].tensors[k]);
  }
  bool unchanged() const {
    const Contents now(state_);
    for (size_t i = 0; i < chosen_.size(); ++i)
      if (now.variables[i].tensors.size() != before_->variables[i].tensors.size()) return false;
    bool same = true;
    size_t at = num_own_;
    for_each_chosen(now, [&](size_t, size_t, const Tensor& t) { same &= t.impl() == symbols_[at++].impl(); });
    return same;
  }

  // At the end of the body: the loop is done, goes on on the host, or needs another attempt. `more`: the
  // condition of a turned loop.
  void finish_attempt(const Tensor* more) {
    if (by_numbers_ && host_decides(more)) return go_to_host();
    for (size_t i = 0; i < state_.size; ++i)
      if (is_scratch(state_, i) && holds_nothing(before_->variables[i])) (*start_)[i].restore();
    if (note_changes()) return give_up();
    const Contents after(state_);
    check_structures(after);
    if (choose_less(after)) return give_up();
    BodyResult results;
    const auto add = [&](const Tensor& t) {
      results.tensors.push_back(t);
      results.key.add_tensor(t);
    };
    if (elements_)
      for (const Tensor& t : elements_->next()) add(t);
    for_each_chosen(after, [&](size_t, size_t, const Tensor& t) { add(t); });
    if (more) add(*more);
    if (!loop_->close_body(results)) {
      size_t at = num_own_;
      for_each_chosen(after, [&](size_t i, size_t k, const Tensor&) {
        relaxed_[i].resize(chosen_[i].size());
        relaxed_[i][k] = loop_->shapes()[at++];
      });
      return give_up();
    }
    finish(after);
  }
  // Makes tensors of numbers that the body left with the host. Whether there must be another attempt.
  bool note_changes() {
    bool again = again_;
    for (size_t i = 0; i < state_.size; ++i) {
      const Access& access = *state_.entries[i].access;
      if (access.kind == Access::kValue && !(*start_)[i].equal()) fail_changed(what_, state_, i);
      if (access.promote && numbers_[i]) access.promote(state_.addresses[i]);
      const BodyResult &was = before_->variables[i], is = held_by(state_, i);
      if (access.promote && !numbers_[i] && !(was.key == is.key)) {
        numbers_[i] = 1;
        again = true;
      }
      if (!holds_nothing(was) || holds_nothing(is)) continue;
      const bool runs = kind_ == LoopKind::kDoWhile;  // at least once
      if (access.kind != Access::kResult && !(access.kind == Access::kTensors && runs)) continue;
      if (is.tensors.empty())
        fail_invalid(what_, "the body of a staged loop returns a " + std::string(access.type) +
                                ", and the graph cannot say whether it did; return an rw::Tensor");
      first_set_[i].emplace(state_, i);
      for (const Tensor& t : is.tensors) first_shapes_[i].push_back(t.shape());
      again = true;
    }
    return again;
  }
  void check_structures(const Contents& after) const {
    for (size_t i = 0; i < chosen_.size(); ++i) {
      const BodyResult &was = before_->variables[i], &is = after.variables[i];
      const std::string before = structure_text(was.key), now = structure_text(is.key);
      if (before == now) continue;
      const std::string name = name_of_variable(state_, i);
      if (holds_nothing(was))
        fail_invalid(what_, name + " must have a value before the loop: the body may never run");
      if (was.tensors.empty() && is.tensors.empty()) fail_changed(what_, state_, i);
      fail_invalid(what_, "the body must leave " + name +
                              " in the structure that it has before the loop: it is (" + before +
                              ") before, and (" + now + ") after one iteration" +
                              (is.tensors.size() > was.tensors.size() && before.starts_with("a list")
                                   ? "; a list that grows in a staged loop must be an rw::TensorArray"
                                   : ""));
    }
  }
  // Whether there are fewer loop variables than was thought.
  bool choose_less(const Contents& after) {
    bool less = false;
    size_t at = num_own_;
    std::vector<std::vector<uint8_t>> chosen = chosen_;
    for_each_chosen(after, [&](size_t i, size_t k, const Tensor& t) {
      if (t.impl() != symbols_[at++].impl()) return;
      chosen[i][k] = 0;
      numbers_[i] = 0;
      less = true;
    });
    chosen_ = std::move(chosen);
    return less;
  }
  void finish(const Contents& after) {
    const TensorList behind = loop_->finish();
    const Tensor* next = behind.data() + num_own_;
    for (size_t i = 0; i < chosen_.size(); ++i) {
      TensorList whole = after.variables[i].tensors;
      for (size_t k = 0; k < whole.size(); ++k)
        if (!chosen_[i][k]) whole[k] = before_->variables[i].tensors[k];
      replace(state_, i, whole, chosen_[i], next);
    }
    leave();
    nesting_.reset();
    done_ = true;
  }

  // ---- turned loops

  void begin_turned() {
    begin();
    loop_->close_condition(open_condition().back());
    open_body();
  }
  bool close_turned(const Condition& c) {
    if (must_stage_ && !c.value.staged())
      fail_exhausted(what_, "more than " + std::to_string(kMostUnrolled) +
                                " iterations are unrolled: C++ alone decides how many there are; loop over "
                                "rw::range(n), or while a tensor's condition holds");
    const Tensor more = tensor_of(c.value);
    if (!more_.defined()) return stage_rest(more), true;  // before the loop
    by_numbers_ = kind_ == LoopKind::kDoWhile && c.by != Condition::kTensor && !must_stage_;
    host_more_ = c.value.is_true_on_host();
    finish_attempt(&more);
    if (host_) return true;  // the body runs once more, for the host
    if (!done_) begin_turned();
    return !done_;
  }

  // ---- loops of the host

  // From the graph of a condition, whose value is `value`.
  bool go_to_host(bool value) {
    if (!unchanged())
      fail_invalid(what_, "a condition of the host's must not assign to tensors; assign in the body");
    give_up();
    for (size_t i = 0; i < state_.size; ++i) {
      const Tensor* none = nullptr;
      if (kind(i) == Access::kNumber) (*start_)[i].restore();
      else replace(state_, i, before_->variables[i].tensors, std::vector<uint8_t>(chosen_[i].size()), none);
    }
    host_ = true;
    return value;
  }
  void go_to_host() {
    give_up();
    start_->restore();
    host_ = host_more_ = true;
  }
  // One of very many iterations, or without an end in a branch that is never taken, goes on as a loop of the
  // graph.
  bool host_condition(const Condition& c) {
    if (!c.value.staged()) {
      if (!c.value.host() || c.by != Condition::kLocal || ++host_iterations_ < kMostUnrolled)
        return c.value.host();
      must_stage_ = true;
    }
    by_numbers_ = false;
    numbers_.assign(state_.size, 1);
    for (auto& chosen : chosen_) chosen.clear();
    stage_rest(tensor_of(c.value));
    return true;
  }

  // Whether the host can compute the condition before every iteration: it depends on nothing but numbers that
  // the host has before the loop, nor does what the body makes of these.
  bool host_decides(const Tensor* more) const {
    Trace& condition = loop_->trace_of_condition();
    Trace& body = loop_->trace_of_body();
    std::vector<size_t> variables;  // by argument
    for_each_chosen(*before_, [&](size_t i, size_t, const Tensor&) { variables.push_back(i); });
    std::vector<uint8_t> reached(state_.size, 0);
    std::vector<size_t> left;
    const auto follow = [&](Trace& trace, ValueId from) {
      const Graph& g = trace.graph();
      std::vector<uint8_t> seen(g.num_values(), 0);
      for (std::vector<ValueId> stack{from}; !stack.empty();) {
        const ValueId v = stack.back();
        stack.pop_back();
        if (std::exchange(seen[size_t(v)], uint8_t(1))) continue;
        const GraphValue& value = g.value(v);
        if (value.node >= 0) {
          const Node& node = g.node(value.node);
          if (effects_of(*node.op, node.attrs).any()) return false;
          stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
          continue;
        }
        if (value.index >= int32_t(trace.num_arguments())) {
          if (!value.known->data) return false;
          continue;
        }
        if (size_t(value.index) >= variables.size() || trace.num_arguments() > variables.size() + turned_)
          return false;
        const size_t i = variables[size_t(value.index)];
        if (kind(i) != Access::kNumber || !host_at_start_[i]) return false;
        if (!std::exchange(reached[i], uint8_t(1))) left.push_back(i);
      }
      return true;
    };
    const auto follow_tensor = [&](const Tensor& t) {
      if (!is_symbol(t)) return t.impl()->kind == TensorKind::kEager;
      const auto& symbol = static_cast<const SymbolImpl&>(*t.impl());
      Trace* const made_in = symbol.trace.get();
      return (made_in == &body || (!more && made_in == &condition)) && follow(*made_in, symbol.value);
    };
    const auto follow_all = [&](const BodyResult& held) {
      return std::all_of(held.tensors.begin(), held.tensors.end(), follow_tensor);
    };
    if (!follow_tensor(more ? *more : condition_)) return false;
    while (!left.empty()) {
      const size_t i = left.back();
      left.pop_back();
      if (!follow_all(held_by(state_, i))) return false;
      if (!more && !follow_all(behind_condition_->variables[i])) return false;
    }
    return true;
  }

  static constexpr int kMostAttempts = 1000, kMostUnrolled = 10000;
  const LoopKind kind_;
  const char* const what_;
  const State state_;
  Elements* const elements_;
  std::optional<Nesting> nesting_;
  const Copies original_;
  std::optional<Copies> start_;                   // before the first iteration of the staged loop
  std::optional<Contents> before_;                // at the start of the attempt
  std::vector<std::vector<uint8_t>> chosen_;      // by variable and tensor: whether it is a loop variable
  std::vector<uint8_t> numbers_;                  // by variable: a number becomes a tensor
  std::vector<std::optional<Copy>> first_set_;    // by variable: what the body sets first
  std::vector<std::vector<Shape>> first_shapes_;  // of its tensors
  std::vector<std::vector<std::optional<Shape>>> relaxed_;  // of its tensors: what an attempt left of them
  std::vector<uint8_t> host_at_start_;                      // by variable: a number that the host has
  std::vector<Tensor> symbols_, own_;         // what stands for the loop variables in the open graph
  size_t num_own_ = 0;                        // loop variables of the range
  Tensor more_elements_;                      // in the graph of the condition
  Tensor condition_;                          // its value, in its graph
  std::optional<Contents> behind_condition_;  // in the graph of the condition
  Tensor more_;                               // of a turned loop, before it
  std::optional<SeedMark> seeds_;
  std::optional<LoopStaging> loop_;
  StagedIfPtr rest_;  // the body behind an element whose sizes are not known
  StagedLoop* outer_ = nullptr;
  LoopOptions given_;
  bool options_known_ = false, again_ = false;  // options came: another attempt takes them
  int attempts_ = 0, host_iterations_ = 0;
  bool must_stage_ = false;  // a loop that the host could decide is staged all the same
  bool body_open_ = false;
  bool by_numbers_ = false;  // the condition may be the host's
  bool assigns_ = false, turned_ = false, done_ = false;
  bool host_ = false, host_more_ = true;
};

void EndLoop::operator()(StagedLoop* staged) const { delete staged; }
StagedLoopPtr stage_loop(LoopKind kind, const State& state, Elements* elements) {
  return at_users_line([&] { return StagedLoopPtr(new StagedLoop(kind, state, elements)); });
}
StagedLoopPtr stage_rest(const State& state, const Local<bool>& more) {
  StagedLoopPtr loop = stage_loop(LoopKind::kWhile, state);
  at_users_line([&] { loop->stage_rest(more.tensor()); });
  return loop;
}
bool open_loop(StagedLoop& staged) {
  return at_users_line([&] { return staged.open(); });
}
bool close_condition(StagedLoop& staged, const Condition& condition) {
  return at_users_line([&] { return staged.close_condition(condition); });
}
void begin_body(StagedLoop& staged) {
  at_users_line([&] { staged.begin_body(); });
}
void close_body(StagedLoop& staged, FunctionRef<Condition()> condition) {
  at_users_line([&] { staged.close_body(condition); });
}
void close_body(StagedLoop& staged) {
  at_users_line([&] { staged.close_body(); });
}

void set_innermost_options(const LoopOptions& options) {
  if (innermost) innermost->set_options(options);
}

}  // namespace detail

void set_loop_options(const LoopOptions& options) { detail::set_innermost_options(options); }

}  // namespace rw::autograph
