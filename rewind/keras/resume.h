// What FitOptions::resume_from must be before a training believes it.
#pragma once

#include "rewind/keras/training.h"

namespace rw::keras {

// Checks epoch and step against the training that `options` describe, whose epochs have `steps` steps (-1:
// unknown). The pass over the data checks its own part (BatchSource::start_at), the metrics theirs. Throws
// InvalidArgumentError.
void check_position(const TrainingPosition& at, const FitOptions& options, int64_t steps);

// Puts back the weights that moving averages were written over.
void restore_weights(const TrainingPosition& at, const std::vector<Variable>& weights);

[[noreturn]] void fail_position(const std::string& what);

}  // namespace rw::keras
