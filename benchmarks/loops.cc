// Loops and branches on scalars, as the graph sees them.
#include "benchmarks/workload.h"
#include "rewind/rewind.h"

namespace bench {
namespace {

using rw::Tensor;

constexpr int kCount = 10000;

void expect(const std::string& work, int64_t got, int64_t right) {
  if (got == right) return;
  fprintf(stderr, "%s gives %lld, not %lld\n", work.c_str(), static_cast<long long>(got),
          static_cast<long long>(right));
  std::exit(1);
}

void report(const std::string& work, double us, int iterations) {
  say(work, "rewind", "function", {{"ms", us / 1e3}, {"us_per_iteration", us / iterations}});
}

void collatz_6171() {
  const auto collatz = rw::function([](Tensor start) {
    const auto [x, steps] =
        rw::while_loop([](Tensor x, Tensor) { return x != 1; },
                       [](Tensor x, Tensor steps) {
                         const Tensor next = rw::cond(
                             x % 2 == 0, [&] { return rw::math::floordiv(x, 2); }, [&] { return 3 * x + 1; });
                         return std::tuple{next, steps + 1};
                       },
                       std::tuple{start, rw::constant(0)});
    return steps;
  });
  const Tensor start = rw::constant(6171);
  expect("collatz_6171", collatz(start).item<int32_t>(), 261);
  report("collatz_6171", median_us(3, 50, [&] { collatz(start); }), 261);
}

void sum_even_10000() {
  const auto sum_even = rw::function([](Tensor items) {
    const auto [i, sum] = rw::while_loop(
        [](Tensor i, Tensor) { return i < kCount; },
        [&](Tensor i, Tensor sum) {
          const Tensor item = rw::gather(items, i);
          return std::tuple{i + 1, rw::cond(item % 2 > 0, [&] { return sum; }, [&] { return sum + item; })};
        },
        std::tuple{rw::constant(0), rw::constant(0)});
    return sum;
  });
  const Tensor items = rw::range(kCount);
  expect("sum_even_10000", sum_even(items).item<int32_t>(), 24995000);
  report("sum_even_10000", median_us(2, 20, [&] { sum_even(items); }), kCount);
}

}  // namespace

std::vector<Workload> loop_workloads() {
  return {{"collatz_6171", collatz_6171}, {"sum_even_10000", sum_even_10000}};
}

}  // namespace bench
