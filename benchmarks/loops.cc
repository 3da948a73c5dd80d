// Loops and branches on scalars, as the graph sees them.
#include <algorithm>

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

void report(const std::string& work, const char* form, double us, int iterations) {
  say(work, "rewind", form, {{"ms", us / 1e3}, {"us_per_iteration", us / iterations}});
}

// In plain C++, which rewind-autograph converts, and with the ops of control flow.
Tensor collatz(Tensor x) {
  Tensor steps = 0;
  while (x != 1) {
    if (x % 2 == 0) x = rw::math::floordiv(x, 2);
    else x = 3 * x + 1;
    steps += 1;
  }
  return steps;
}

Tensor collatz_by_hand(Tensor start) {
  const auto [x, steps] =
      rw::while_loop([](Tensor x, Tensor) { return x != 1; },
                     [](Tensor x, Tensor steps) {
                       const Tensor next = rw::cond(
                           x % 2 == 0, [&] { return rw::math::floordiv(x, 2); }, [&] { return 3 * x + 1; });
                       return std::tuple{next, steps + 1};
                     },
                     std::tuple{start, rw::constant(0)});
  return steps;
}

Tensor sum_even(const Tensor& items) {
  Tensor sum = 0;
  for (Tensor item : items) {
    if (item % 2 > 0) continue;
    sum += item;
  }
  return sum;
}

Tensor sum_even_by_hand(const Tensor& items) {
  const auto [i, sum] = rw::while_loop(
      [](Tensor i, Tensor) { return i < kCount; },
      [&](Tensor i, Tensor sum) {
        const Tensor item = rw::gather(items, i);
        return std::tuple{i + 1, rw::cond(item % 2 > 0, [&] { return sum; }, [&] { return sum + item; })};
      },
      std::tuple{rw::constant(0), rw::constant(0)});
  return sum;
}

// The forms by turns, so that a slow moment is not one form's.
template <class Plain, class ByHand>
void compare(const std::string& work, Plain plain, ByHand by_hand, const Tensor& input, int right,
             int iterations) {
  const auto written = rw::function(by_hand);
  expect(work, written(input).template item<int32_t>(), right);
  std::vector<double> by_hand_us, plain_us;
  for (int round = 0; round < 5; ++round) {
    by_hand_us.push_back(median_us(3, 50, [&] { written(input); }));
#ifdef BENCH_AUTOGRAPH
    static const auto converted = rw::function(plain);
    if (round == 0) expect(work, converted(input).template item<int32_t>(), right);
    plain_us.push_back(median_us(3, 50, [&] { converted(input); }));
#else
    (void)plain;
#endif
  }
  const auto middle = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  if (!plain_us.empty()) report(work, "function", middle(plain_us), iterations);
  report(work, "by hand", middle(by_hand_us), iterations);
}

void collatz_6171() { compare("collatz_6171", collatz, collatz_by_hand, rw::constant(6171), 261, 261); }
void sum_even_10000() {
  compare("sum_even_10000", sum_even, sum_even_by_hand, rw::range(kCount), 24995000, kCount);
}

// What a converted condition costs where C++ decides: a number's, in a template that has tensors too, and an
// eager tensor's, beside the same as it stands.
template <class T>
RW_DO_NOT_CONVERT [[gnu::noinline]] int64_t count_as_it_stands(const T& condition, int times) {
  int64_t count = 0;
  for (int i = 0; i < times; ++i) {
    if (condition) count += i;
    asm volatile("" : "+r"(count));
  }
  return count;
}
template <class T>
[[gnu::noinline]] int64_t count_converted(const T& condition, int times) {
  int64_t count = 0;
  for (int i = 0; i < times; ++i) {
    for (rw::autograph::If s(condition, rw::autograph::state()); s.next();)
      if (s.branch()) count += i;
    asm volatile("" : "+r"(count));
  }
  return count;
}
void conditions_of_the_host() {
  const auto measure = [](const char* form, const auto& condition) {
    const auto ns = [&](auto f) { return median_us(3, 21, [&] { f(condition, kCount); }) * 1e3 / kCount; };
    using T = std::remove_cvref_t<decltype(condition)>;
    const double plain = ns(count_as_it_stands<T>), converted = ns(count_converted<T>);
    say("conditions_of_the_host", "rewind", form,
        {{"more_ns", converted - plain}, {"ns_as_it_stands", plain}});
  };
  measure("number", true);
  measure("eager tensor", rw::constant(true));
}

}  // namespace

std::vector<Workload> loop_workloads() {
  return {{"collatz_6171", collatz_6171},
          {"sum_even_10000", sum_even_10000},
          {"conditions_of_the_host", conditions_of_the_host}};
}

}  // namespace bench
