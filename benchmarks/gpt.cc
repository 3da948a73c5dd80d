// One training step of a GPT, with Adam: gpt_baby (12 x 64 tokens, width 128, 4 blocks) and gpt_small
// (4 x 256 tokens, width 384, 6 blocks).
#include <cmath>

#include "benchmarks/budget.h"

namespace bench {
namespace {

using rw::Tensor;
using rw::Variable;

struct Sizes {
  int64_t batch, tokens, width, blocks, heads, words;
  double dropout = 0;
};

Variable normal(std::vector<int64_t> shape) { return Variable(rw::random::normal(shape, {.stddev = 0.02})); }
Variable ones(int64_t n) { return Variable(rw::ones({n})); }
Variable zeros(int64_t n) { return Variable(rw::zeros({n})); }

struct Norm {
  Variable scale, offset;
  explicit Norm(int64_t width) : scale(ones(width)), offset(zeros(width)) {}
  Tensor operator()(const Tensor& x) const {
    const auto [mean, variance] = rw::nn::moments(x, -1, true);
    return (x - mean) * rw::math::rsqrt(variance + 1e-5) * scale + offset;
  }
};

struct Dense {
  Variable w, b;
  Dense(int64_t in, int64_t out) : w(normal({in, out})), b(zeros(out)) {}
  Tensor operator()(const Tensor& x) const { return rw::matmul(x, w) + b; }
};

struct Block {
  Sizes s;
  Norm norm1{s.width}, norm2{s.width};
  Dense qkv{s.width, 3 * s.width}, out{s.width, s.width};
  Dense wide{s.width, 4 * s.width}, narrow{4 * s.width, s.width};

  explicit Block(const Sizes& sizes) : s(sizes) {}

  Tensor operator()(const Tensor& x, const Tensor& visible) const {
    const int64_t depth = s.width / s.heads;
    // (batch, 3 heads, tokens, depth)
    const Tensor mixed =
        rw::transpose(rw::reshape(qkv(norm1(x)), {s.batch, s.tokens, 3 * s.heads, depth}), {0, 2, 1, 3});
    const std::vector<Tensor> parts = rw::split(mixed, 3, 1);
    const Tensor scores =
        rw::matmul(parts[0], parts[1], {.transpose_b = true}) * (1.0 / std::sqrt(double(depth)));
    const Tensor attention = rw::matmul(rw::nn::softmax(rw::where(visible, scores, -1e9f)), parts[2]);
    const Tensor joined = rw::reshape(rw::transpose(attention, {0, 2, 1, 3}), {s.batch, s.tokens, s.width});
    const Tensor y = x + dropped(out(joined));
    return y + dropped(narrow(rw::nn::gelu(wide(norm2(y)), true)));
  }
  Tensor dropped(const Tensor& x) const { return s.dropout > 0 ? rw::nn::dropout(x, s.dropout) : x; }
  void collect(std::vector<Variable>* list) const {
    list->insert(list->end(), {norm1.scale, norm1.offset, qkv.w, qkv.b, out.w, out.b, norm2.scale,
                               norm2.offset, wide.w, wide.b, narrow.w, narrow.b});
  }
};

struct Gpt {
  Sizes s;
  Variable words = normal({s.words, s.width}), places = normal({s.tokens, s.width});
  Norm norm{s.width};
  std::vector<Block> blocks;

  explicit Gpt(const Sizes& sizes) : s(sizes) {
    for (int64_t i = 0; i < s.blocks; ++i) blocks.emplace_back(s);
  }
  Tensor loss(const Tensor& tokens, const Tensor& targets) const {
    const Tensor visible = rw::linalg::band_part(rw::ones({s.tokens, s.tokens}), -1, 0) > 0.f;
    Tensor x = rw::gather(words, tokens) + places;
    for (const Block& b : blocks) x = b(x, visible);
    const Tensor logits = rw::matmul(norm(x), rw::transpose(words.value()));
    return rw::reduce_mean(rw::nn::sparse_softmax_cross_entropy_with_logits(targets, logits));
  }
  std::vector<Variable> variables() const {
    std::vector<Variable> list{words, places, norm.scale, norm.offset};
    for (const Block& b : blocks) b.collect(&list);
    return list;
  }
};

struct Session {
  Sizes s;
  rw::random::UniformOptions token{.minval = 0, .maxval = int32_t(s.words), .dtype = rw::int32};
  Tensor tokens = rw::random::uniform({s.batch, s.tokens}, token);
  Tensor targets = rw::random::uniform({s.batch, s.tokens}, token);
  Gpt model{s};
  Adam adam{model.variables(), 3e-4f};

  explicit Session(const Sizes& sizes) : s(sizes) {}
  Tensor train(const Tensor& i, const Tensor& t) const {
    rw::GradientTape tape;
    const Tensor loss = model.loss(i, t);
    adam.apply(tape.gradient(loss, adam.parameters));
    return loss;
  }
  auto step(int64_t budget) const {
    return rw::function([this](Tensor i, Tensor t) { return train(i, t); }, {.memory_budget = budget});
  }
};

void train(const std::string& work, const Sizes& s) {
  const int64_t held = rw::memory::stats().current;
  const Session session(s);
  const auto step = session.step(0);
  report_training(work, 2, 10, session.adam, held,
                  [&] { step(session.tokens, session.targets).item<float>(); });
}

MakeSession session(const Sizes& s) {
  return [s](int64_t budget) {
    auto made = std::make_shared<Session>(s);
    return session_of(made, budget, std::pair{made->tokens, made->targets});
  };
}

double ms_a_sample(Sizes s, int64_t batch, int64_t budget) {
  s.batch = batch;
  const Session session(s);
  const auto step = session.step(budget);
  return median_us(1, batch > 16 ? 2 : 5, [&] { step(session.tokens, session.targets).item<float>(); }) /
         1e3 / double(batch);
}

// The largest batch that trains inside a budget, and what a sample then takes, in a process of its own: it
// tells what is resident beyond what the process began with.
void largest_batch(const std::string& work, Sizes s, int64_t budget) {
  if (asked_part()) {
    const double start_mib = peak_rss_mib();
    const int64_t batch = std::stoll(asked_part());
    const double ms = ms_a_sample(s, batch, budget);
    const double over_start_mib = peak_rss_mib() - start_mib;
    const double peak_mib = double(rw::memory::stats().peak) / (1 << 20);
    rw::memory::trim();
    say(work, "rewind", "function",
        {{"batch", double(batch)},
         {"ms_a_sample", ms},
         {"free_ms_a_sample", ms_a_sample(s, 4, 0)},
         {"peak_MiB", peak_mib},
         {"over_start_MiB", over_start_mib}});
    return;
  }
  const auto fits = [&](int64_t batch) {
    s.batch = batch;
    const Session session(s);
    try {
      (void)session.step(budget).memory_plan(session.tokens, session.targets);
      return true;
    } catch (const rw::ResourceExhaustedError&) { return false; }
  };
  int64_t most = 16;
  while (fits(2 * most)) most *= 2;
  for (int64_t step = most / 2; step >= std::max<int64_t>(1, most / 16); step /= 2)
    if (fits(most + step)) most += step;
  run_part(work, std::to_string(most));
}

constexpr Sizes kSmall{4, 256, 384, 6, 6, 256};

}  // namespace

std::function<void()> gpt_small_step() {
  const auto made = std::make_shared<const Session>(kSmall);
  const auto step = made->step(0);
  return [=] { step(made->tokens, made->targets).item<float>(); };
}

std::vector<Workload> gpt_workloads() {
  return {
      {"gpt_baby", [] { train("gpt_baby", {12, 64, 128, 4, 4, 65}); }},
      {"gpt_small", [] { train("gpt_small", kSmall); }},
      {"gpt_small_budget", [] { run_in_budgets("gpt_small_budget", session(kSmall), {75, 50, 35, 25, 15}); }},
      {"gpt_dropout_budget",
       [] { run_in_budgets("gpt_dropout_budget", session({4, 256, 384, 6, 6, 256, 0.1}), {50, 30}); }},
      // 1 GiB, of which 64 MiB are for what is resident and not accounted for: peers are held to what is
      // resident.
      {"gpt_small_batch",
       [] { largest_batch("gpt_small_batch", kSmall, (int64_t(1) << 30) - (int64_t(64) << 20)); }}};
}

}  // namespace bench
