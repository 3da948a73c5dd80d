#include "rewind/keras/resume.h"

#include "rewind/base/error.h"

namespace rw::keras {

void fail_position(const std::string& what) {
  fail_invalid("fit", "resume_from does not fit this training: " + what +
                          "; a position is resumed with the data and the options of the fit that it is from");
}

void check_position(const TrainingPosition& at, const FitOptions& options, int64_t steps) {
  if (at.epoch < 0 || at.epoch > options.epochs)
    fail_position("its epoch must lie in [0, " + std::to_string(options.epochs) + "], got " +
                  std::to_string(at.epoch));
  if (at.step < 0) fail_position("its step must not be negative, got " + std::to_string(at.step));
  if (steps > 0 && at.step > steps)
    fail_position("epochs have " + std::to_string(steps) + " steps, and it is behind step " +
                  std::to_string(at.step) + " of one");
  if (at.step > 0 && at.epoch == options.epochs)
    fail_position("it is behind step " + std::to_string(at.step) + " of epoch " + std::to_string(at.epoch) +
                  ", and there are " + std::to_string(options.epochs) + " epochs");
  if (at.step > 0 && at.data.empty())
    fail_position("it is behind step " + std::to_string(at.step) +
                  " of an epoch, and does not say where the data stood");
}

void restore_weights(const TrainingPosition& at, const std::vector<Variable>& weights) {
  if (at.weights.empty()) return;
  bool fits = at.weights.size() == weights.size();
  for (size_t i = 0; fits && i < weights.size(); ++i)
    fits = at.weights[i].dtype() == weights[i].dtype() && at.weights[i].shape() == weights[i].shape();
  if (!fits)
    fail_invalid("fit", "the position in resume_from has " + std::to_string(at.weights.size()) +
                            " weights of another model: this one trains " + std::to_string(weights.size()));
  for (size_t i = 0; i < weights.size(); ++i) weights[i].assign(at.weights[i]);
}

}  // namespace rw::keras
