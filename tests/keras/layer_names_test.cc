// Layers have the names they have in Keras, with and without `layers`.
#include <gtest/gtest.h>

#include <type_traits>

#include "rewind/keras/keras.h"

namespace rw {
namespace {

static_assert(std::is_same_v<keras::layers::Dense, keras::Dense>);
static_assert(std::is_same_v<keras::layers::Conv2D, keras::Conv2D>);
static_assert(std::is_same_v<keras::layers::LSTM, keras::LSTM>);
static_assert(std::is_same_v<keras::layers::Layer, keras::Layer>);
static_assert(std::is_same_v<keras::layers::Activation, keras::ActivationLayer>);

TEST(LayerNames, AreKeras) {
  const keras::KerasTensor x = keras::layers::Input({4});
  keras::Model model(x, keras::layers::Dense(3, {.name = "last"})(keras::layers::Activation("relu")(x)));
  EXPECT_EQ(model.get_layer("last")->trainable_variables().size(), 2u);
}

}  // namespace
}  // namespace rw
