// Datasets by name, whole and in memory, with the shapes and types that keras.datasets gives.
#pragma once

#include <string>

#include "rewind/tensor/tensor.h"

namespace rw::data {

struct ImageClasses {
  Tensor train_images, train_labels, test_images, test_labels;  // uint8
};

// Images (60000, 28, 28) and (10000, 28, 28), labels (60000,) and (10000,). The files of Debian's package
// dataset-fashion-mnist lie in the default folder.
ImageClasses load_fashion_mnist(const std::string& folder = "/usr/share/datasets/fashion-mnist");
// The same shapes. The folder holds train-images-idx3-ubyte and its three companions, plain or with .gz.
ImageClasses load_mnist(const std::string& folder);
// Images (50000, 32, 32, 3) and (10000, 32, 32, 3), labels (50000, 1) and (10000, 1). The folder holds the
// binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin.
ImageClasses load_cifar10(const std::string& folder);

}  // namespace rw::data
