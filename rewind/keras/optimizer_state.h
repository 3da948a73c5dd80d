// What an Optimizer handle points to: its variables, and the steps around the rule. For the library's own
// files.
#pragma once

#include <atomic>
#include <map>
#include <unordered_map>

#include "rewind/keras/optimizer.h"

namespace rw::keras {

inline constexpr const char* kNoGradient =
    "no variable has a gradient: the target must depend on them, and gradient() must be asked for the "
    "variables themselves; a std::vector<Tensor> of variables holds their values, on which nothing depends";

class Optimizer::State : public std::enable_shared_from_this<Optimizer::State> {
 public:
  State(std::shared_ptr<UpdateRule> rule, const OptimizerOptions& options);
  virtual ~State() = default;

  const std::string& name() const { return name_; }
  // The options that every optimizer has, as they are.
  virtual void write_common_options(ConfigFields& f) const;
  bool built() const { return built_; }
  const std::vector<Variable>& trained() const { return trained_; }
  virtual void build(const std::vector<Variable>& variables);
  virtual void apply(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);
  virtual Tensor iterations() const;
  virtual const Variable& counter() const { return counter_; }
  virtual Tensor learning_rate() const;
  virtual void set_learning_rate(const Operand& value);
  virtual Tensor scale_loss(const Tensor& loss) const;
  virtual bool adapts_loss_scale() const { return false; }
  // Of an optimizer inside another that scales.
  void set_no_loss_scale() { options_.loss_scale_factor.reset(); }
  // That of an optimizer around another.
  virtual const Optimizer* inner() const { return nullptr; }
  virtual bool keeps_averages() const { return options_.use_ema; }
  virtual void write_averages(const std::vector<Variable>& variables);
  virtual std::vector<OwnVariable> own_variables() const { return own_; }
  // By Keras' attributes (training_trackable.cc).
  virtual std::vector<TrackableChild> tracked_children() const;
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names);

 protected:
  // Checkpoints that were restored before give new slots their values.
  void tell_new_children();
  Variable add_variable(const Tensor& initial, const std::string& name);

 private:
  struct Trained {
    std::vector<Variable> slots;
    Variable average, accumulator;
    bool decays = true;
  };
  void check_options() const;
  Variable add_slot(const Variable& reference, const Slot& slot);
  Trained& of(const Variable& variable);
  void update(std::vector<Gradient> gradients, const std::vector<Variable>& variables);
  void accumulate_or_update(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables);
  std::vector<Gradient> clipped(const std::vector<Gradient>& gradients) const;
  void decay_weights(const std::vector<Variable>& variables);
  void move_averages();
  bool decays(const Variable& variable) const;
  void warn_of_missing(const std::vector<std::string>& names);

  std::shared_ptr<UpdateRule> rule_;
  OptimizerOptions options_;
  std::string name_;
  Variable counter_;
  Variable rate_;  // undefined when a schedule decides
  std::optional<LearningRateSchedule> schedule_;
  std::vector<Variable> trained_;
  std::unordered_map<const void*, Trained> by_id_;
  std::vector<OwnVariable> own_;
  std::vector<Variable> not_decayed_;
  std::vector<std::string> not_decayed_names_;
  std::atomic<bool> built_{false};
  bool warned_ = false;
};

// f on the values of a gradient, dense or sparse.
template <class F>
Gradient map_values(const Gradient& g, F f) {
  if (const IndexedSlices* s = g.slices()) return IndexedSlices{f(s->values), s->indices, s->dense_shape};
  return f(g.tensor());
}

}  // namespace rw::keras
