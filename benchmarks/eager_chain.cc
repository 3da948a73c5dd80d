// A chain of 40,000 layers in eager mode: recomputed by marking its blocks, and by a memory budget alone. A
// run in a process of its own each, so that the peak resident size is its own.

#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::Tensor;
using namespace rw::literals;

constexpr int kBlocks = 200, kLayers = 200;
constexpr int64_t kFloats = 100000;

Tensor block(Tensor x, const Tensor& y, const Tensor& z, bool sine) {
  for (int i = 0; i < kLayers; ++i) x = x + (sine ? rw::sin(x * y) * z : y * z);
  return x;
}

void run_chain(const std::string& variant, bool sine, bool marked, int64_t budget) {
  const Tensor initial = rw::ones({kFloats});
  const Tensor y = rw::ones({kFloats}) + 1e-7;
  const Tensor z = sine ? rw::fill({kFloats}, 1e-4f) : rw::ones({kFloats}) + 1e-7;
  const auto marked_block = rw::checkpointable(block);
  if (budget > 0) rw::memory::set_budget("CPU:0", budget);
  reset_peak();
  const double start_rss_mib = peak_rss_mib();
  const double start = now_us();
  Tensor slope;
  {
    rw::GradientTape tape;
    tape.watch(initial);
    Tensor x = initial;
    for (int i = 0; i < kBlocks; ++i)
      x = marked ? marked_block.checkpoint(x, y, z, sine) : block(x, y, z, sine);
    slope = tape.gradient(rw::reduce_sum(x), initial);
  }
  const double seconds = (now_us() - start) / 1e6;
  const rw::memory::Stats stats = rw::memory::stats();
  std::vector<Figure> figures = {
      {"s", seconds}, {"peak_MiB", double(stats.peak) / 1048576}, {"start_rss_MiB", start_rss_mib}};
  if (budget > 0)
    figures.push_back({"evaluations_per_op", 1 + double(stats.remade) / double(stats.remembered)});
  figures.push_back({"slope", double(slope.data<float>()[0])});
  say("chain_eager", "rewind", variant, figures);
}

void chain_eager() {
  for (const bool sine : {false, true}) {
    for (const int way : {0, 1}) {
      const std::string variant =
          std::string(sine ? "sin" : "plain") + (way == 0 ? ", checkpointable" : ", 64 MiB");
      const char* asked = asked_part();
      if (!asked) run_part("chain_eager", variant);
      else if (asked == variant) return run_chain(variant, sine, way == 0, way == 0 ? 0 : 64_MiB);
    }
  }
}

}  // namespace

std::vector<Workload> eager_chain_workloads() { return {{"chain_eager", chain_eager}}; }

}  // namespace bench
