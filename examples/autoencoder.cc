// An autoencoder: 784 pixels of Fashion-MNIST through 32 numbers and back. Encoder and decoder are models of
// their own that share layers with the whole. Draws test images above what came back.
//   autoencoder [epochs] [seed]
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "rewind/data/named.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace keras = rw::keras;
using rw::Tensor;

namespace {

void draw(const Tensor& originals, const Tensor& returned, const char* svg) {
  std::ofstream out(svg);
  const int64_t count = originals.dim(0);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << count * 30 << " 60\" "
      << "shape-rendering=\"crispEdges\"><rect width=\"100%\" height=\"100%\" fill=\"#222\"/>\n";
  for (int row = 0; row < 2; ++row) {
    const auto pixels = (row == 0 ? originals : returned).to_vector<float>();
    for (size_t i = 0; i < pixels.size(); ++i) {
      const int level = int(pixels[i] * 255 + 0.5f);
      if (level < 8) continue;
      char text[96];
      std::snprintf(text, sizeof(text), "<path fill=\"#%02x%02x%02x\" d=\"M%zu %zuh1v1h-1\"/>", level, level,
                    level, 1 + i / 784 * 30 + i % 28, 1 + size_t(row) * 30 + i % 784 / 28);
      out << text;
    }
    out << "\n";
  }
  out << "</svg>\n";
}

int train(int epochs) {
  const auto data = rw::data::load_fashion_mnist();
  const Tensor images = rw::reshape(rw::cast(data.train_images, rw::float32) / 255.f, {-1, 784});
  const Tensor test = rw::reshape(rw::cast(data.test_images, rw::float32) / 255.f, {-1, 784});

  const auto image = keras::Input({784}, {.name = "image"});
  const auto code = keras::Dense(32, {.name = "code"})(keras::Dense(128, {.activation = "relu"})(image));
  const keras::Dense widen(128, {.activation = "relu"}), pixels(784, {.activation = "sigmoid"});
  keras::Model whole(image, pixels(widen(code)), {.name = "autoencoder"});
  const keras::Model encoder(image, code, {.name = "encoder"});
  const auto numbers = keras::Input({32}, {.name = "numbers"});
  const keras::Model decoder(numbers, pixels(widen(numbers)), {.name = "decoder"});

  whole.summary();
  whole.compile({.optimizer = keras::Adam(), .loss = "mean_squared_error"});
  whole.fit(images, images, {.batch_size = 256, .epochs = epochs, .validation_data = {{test, test}}});

  const Tensor some = test(rw::Slice(0, 16));
  const Tensor back = decoder(encoder(some));
  std::printf("mean squared error of %d test images through 32 numbers: %.4f (drawn in autoencoder.svg)\n",
              16, double(rw::reduce_mean(rw::square(back - some)).item<float>()));
  draw(some, back, "autoencoder.svg");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rw::random::set_seed(argc > 2 ? std::atoi(argv[2]) : 1);
    return train(argc > 1 ? std::atoi(argv[1]) : 10);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
