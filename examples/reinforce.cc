// A policy that learns to balance a pole on a cart. The simulator is plain C++, a step of it takes
// nanoseconds; the policy acts on many carts at once through one compiled function, and learns by
// REINFORCE with a learned baseline through another.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "rewind/keras/keras.h"
#include "rewind/keras/optimizers.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;

namespace {

// The cart and pole of Barto, Sutton and Anderson, by Euler's rule at 50 steps a second.
struct Cart {
  float x = 0, speed = 0, angle = 0, spin = 0;

  void reset(std::mt19937& random) {
    std::uniform_real_distribution<float> near(-0.05f, 0.05f);
    x = near(random), speed = near(random), angle = near(random), spin = near(random);
  }
  // Pushes to the left or right. False when the pole has fallen or the cart left its track.
  bool push(bool right) {
    constexpr float kForce = 10, kGravity = 9.8f, kPole = 0.1f, kTotal = 1.1f, kHalf = 0.5f, kTime = 0.02f;
    const float s = std::sin(angle), c = std::cos(angle);
    const float pushed = ((right ? kForce : -kForce) + kPole * kHalf * spin * spin * s) / kTotal;
    const float turning = (kGravity * s - c * pushed) / (kHalf * (4 / 3.f - kPole * c * c / kTotal));
    const float moving = pushed - kPole * kHalf * turning * c / kTotal;
    x += kTime * speed, speed += kTime * moving, angle += kTime * spin, spin += kTime * turning;
    return std::abs(x) < 2.4f && std::abs(angle) < 0.2095f;
  }
};

constexpr int64_t kCarts = 16, kLongest = 500;

// What the carts went through; unused places have weight 0.
struct Episodes {
  std::vector<float> states, weights, returns;
  std::vector<int32_t> actions;
  double mean_length = 0;
};

struct Agent : keras::Model {
  keras::Sequential policy{{keras::Dense(64, {.activation = "tanh"}), keras::Dense(2)}};
  keras::Sequential baseline{{keras::Dense(64, {.activation = "tanh"}), keras::Dense(1)}};
  RW_TRACK(policy, baseline)
};

// Lets all carts go until they fall, or for kLongest steps.
template <class Act>
Episodes play(Act& act, std::mt19937& random) {
  Episodes e;
  const size_t places = size_t(kCarts * kLongest);
  e.states.assign(places * 4, 0), e.weights.assign(places, 0), e.returns.assign(places, 0);
  e.actions.assign(places, 0);
  std::vector<Cart> carts(kCarts);
  std::vector<char> up(kCarts, 1);
  std::vector<size_t> length(kCarts, 0);
  for (Cart& cart : carts) cart.reset(random);
  for (int64_t t = 0; t < kLongest; ++t) {
    float* now = &e.states[size_t(t * kCarts) * 4];
    for (size_t i = 0; i < carts.size(); ++i) {
      const Cart& c = carts[i];
      std::copy_n(std::array{c.x, c.speed, c.angle, c.spin}.data(), 4, now + 4 * i);
    }
    const auto actions = act(rw::constant(now, {kCarts, 4})).template to_vector<int32_t>();
    bool any = false;
    for (size_t i = 0; i < carts.size(); ++i) {
      if (!up[i]) continue;
      const size_t place = size_t(t * kCarts) + i;
      e.actions[place] = actions[i];
      e.weights[place] = 1;
      ++length[i];
      up[i] = carts[i].push(actions[i] == 1);
      any |= up[i] != 0;
    }
    if (!any) break;
  }
  // A point for each step that is still to come, those far off counting less.
  for (size_t i = 0; i < size_t(kCarts); ++i) {
    float sum = 0;
    for (size_t t = length[i]; t-- > 0;) e.returns[t * kCarts + i] = sum = 1 + 0.99f * sum;
    e.mean_length += double(length[i]) / kCarts;
  }
  return e;
}

int train(int most_rounds) {
  rw::random::set_seed(1);
  std::mt19937 random(1);
  Agent agent;
  auto optimizer = keras::Adam({.learning_rate = 5e-3});
  auto act = rw::function([&](rw::Tensor states) {
    return rw::cast(rw::squeeze(rw::random::categorical(agent.policy(states), 1), {1}), rw::int32);
  });
  auto learn =
      rw::function([&](rw::Tensor states, rw::Tensor actions, rw::Tensor returns, rw::Tensor weights) {
        const rw::Tensor count = rw::reduce_sum(weights);
        rw::GradientTape tape;
        const rw::Tensor expected = rw::squeeze(agent.baseline(states), {1}) * 100.f;
        const rw::Tensor better = (returns - rw::stop_gradient(expected)) * weights;
        const rw::Tensor spread = rw::sqrt(rw::reduce_sum(rw::square(better)) / count) + 1e-6f;
        const rw::Tensor surprise =
            rw::nn::sparse_softmax_cross_entropy_with_logits(actions, agent.policy(states));
        const rw::Tensor of_policy = rw::reduce_sum(surprise * better / spread) / count;
        const rw::Tensor of_baseline =
            rw::reduce_sum(rw::square((returns - expected) / 100.f) * weights) / count;
        const auto variables = agent.trainable_variables();
        optimizer.apply_gradients(tape.gradient(of_policy + of_baseline, variables), variables);
      });

  const auto start = std::chrono::steady_clock::now();
  int solved = 0;
  long pushes = 0;
  for (int round = 1; round <= most_rounds && solved < 3; ++round) {
    const Episodes e = play(act, random);
    learn(rw::constant(e.states, {kCarts * kLongest, 4}), rw::constant(e.actions), rw::constant(e.returns),
          rw::constant(e.weights));
    solved = e.mean_length >= 475 ? solved + 1 : 0;
    pushes += long(e.mean_length * kCarts);
    if (round % 10 == 0 || solved == 3) {
      std::printf("round %3d  mean length %5.1f of %lld  %s\n", round, e.mean_length,
                  static_cast<long long>(kLongest), std::string(size_t(e.mean_length / 12.5), '#').c_str());
      std::fflush(stdout);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s: %ld pushes in %.1f s\n", solved == 3 ? "balanced" : "not balanced yet", pushes, seconds);
  return solved == 3 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return train(argc > 1 ? std::atoi(argv[1]) : 300);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
