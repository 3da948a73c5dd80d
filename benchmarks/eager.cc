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

void eager_add_taped() {
  const rw::Tensor a = rw::constant({1.f, 1.f, 1.f, 1.f});
  const rw::Tensor b = rw::constant({1.f, 1.f, 1.f, 1.f});
  constexpr int kOps = 20000;
  std::vector<double> forward, backward;
  for (int repeat = 0; repeat < 11; ++repeat) {
    rw::GradientTape tape;
    tape.watch(a);
    const double start = now_us();
    rw::Tensor c = a;
    for (int i = 0; i < kOps; ++i) c = rw::add(c, b);
    const double middle = now_us();
    const rw::Tensor g = tape.gradient(rw::reduce_sum(c), a);
    forward.push_back((middle - start) / kOps);
    backward.push_back((now_us() - middle) / kOps);
  }
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  say("eager_add_taped", "rewind", "", {{"fwd_us", forward[5]}, {"bwd_us", backward[5]}});
}

}  // namespace

std::vector<Workload> eager_workloads() {
  return {{"eager_add", eager_add}, {"eager_add_taped", eager_add_taped}};
}

}  // namespace bench
