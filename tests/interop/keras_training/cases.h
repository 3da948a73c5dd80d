// Training parts of Keras, whose results check_keras_training.py compares with the real ones. A row is a name
// and what it computes; check_keras_training.py has the same rows. One line a case: its name, then the
// numbers. Data are the same waves on both sides.
#pragma once

#include <functional>
#include <string>

#include "rewind/rewind.h"

namespace rw::interop {

Tensor wave(const Shape& shape, int number, double scale = 0.5);
Tensor shares(const Shape& shape, int number);  // in (0, 1)
Tensor rows(const Shape& shape, int number);    // shares that add up to 1 along the last axis
Tensor ids(const Shape& shape, int limit, int number = 0);
Tensor hot(const Shape& shape, int classes, int number = 0);

// Prints a case, if its name contains the word that was asked for.
void run(const std::string& name, const std::function<std::vector<Tensor>()>& compute);

void run_losses();
void run_metrics();
void run_optimizers();
void run_schedules();
void run_initializers();
void run_activations();

}  // namespace rw::interop
