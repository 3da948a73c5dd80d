// Training steps inside shares of the memory that they take when it is free.
#pragma once

#include <memory>

#include "benchmarks/training.h"

namespace bench {

// A model with its optimizer and data, and one step of training that gives the loss.
struct BudgetSession {
  std::function<float()> step;
  std::function<rw::MemoryReport()> plan;
  int64_t parameter_bytes = 0;
  std::shared_ptr<void> model;  // what the functions use
};
// The same session each time, from the same seed, inside a budget in bytes (0: none).
using MakeSession = std::function<BudgetSession(int64_t budget)>;

// For each share: says extra_percent (the median over steps that alternate with steps of the free run, so
// that a machine's good and bad minutes meet both), the budget, the measured and the predicted peak, and
// whether the budget was kept and losses are bit-equal. Budgets are parameters, optimizer state and weight
// gradients, and the share of what else the free run takes.
void run_in_budgets(const std::string& work, const MakeSession& make, const std::vector<int>& percents,
                    int repeats = 9);

// What a function of these inputs needs for a session.
template <class Model, class Make>
BudgetSession session_of(std::shared_ptr<Model> model, int64_t budget, Make inputs) {
  auto [x, y] = inputs;
  const auto step = rw::function([m = model.get()](rw::Tensor a, rw::Tensor b) { return m->train(a, b); },
                                 {.memory_budget = budget});
  BudgetSession s;
  s.model = model;
  s.parameter_bytes = model->adam.parameter_bytes();
  s.step = [step, x = x, y = y] { return step(x, y).template item<float>(); };
  s.plan = [step, x = x, y = y] { return step.memory_plan(x, y); };
  return s;
}

}  // namespace bench
