// A small GPT that learns a text inside a budget of memory and then writes on by itself.
//   gpt [steps] [text] [vocab.json merges.txt]
// The default text is the licenses that every Debian system has. Tokens are the text's bytes, or those of
// GPT-2 when its two vocabulary files are given.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "rewind/data/byte_pair.h"
#include "rewind/data/text.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;
using rw::Tensor;
using namespace rw::literals;

namespace {

constexpr int64_t kContext = 96, kWidth = 128, kHeads = 4, kBlocks = 4, kBatch = 16, kBudget = 64_MiB;
constexpr double kDropout = 0.05;

struct Tokenizer {
  std::optional<rw::data::BytePairTokenizer> pairs;  // none: a token is a byte

  int64_t size() const { return pairs ? pairs->vocab_size() : 256; }
  std::vector<int32_t> encode(const std::string& text) const {
    if (pairs) return pairs->encode(text);
    return {reinterpret_cast<const uint8_t*>(text.data()),
            reinterpret_cast<const uint8_t*>(text.data()) + text.size()};
  }
  std::string decode(const std::vector<int32_t>& tokens) const {
    return pairs ? pairs->decode(tokens) : std::string(tokens.begin(), tokens.end());
  }
};

// A file, or all files of a folder.
std::string read(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return rw::data::read_text(path);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const auto& file : files) all += rw::data::read_text(file);
  return all;
}

// Words and where they stand.
struct WordsAndPlaces : keras::LayerOf<WordsAndPlaces> {
  keras::Embedding words, places{kContext, kWidth};
  explicit WordsAndPlaces(int64_t size) : words(size, kWidth) {}
  Tensor call(const Tensor& x, const keras::CallArgs&) override {
    return words(x) + places(rw::range(kContext));
  }
  RW_TRACK(words, places)
};

keras::Model network(int64_t tokens) {
  const auto input = keras::Input({kContext}, {.dtype = rw::int32});
  auto x = keras::Dropout(kDropout)(WordsAndPlaces(tokens)(input));
  for (int i = 0; i < kBlocks; ++i) {
    auto y = keras::LayerNormalization()(x);
    y = keras::MultiHeadAttention(kHeads, kWidth / kHeads)({y, y}, {.use_causal_mask = true});
    x = x + keras::Dropout(kDropout)(y);
    y = keras::Dense(4 * kWidth, {.activation = "gelu"})(keras::LayerNormalization()(x));
    x = x + keras::Dropout(kDropout)(keras::Dense(kWidth)(y));
  }
  return {input, keras::Dense(tokens)(keras::LayerNormalization()(x)), {.name = "gpt"}};
}

// Goes on after `tokens`: each next one is drawn from the `top` likeliest; low temperatures are careful.
template <class Next>
std::vector<int32_t> write_on(const Next& next, std::vector<int32_t> tokens, int count) {
  for (int i = 0; i < count; ++i) {
    const size_t seen = std::min(tokens.size(), size_t(kContext));
    std::vector<int32_t> window(tokens.end() - long(seen), tokens.end());
    window.resize(kContext);  // what stands behind is not seen by what stands before
    tokens.push_back(
        next(rw::constant(window, {1, kContext}), rw::constant(int32_t(seen) - 1)).template item<int32_t>());
  }
  return tokens;
}

int train(int steps, const std::string& path, const Tokenizer& tokenizer) {
  const std::vector<int32_t> text = tokenizer.encode(read(path));
  const Tensor all = rw::constant(text);
  std::printf("%zu tokens of %lld kinds from %s\n", text.size(), static_cast<long long>(tokenizer.size()),
              path.c_str());
  // Windows from all over the text, and the same one token further as targets.
  const auto windows = rw::data::Dataset::range(int64_t(text.size()) - kContext)
                           .repeat()
                           .shuffle(int64_t(text.size()))
                           .batch(kBatch)
                           .map([&](const Tensor& starts) {
                             const Tensor rows = rw::gather(
                                 all, rw::expand_dims(starts, 1) + rw::range(kContext + 1, rw::int64));
                             return std::tuple(rows(rw::Slice(), rw::Slice(0, kContext)),
                                               rows(rw::Slice(), rw::Slice(1, kContext + 1)));
                           })
                           .prefetch(2);

  auto model = network(tokenizer.size());
  model.summary();
  const auto rate = keras::schedules::CosineDecay({.initial_learning_rate = 0,
                                                   .decay_steps = double(steps),
                                                   .alpha = 0.02,
                                                   .warmup_target = 2e-3,
                                                   .warmup_steps = steps / 20.0});
  model.compile(
      {.optimizer = keras::AdamW({.learning_rate = rate, .weight_decay = 0.1, .global_clipnorm = 1.0}),
       .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {"accuracy"},
       .memory_budget = kBudget});
  rw::memory::reset_peak();
  model.fit(windows, {.epochs = 4, .steps_per_epoch = std::max(1, steps / 4)});
  std::printf("peak of memory: %.1f of %.0f MiB\n\n", double(rw::memory::stats().peak) / (1 << 20),
              double(kBudget) / (1 << 20));

  constexpr int kTop = 20;
  constexpr float kTemperature = 0.7f;
  auto next = rw::function([&](const Tensor& window, const Tensor& last) {
    const auto likely = rw::math::top_k(model(window)(0, last) / kTemperature, kTop);
    const Tensor drawn = rw::random::categorical(rw::expand_dims(likely.values, 0), 1);
    return rw::gather(likely.indices, rw::reshape(drawn, {}));
  });
  const size_t start = text.size() / 2;
  const std::vector<int32_t> prompt(text.begin() + long(start),
                                    text.begin() + long(std::min(start + 32, text.size())));
  const auto written = write_on(next, prompt, 400);
  std::printf("%s\n", tokenizer.decode(written).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rw::random::set_seed(1);
    Tokenizer tokenizer;
    if (argc > 4) tokenizer.pairs.emplace(argv[3], argv[4]);
    return train(argc > 1 ? std::atoi(argv[1]) : 2000, argc > 2 ? argv[2] : "/usr/share/common-licenses",
                 tokenizer);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
