#include "benchmarks/budget.h"

#include <cstdio>

namespace bench {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kCompared = 3;

struct Measured {
  std::vector<float> losses;
  int64_t peak = 0;
};

Measured first_steps(const BudgetSession& s) {
  Measured m;
  reset_peak();
  for (int i = 0; i < kCompared; ++i) m.losses.push_back(s.step());
  m.peak = rw::memory::stats().peak;
  return m;
}

double time_of(const BudgetSession& s) {
  const double start = now_us();
  s.step();
  return now_us() - start;
}

double median(std::vector<double> list) {
  std::nth_element(list.begin(), list.begin() + int64_t(list.size() / 2), list.end());
  return list[list.size() / 2];
}

// The steps of a budget alone in their process: what is resident beside what is accounted for.
void run_alone(const std::string& work, const MakeSession& make, const std::string& part) {
  const auto colon = part.find(':');
  rw::random::set_seed(1);
  const BudgetSession session = make(rw::memory::stats().current + std::stoll(part.substr(colon + 1)));
  const Measured run = first_steps(session);
  say(work, "rewind", part.substr(0, colon) + " alone", {{"peak_MiB", double(run.peak) / kMiB}});
}

}  // namespace

void run_in_budgets(const std::string& work, const MakeSession& make, const std::vector<int>& percents,
                    int repeats) {
  if (asked_part()) return run_alone(work, make, asked_part());
  const int64_t held = rw::memory::stats().current;
  rw::random::set_seed(1);
  const BudgetSession free_session = make(0);
  const Measured free_run = first_steps(free_session);
  const int64_t state = 4 * free_session.parameter_bytes;  // with two moments and gradients
  const int64_t base = free_run.peak - held - state;
  // The free session stays, but not its arena, which planning takes back.
  for (const int percent : percents) {
    rw::random::set_seed(1);
    (void)free_session.plan();
    rw::memory::trim();
    const int64_t others = rw::memory::stats().current;
    const int64_t budget = others + state + base * percent / 100;
    try {
      rw::random::set_seed(1);
      const BudgetSession session = make(budget);
      const double start = now_us();
      const rw::MemoryReport plan = session.plan();
      const double plan_s = (now_us() - start) / 1e6;
      const Measured run = first_steps(session);
      std::vector<double> ratios, times;
      free_session.step();
      for (int i = 0; i < repeats; ++i) {
        const double free_us = time_of(free_session);
        times.push_back(time_of(session));
        ratios.push_back(times.back() / free_us);
      }
      const std::string variant = "budget_" + std::to_string(percent);
      say(work, "rewind", variant,
          {{"ms", median(times) / 1e3},
           {"extra_percent", 100 * (median(ratios) - 1)},
           {"base_MiB", double(base) / kMiB},
           {"budget_MiB", double(budget - others) / kMiB},
           {"peak_MiB", double(run.peak - others) / kMiB},
           {"predicted_MiB", double(plan.predicted_peak - others) / kMiB},
           {"planned_extra_percent", 100 * plan.extra_compute},
           {"plan_s", plan_s},
           {"kept", run.peak <= budget ? 1.0 : 0.0},
           {"bit_equal", run.losses == free_run.losses ? 1.0 : 0.0}});
      run_part(work, variant + ":" + std::to_string(budget - others));
    } catch (const rw::ResourceExhaustedError& e) {
      fprintf(stderr, "%s at %d%%: %s\n", work.c_str(), percent, e.what());
    }
  }
}

}  // namespace bench
