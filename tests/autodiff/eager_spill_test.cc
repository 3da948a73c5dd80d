// Eager code under a memory budget with a file beside it: values go there where that is faster than making
// them again.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/autodiff/eager_budget.h"

namespace rw {
namespace {

TEST(EagerSpill, AFastFileTakesThePlaceOfMakingAgain) {
  const Slopes free_run = run_chain(300);
  const memory::Stats before = memory::stats();
  {
    const Budget limit(held_plus(20 * 8192 * 4));
    const Spill file;
    memory::reset_peak();
    const Slopes small = run_chain(300);
    EXPECT_TRUE(same(free_run.dx, small.dx));
    EXPECT_TRUE(same(free_run.value, small.value));
    EXPECT_LE(memory::stats().peak, memory::budget());
  }
  const memory::Stats after = memory::stats();
  EXPECT_GT(after.read_back, before.read_back);
  EXPECT_LT(after.remade - before.remade, 600) << "few calls run again where reading costs nothing";
  EXPECT_EQ(after.spilled, 0) << "nothing stays in the file";
}

TEST(EagerSpill, ASlowFileIsLeftAlone) {
  const Slopes free_run = run_chain(300);
  const memory::Stats before = memory::stats();
  const Budget limit(held_plus(20 * 8192 * 4));
  const Spill file(0, 1.0);
  EXPECT_TRUE(same(free_run.dx, run_chain(300).dx));
  EXPECT_EQ(memory::stats().read_back, before.read_back);
  EXPECT_GT(memory::stats().remade, before.remade);
}

TEST(EagerSpill, ItStaysBelowItsSizeAndShowsInTheStatistics) {
  const Slopes free_run = run_chain(300);
  const Budget limit(held_plus(20 * 8192 * 4));
  const Spill file(10 * 8192 * 4);
  const Tensor x = ones({8192});
  GradientTape tape;
  tape.watch(x);
  const Tensor z = chain(x, fill({8192}, 0.5f), 300);
  EXPECT_GT(memory::stats().spilled, 0);
  EXPECT_LE(memory::stats().spilled, 10 * 8192 * 4);
  EXPECT_TRUE(same(free_run.dx, bits(tape.gradient(reduce_sum(z), x))));
  EXPECT_TRUE(same(free_run.value, bits(z)));
}

// A limit on the size of files stands for a disk that is full.
TEST(EagerSpill, AFullDiskCostsTimeAndLosesNothing) {
  const Slopes free_run = run_chain(300);
  const memory::Stats before = memory::stats();
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 5 * 8192 * 4 + 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  {
    const Budget limit(held_plus(20 * 8192 * 4));
    const Spill file;
    const Slopes run = run_chain(300);
    EXPECT_TRUE(same(free_run.dx, run.dx));
    EXPECT_TRUE(same(free_run.value, run.value));
    try {
      concat(std::vector<Tensor>(40, ones({8192})), 0);
      ADD_FAILURE() << "40 blocks do not fit into 20";
    } catch (const ResourceExhaustedError&) {}
    EXPECT_TRUE(same(free_run.dx, run_chain(300).dx));
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_GT(memory::stats().remade, before.remade);
  EXPECT_EQ(memory::stats().spilled, 0);
}

TEST(EagerSpill, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(memory::set_spill("CPU:0", {.path = "/tmp/no such folder"}), NotFoundError);
  EXPECT_THROW(memory::set_spill("CPU:0", {.path = "/tmp", .bytes = -1}), InvalidArgumentError);
  EXPECT_THROW(memory::set_spill("CPU:0", {.path = "/tmp", .bytes_per_second = 0}), InvalidArgumentError);
}

TEST(EagerSpill, ItMayBeSwitchedOffWhileItHoldsValues) {
  const Tensor x = ones({16384});
  auto run = [&](bool spill) {
    std::vector<Tensor> held;
    const Budget limit(spill ? held_plus(10 * 65536) : 0);
    GradientTape tape;
    tape.watch(x);
    Tensor h = x;
    {
      const auto file = spill ? std::make_unique<Spill>() : nullptr;
      for (int i = 0; i < 40; ++i) held.push_back(h = sin(h) + h);
      EXPECT_EQ(memory::stats().spilled > 0, spill);
    }
    std::vector<std::vector<float>> out = {bits(tape.gradient(reduce_sum(h), x))};
    for (const Tensor& t : held) out.push_back(bits(t + 0.0f));
    return out;
  };
  const auto free_run = run(false);
  EXPECT_TRUE(free_run == run(true));
  EXPECT_EQ(memory::stats().spilled, 0);
}

}  // namespace
}  // namespace rw
