// The cost around a kernel: additions of four floats, with and without a tape.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

void eager_add() {
  const rw::Tensor a = rw::constant({1.f, 1.f, 1.f, 1.f});
  const rw::Tensor b = rw::constant({1.f, 1.f, 1.f, 1.f});
  constexpr int kOps = 100000;
  const double us = median_us(2, 10, [&] {
    rw::Tensor c = a;
    for (int i = 0; i < kOps; ++i) c = rw::add(c, b);
  });
  say("eager_add", "rewind", "", {{"us_per_op", us / kOps}});
}

struct SumTimes {
  double forward, backward;  // us an op
};

// a + b + b + ... under a tape, and its gradient.
SumTimes taped_sums(const rw::Tensor& a, const rw::Tensor& b, int ops) {
  rw::GradientTape tape;
  tape.watch(a);
  const double start = now_us();
  rw::Tensor c = a;
  for (int i = 0; i < ops; ++i) c = rw::add(c, b);
  const double middle = now_us();
  const rw::Tensor g = tape.gradient(rw::reduce_sum(c), a);
  return {(middle - start) / ops, (now_us() - middle) / ops};
}

void eager_add_taped() {
  const rw::Tensor a = rw::constant({1.f, 1.f, 1.f, 1.f});
  const rw::Tensor b = rw::constant({1.f, 1.f, 1.f, 1.f});
  constexpr int kOps = 20000;
  std::vector<double> forward, backward;
  for (int repeat = 0; repeat < 11; ++repeat) {
    const SumTimes t = taped_sums(a, b, kOps);
    forward.push_back(t.forward);
    backward.push_back(t.backward);
  }
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  say("eager_add_taped", "rewind", "", {{"fwd_us", forward[5]}, {"bwd_us", backward[5]}});
}

// What a budget costs where nothing needs dropping: the same sums under a tape without one and with one, by
// turns. 4,160 floats are just large enough to be written down.
void eager_add_budget() {
  const rw::Tensor a = rw::ones({4160});
  const rw::Tensor b = rw::ones({4160});
  constexpr int kOps = 5000;
  std::vector<double> forward[2], backward[2];
  for (int repeat = 0; repeat < 42; ++repeat) {
    const int way = repeat % 2;
    rw::memory::set_budget("CPU:0", way == 0 ? 0 : int64_t{1} << 30);
    const SumTimes t = taped_sums(a, b, kOps);
    forward[way].push_back(t.forward);
    backward[way].push_back(t.backward);
  }
  rw::memory::set_budget("CPU:0", 0);
  for (int way = 0; way < 2; ++way) {
    std::sort(forward[way].begin(), forward[way].end());
    std::sort(backward[way].begin(), backward[way].end());
  }
  const size_t middle = forward[0].size() / 2;
  say("eager_add_budget", "rewind", "",
      {{"fwd_us", forward[1][middle]},
       {"bwd_us", backward[1][middle]},
       {"more_fwd_us", forward[1][middle] - forward[0][middle]},
       {"more_bwd_us", backward[1][middle] - backward[0][middle]}});
}

}  // namespace

std::vector<Workload> eager_workloads() {
  return {
      {"eager_add", eager_add}, {"eager_add_taped", eager_add_taped}, {"eager_add_budget", eager_add_budget}};
}

}  // namespace bench
