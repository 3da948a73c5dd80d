// A record of CIFAR-10's binary version is a label (1 byte) and an image: 32x32 bytes of red, of green, of
// blue.
#include "rewind/data/named.h"

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/data/file.h"
#include "rewind/data/idx.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::data {
namespace {

Tensor idx_of_rank(const std::string& folder, const std::string& name, int rank, const std::string& hint) {
  std::string path = folder + "/" + name;
  if (!std::filesystem::exists(path)) path += ".gz";
  const Tensor t = read_idx(path, hint);
  if (t.rank() != rank || t.dtype() != DType::kUint8)
    throw DataLossError("[read_idx] " + path + " holds " + t.shape().to_string() + " " +
                        std::string(name_of(t.dtype())) + ", expected bytes of rank " + std::to_string(rank) +
                        ": byte 0");
  return t;
}

ImageClasses load_idx(const std::string& folder, const std::string& hint) {
  ImageClasses data{idx_of_rank(folder, "train-images-idx3-ubyte", 3, hint),
                    idx_of_rank(folder, "train-labels-idx1-ubyte", 1, hint),
                    idx_of_rank(folder, "t10k-images-idx3-ubyte", 3, hint),
                    idx_of_rank(folder, "t10k-labels-idx1-ubyte", 1, hint)};
  for (const auto& [images, labels] :
       {std::pair{&data.train_images, &data.train_labels}, std::pair{&data.test_images, &data.test_labels}})
    if (images->dim(0) != labels->dim(0))
      throw DataLossError("[read_idx] " + folder + " holds " + std::to_string(images->dim(0)) +
                          " images and " + std::to_string(labels->dim(0)) + " labels in files of one kind");
  return data;
}

constexpr int64_t kSide = 32, kPlane = kSide * kSide, kRecord = 1 + 3 * kPlane;

void read_cifar(const std::string& path, std::vector<uint8_t>* images, std::vector<uint8_t>* labels) {
  File file(path, "load_cifar10",
            "it belongs to the binary version of CIFAR-10, cifar-10-binary.tar.gz of "
            "cs.toronto.edu/~kriz/cifar.html");
  std::vector<uint8_t> record(kRecord);
  for (int c = file.get(); c >= 0; c = file.get()) {
    if (c > 9) file.fail_damaged("the label " + std::to_string(c) + " is none of 0 to 9", file.offset() - 1);
    labels->push_back(uint8_t(c));
    file.read(record.data(), size_t(3 * kPlane));
    for (int64_t p = 0; p < kPlane; ++p)
      for (int64_t channel = 0; channel < 3; ++channel)
        images->push_back(record[size_t(channel * kPlane + p)]);
  }
}

std::pair<Tensor, Tensor> as_tensors(const std::vector<uint8_t>& images, const std::vector<uint8_t>& labels) {
  const auto n = int64_t(labels.size());
  return {tensor_from_bytes(images.data(), DType::kUint8, {n, kSide, kSide, 3}),
          tensor_from_bytes(labels.data(), DType::kUint8, {n, 1})};
}

}  // namespace

ImageClasses load_fashion_mnist(const std::string& folder) {
  return load_idx(folder, "Fashion-MNIST comes with Debian's package dataset-fashion-mnist");
}
ImageClasses load_mnist(const std::string& folder) {
  return load_idx(folder,
                  "MNIST's files are train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
                  "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz");
}
ImageClasses load_cifar10(const std::string& folder) {
  std::vector<uint8_t> images, labels;
  for (int i = 1; i <= 5; ++i)
    read_cifar(folder + "/data_batch_" + std::to_string(i) + ".bin", &images, &labels);
  ImageClasses data;
  std::tie(data.train_images, data.train_labels) = as_tensors(images, labels);
  images.clear();
  labels.clear();
  read_cifar(folder + "/test_batch.bin", &images, &labels);
  std::tie(data.test_images, data.test_labels) = as_tensors(images, labels);
  return data;
}

}  // namespace rw::data
