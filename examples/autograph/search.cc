// Searches and samplers: beam search, A* on a grid, k-means until it stands still, a Metropolis sampler.
#include "both_ways.h"

namespace {

using rw::Tensor;

// The likeliest sentences of a first-order language model, `width` at a time, until all have ended with token
// 0 or have `longest` tokens.
std::vector<Tensor> beam_search(const Tensor& log_probabilities, const Tensor& longest) {
  const int64_t width = 3;
  const Tensor tokens = rw::shape(log_probabilities)(1);
  Tensor scores = rw::constant({0.0, -1e9, -1e9});
  Tensor sentences = rw::fill({width, 8}, 0);
  Tensor last = rw::constant({1, 1, 1});
  Tensor ended = rw::constant({false, false, false});
  Tensor length = 0;
  while (length < longest && !rw::reduce_all(ended)) {
    const Tensor stay = rw::one_hot(rw::zeros_like(last), tokens, {.on_value = 0.0, .off_value = -1e9});
    const Tensor next = rw::where(rw::expand_dims(ended, 1), stay, rw::gather(log_probabilities, last));
    const auto best = rw::math::top_k(rw::reshape(rw::expand_dims(scores, 1) + next, {-1}), width);
    const Tensor from = rw::math::floordiv(best.indices, tokens);
    scores = best.values;
    last = rw::math::floormod(best.indices, tokens);
    const Tensor column = rw::one_hot(length, 8, {.dtype = rw::int32});
    sentences = rw::gather(sentences, from) * (1 - column) + rw::expand_dims(last, 1) * column;
    ended = last == 0;
    length += 1;
  }
  return {sentences, scores, length};
}

// The length of the shortest way between two cells of a grid, or -1: the open cell with the least sum of the
// way so far and the distance that is left goes first.
Tensor a_star(const Tensor& walls, const Tensor& start, const Tensor& goal) {
  const int columns = int(walls.shape()[1]), cells = int(walls.shape()[0]) * columns;
  const int far = 1000000;
  const Tensor places = rw::range(cells);
  const auto row = [&](const Tensor& place) { return rw::math::floordiv(place, columns); };
  const Tensor left = rw::abs(row(places) - row(goal)) + rw::abs(places % columns - goal % columns);
  Tensor blocked = rw::reshape(walls, {-1}) > 0;
  Tensor cost = rw::where(places == start, 0, far);
  Tensor open = places == start;
  while (rw::reduce_any(open)) {
    const Tensor here = rw::cast(rw::argmin(rw::where(open, cost + left, far)), rw::int32);
    if (here == goal) return cost(here);
    open = rw::logical_and(open, rw::not_equal(places, here));
    for (const int step : {-columns, columns, -1, 1}) {
      const Tensor there = here + step;
      if (there < 0 || there >= cells) continue;
      if (std::abs(step) == 1 && row(there) != row(here)) continue;
      if (blocked(there)) continue;
      if (cost(here) + 1 < cost(there)) {
        cost = rw::where(places == there, cost(here) + 1, cost);
        open = rw::logical_or(open, places == there);
      }
    }
  }
  return rw::constant(-1);
}

std::vector<Tensor> k_means(const Tensor& points, Tensor centres) {
  Tensor moved = 1.0;
  int rounds = 0;
  while (moved > 1e-6) {
    const Tensor distances =
        rw::reduce_sum(rw::square(rw::expand_dims(points, 1) - rw::expand_dims(centres, 0)), -1);
    const Tensor nearest = rw::argmin(distances, 1);
    const Tensor means = rw::math::unsorted_segment_mean(points, nearest, centres.shape()[0]);
    moved = rw::reduce_max(rw::abs(means - centres));
    centres = means;
    ++rounds;
  }
  return {centres, rw::constant(rounds)};
}

// Samples of a density that is known up to its integral: the mean, and how many proposals were taken.
std::vector<Tensor> metropolis(const Tensor& samples) {
  const auto log_density = [](const Tensor& x) { return -0.25 * rw::pow(x, 4.0) + x * x; };
  Tensor x = 0.0, sum = 0.0;
  int taken = 0;
  for (Tensor i : rw::range(samples)) {
    const Tensor proposal = x + rw::random::stateless_normal({}, rw::stack({i, rw::constant(1)}));
    const Tensor chance = rw::random::stateless_uniform({}, rw::stack({i, rw::constant(2)}));
    if (rw::math::log(chance) < log_density(proposal) - log_density(x)) {
      x = proposal;
      ++taken;
    }
    sum += x;
  }
  return {sum / rw::cast(samples, rw::float32), rw::constant(taken)};
}

}  // namespace

int main() {
  const Tensor model = rw::math::log(rw::constant(
      {{0.9, 0.05, 0.03, 0.02}, {0.1, 0.2, 0.5, 0.2}, {0.3, 0.1, 0.2, 0.4}, {0.6, 0.2, 0.1, 0.1}}));
  for (const int longest : {1, 3, 8})
    both_ways::run("beam_search " + std::to_string(longest), beam_search, model, rw::constant(longest));
  const Tensor walls =
      rw::constant({{0, 1, 0, 0, 0}, {0, 1, 0, 1, 0}, {0, 0, 0, 1, 0}, {1, 1, 1, 1, 0}, {0, 0, 0, 0, 0}});
  for (const int goal : {0, 4, 20, 10})
    both_ways::run("a_star " + std::to_string(goal), a_star, walls, rw::constant(0), rw::constant(goal));
  const Tensor island = rw::constant({{0, 1, 0}, {1, 1, 0}, {0, 0, 0}});
  both_ways::run("a_star island", a_star, island, rw::constant(0), rw::constant(8));
  const Tensor points =
      rw::constant({{0.1, 0.2}, {0.0, -0.1}, {1.0, 1.2}, {0.9, 1.1}, {2.0, 0.1}, {2.2, -0.2}, {0.4, 0.3}});
  both_ways::run("k_means", k_means, points, rw::constant({{0.0, 0.0}, {0.5, 0.5}, {1.5, 0.5}}));
  both_ways::run("metropolis", metropolis, rw::constant(200));
}
