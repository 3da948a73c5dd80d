// if, while and for on tensors, in plain C++: collatz, a sum with continue, FizzBuzz, return in a loop,
// nested ifs.
#include "both_ways.h"

namespace {

using rw::Tensor;

Tensor collatz(Tensor n) {
  Tensor steps = 0;
  while (n > 1) {
    if (n % 2 == 0) {
      n = rw::math::floordiv(n, 2);
    } else {
      n = 3 * n + 1;
    }
    steps += 1;
  }
  return steps;
}

Tensor sum_even(const Tensor& items) {
  Tensor s = 0;
  for (Tensor c : items) {
    if (c % 2 > 0) continue;
    s += c;
  }
  return s;
}

void fizzbuzz(const Tensor& last) {
  const rw::PrintOptions to_stdout{.output_stream = "stdout"};
  for (Tensor i : rw::range(1, last + 1)) {
    if (i % 15 == 0) {
      rw::print(to_stdout, "FizzBuzz");
    } else if (i % 3 == 0) {
      rw::print(to_stdout, "Fizz");
    } else if (i % 5 == 0) {
      rw::print(to_stdout, "Buzz");
    } else {
      rw::print(to_stdout, i);
    }
  }
}

// The place of the first item that is at least as large as `limit`, or -1.
Tensor first_from(const Tensor& items, const Tensor& limit) {
  for (Tensor i : rw::range(rw::size(items))) {
    if (items(i) >= limit) return i;
  }
  return rw::constant(-1);
}

Tensor bend(Tensor x, const Tensor& slope) {
  if (x > 0) {
    if (x > 1) { x = 1 + slope * (x - 1); }
  } else if (x < -1) {
    x = slope * x;
  } else {
    x = x * x;
  }
  return x;
}

// The longest run of equal neighbours; a number of C++'s becomes a tensor where a tensor decides.
Tensor longest_run(const Tensor& items) {
  int longest = 0, run = 0;
  Tensor last = -1;
  for (Tensor item : items) {
    if (item == last) {
      ++run;
    } else {
      run = 1;
    }
    if (run > longest) longest = run;
    last = item;
  }
  return rw::constant(longest);
}

// Is n a prime? A loop without an end of its own, left by return and break.
Tensor is_prime(const Tensor& n) {
  if (n < 2) return rw::constant(false);
  Tensor d = 2;
  while (true) {
    if (d * d > n) break;
    if (n % d == 0) return rw::constant(false);
    d += 1;
  }
  return rw::constant(true);
}

}  // namespace

int main() {
  for (const int n : {1, 6, 27, 6171})
    both_ways::run("collatz " + std::to_string(n), collatz, rw::constant(n));
  both_ways::run("sum_even", sum_even, rw::constant({10, 12, 15, 20, 7}));
  rw::function(fizzbuzz)(rw::constant(15));
  for (const int limit : {3, 8, 11}) {
    both_ways::run("first_from " + std::to_string(limit), first_from, rw::constant({1, 4, 9, 2, 10}),
                   rw::constant(limit));
  }
  for (const double x : {-2.0, -0.5, 0.5, 3.0})
    both_ways::differentiate("bend", bend, rw::constant(x), rw::constant(0.25));
  both_ways::run("longest_run", longest_run, rw::constant({1, 1, 2, 2, 2, 3, 2, 2}));
  for (const int n : {1, 2, 9, 91, 97})
    both_ways::run("is_prime " + std::to_string(n), is_prime, rw::constant(n));
}
