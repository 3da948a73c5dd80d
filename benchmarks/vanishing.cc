// A gradient that vanishes: 200 steps of an LSTM whose loss hears of the last one alone. After some hundred
// steps back the gradients are denormals, which some processors compute a hundred times slower unless they
// are flushed.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::Tensor;

struct Lstm {
  static constexpr int64_t kSteps = 200, kBatch = 32, kUnits = 256, kClasses = 16;
  rw::Variable input{rw::random::normal({kUnits, 4 * kUnits}, {.stddev = 0.05})};
  rw::Variable state{rw::random::normal({kUnits, 4 * kUnits}, {.stddev = 0.05})};
  rw::Variable bias{rw::zeros({4 * kUnits})};
  rw::Variable out{rw::random::normal({kUnits, kClasses}, {.stddev = 0.05})};

  // x: (steps, batch, units)
  std::vector<Tensor> gradients(const Tensor& x, const Tensor& y) const {
    rw::GradientTape tape;
    Tensor h = rw::zeros({kBatch, kUnits});
    Tensor c = h;
    for (int64_t t = 0; t < kSteps; ++t) {
      const std::vector<Tensor> gates =
          rw::split(rw::matmul(x[t], input) + rw::matmul(h, state) + bias, 4, 1);
      c = rw::sigmoid(gates[1]) * c + rw::sigmoid(gates[0]) * rw::tanh(gates[2]);
      h = rw::sigmoid(gates[3]) * rw::tanh(c);
    }
    const Tensor loss =
        rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(y, rw::matmul(h, out)));
    std::vector<Tensor> list{loss};
    for (const rw::Gradient& g : tape.gradient(loss, std::vector<rw::Variable>{input, state, bias, out}))
      list.push_back(g.tensor());
    return list;
  }
};

void lstm_vanishing() {
  constexpr int kRounds = 15;
  const Lstm lstm;
  const Tensor x = rw::random::normal({Lstm::kSteps, Lstm::kBatch, Lstm::kUnits});
  const Tensor y =
      rw::random::uniform({Lstm::kBatch}, {.maxval = double(Lstm::kClasses), .dtype = rw::int64});
  const auto step = rw::function([&](Tensor x, Tensor y) { return lstm.gradients(x, y); });
  std::vector<double> ms[2];  // with denormals, flushed; by turns
  for (int round = 0; round < 2 * (kRounds + 1); ++round) {
    const int flush = round % 2;
    rw::config::set_flush_denormals(flush != 0);
    const double start = now_us();
    step(x, y)[0].item<float>();
    if (round >= 2) ms[flush].push_back((now_us() - start) / 1e3);  // the first ones trace and compile
  }
  rw::config::set_flush_denormals(true);
  for (auto& list : ms) std::sort(list.begin(), list.end());
  const double with = ms[0][kRounds / 2], flushed = ms[1][kRounds / 2];
  say("lstm_vanishing", "rewind", "",
      {{"ms", flushed}, {"with_denormals_ms", with}, {"with_denormals_over_flushed", with / flushed}});
}

}  // namespace

std::vector<Workload> vanishing_workloads() { return {{"lstm_vanishing", lstm_vanishing}}; }

}  // namespace bench
