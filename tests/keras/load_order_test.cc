// Weights of the same model made twice in one process: paths differ by the numbers of automatic names alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace rw {
namespace {

using Make = std::function<keras::Sequential()>;

void moves(const std::string& what, const Make& make, const Shape& input, DType dtype = float32) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("load_order_" + what + ".safetensors")).string();
  auto from = make();
  from(ones(input, dtype));
  double number = 0;
  for (const Variable& v : from.weights()) v.assign(cast(fill(v.shape(), constant(++number)), v.dtype()));
  from.save_weights(path);
  for (int again = 0; again < 11; ++again) {  // the numbers get a second digit
    auto to = make();
    to(ones(input, dtype));
    ASSERT_NO_THROW(EXPECT_TRUE(to.load_weights(path).fits())) << what;
    for (size_t k = 0; k < to.weights().size(); ++k)
      ASSERT_EQ(to.weights()[k].to_vector<float>(), from.weights()[k].to_vector<float>())
          << what << " " << keras::weight_path(to.weights()[k]);
  }
  std::filesystem::remove(path);
}

TEST(KerasLoadOrder, WrappersAndModelsInside) {
  using namespace keras;  // NOLINT
  moves("bidirectional", [] { return Sequential({Bidirectional(LSTM(3)), Dense(2)}); }, {2, 4, 3});
  moves("two_bidirectional",
        [] {
          return Sequential(
              {Bidirectional(GRU(3, {.return_sequences = true})), Bidirectional(GRU(3)), Dense(1)});
        },
        {2, 4, 3});
  moves("backward_layer",
        [] {
          return Sequential(
              {Bidirectional(LSTM(3), {.backward_layer = LSTM(3, {.go_backwards = true})}), Dense(2)});
        },
        {2, 4, 3});
  moves("named_bidirectional", [] { return Sequential({Bidirectional(LSTM(3, {.name = "reader"}))}); },
        {2, 4, 3});
  moves("time_distributed", [] { return Sequential({TimeDistributed(Dense(3)), TimeDistributed(Dense(3))}); },
        {2, 4, 3});
  moves("in_time", [] { return Sequential({TimeDistributed(Sequential({Dense(3), Dense(3)})), Dense(3)}); },
        {2, 4, 3});
  moves("nested",
        [] {
          return Sequential({Sequential({Dense(3), Sequential({Dense(3), BatchNormalization()})}), Dense(3)});
        },
        {2, 3});
  moves(
      "nested_bidirectional",
      [] {
        return Sequential({Embedding(5, 3), Sequential({Bidirectional(LSTM(2, {.return_sequences = true}))}),
                           Bidirectional(SimpleRNN(2))});
      },
      {2, 4}, int32);
  moves("functional_inside",
        [] {
          const auto i = Input({4, 3});
          const Model inner(i, Bidirectional(GRU(2))(i) + Bidirectional(GRU(2))(i));
          return Sequential({inner, Dense(2)});
        },
        {2, 4, 3});
}

}  // namespace
}  // namespace rw
