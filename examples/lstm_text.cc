// An LSTM that learns a text letter by letter and writes on, with its state carried from letter to letter.
// Two models share their layers: one sees whole windows and is trained, the other takes one letter and the
// state.
//   lstm_text [steps] [text]
#include <cstdio>
#include <cstdlib>

#include "rewind/data/text.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;
using rw::Tensor;

namespace {

constexpr int64_t kWindow = 64, kBatch = 32, kUnits = 192;

// The letters that occur, by number and back.
struct Letters {
  std::string of_number;
  int32_t number_of[256] = {};

  explicit Letters(const std::string& text) {
    bool there[256] = {};
    for (const char c : text) there[uint8_t(c)] = true;
    for (int c = 0; c < 256; ++c) {
      if (!there[c]) continue;
      number_of[c] = int32_t(of_number.size());
      of_number += char(c);
    }
  }
  std::vector<int32_t> encode(const std::string& text) const {
    std::vector<int32_t> numbers;
    for (const char c : text) numbers.push_back(number_of[uint8_t(c)]);
    return numbers;
  }
};

int train(int steps, const std::string& path) {
  const std::string text = rw::data::read_text(path);
  const Letters letters(text);
  const auto kinds = int64_t(letters.of_number.size());
  std::printf("%zu letters of %lld kinds from %s\n", text.size(), static_cast<long long>(kinds),
              path.c_str());

  const keras::Embedding embed(kinds, 64);
  const keras::LSTM lower(kUnits, {.return_sequences = true, .return_state = true});
  const keras::LSTM upper(kUnits, {.return_sequences = true, .return_state = true});
  const keras::TimeDistributed guess(keras::Dense{kinds});

  const auto window = keras::Input({kWindow}, {.dtype = rw::int32, .name = "window"});
  const auto seen = keras::Dropout(0.1)(upper.all(lower.all(embed(window))[0])[0]);
  keras::Model model(window, guess(seen), {.name = "lstm_text"});

  const auto letter = keras::Input({1}, {.dtype = rw::int32, .name = "letter"});
  std::vector<keras::KerasTensor> state;
  for (int i = 0; i < 4; ++i) state.push_back(keras::Input({kUnits}));
  const auto low = lower.all({embed(letter), state[0], state[1]});
  const auto up = upper.all({low[0], state[2], state[3]});
  const keras::Model step({letter, state[0], state[1], state[2], state[3]},
                          {guess(up[0]), low[1], low[2], up[1], up[2]}, {.name = "one_letter"});

  const Tensor all = rw::constant(letters.encode(text));
  const auto windows = rw::data::Dataset::range(int64_t(text.size()) - kWindow)
                           .repeat()
                           .shuffle(int64_t(text.size()))
                           .batch(kBatch)
                           .map([&](const Tensor& starts) {
                             const Tensor places =
                                 rw::expand_dims(starts, 1) + rw::range(kWindow + 1, rw::int64);
                             const Tensor rows = rw::gather(all, places);
                             return std::tuple(rows(rw::Slice(), rw::Slice(0, kWindow)),
                                               rows(rw::Slice(), rw::Slice(1, rw::none)));
                           })
                           .prefetch(2);
  model.summary();
  const auto rate =
      keras::schedules::CosineDecay({.initial_learning_rate = 4e-3, .decay_steps = double(steps)});
  model.compile({.optimizer = keras::Adam({.learning_rate = rate, .global_clipnorm = 1.0}),
                 .loss = keras::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(windows, {.epochs = 4, .steps_per_epoch = std::max(1, steps / 4)});

  // One compiled step: the letter that comes next, drawn by the guesses, and the state after it.
  auto next = rw::function([&](const std::vector<Tensor>& now, const Tensor& temperature) {
    std::vector<Tensor> after = step.all(now);
    const Tensor guesses = rw::squeeze(after[0], {1}) / temperature;
    after[0] = rw::cast(rw::random::categorical(guesses, 1), rw::int32);
    return after;
  });
  const std::string prompt = text.substr(text.size() / 2, 24);
  for (const float temperature : {0.4f, 0.8f}) {
    std::string written;
    std::vector<Tensor> now(5, rw::zeros({1, kUnits}));
    for (int i = 0; i < 300; ++i) {
      if (i < int(prompt.size())) now[0] = rw::constant(letters.encode(prompt.substr(size_t(i), 1)), {1, 1});
      written += letters.of_number[size_t(now[0].item<int32_t>())];
      now = next(now, rw::constant(temperature));
    }
    std::printf("\nAt temperature %.1f:\n%s\n", double(temperature), written.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rw::random::set_seed(1);
    return train(argc > 1 ? std::atoi(argv[1]) : 1200,
                 argc > 2 ? argv[2] : "/usr/share/common-licenses/GPL-3");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
