#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/data/image.h"
#include "rewind/tensor/ops/conv.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::data {
namespace {

namespace fs = std::filesystem;
constexpr char kTag[] = "image_dataset_from_directory";

bool is_image(const fs::path& path) {
  const std::string e = ascii::to_lower(path.extension().string());
  return e == ".png" || e == ".jpg" || e == ".jpeg";
}

struct Found {
  std::vector<std::string> classes, paths;
  std::vector<int32_t> labels;
};

// Reading a file gives what the options say: nobody need read one to learn it.
class ImagesNode final : public PassNode {
 public:
  ImagesNode(Ref<Node> input, Specs specs) : PassNode(std::move(input)), known_(std::move(specs)) {}
  const char* name() const override { return input_->name(); }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor> cursor() const override { return input_->cursor(); }

 protected:
  Specs find_specs() const override { return known_; }

 private:
  const Specs known_;
};

Found find_files(const std::string& directory, const std::vector<std::string>& wanted) {
  if (!fs::is_directory(directory)) fail_not_found(kTag, directory + " is no folder");
  Found found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_directory()) found.classes.push_back(entry.path().filename().string());
  std::sort(found.classes.begin(), found.classes.end());
  if (!wanted.empty()) {
    std::vector<std::string> sorted = wanted;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != found.classes)
      fail_invalid(kTag, "class_names must name the folders in " + directory + ": got " +
                             std::to_string(wanted.size()) + " names for " +
                             std::to_string(found.classes.size()) + " folders, or other ones");
    found.classes = wanted;
  }
  for (size_t i = 0; i < found.classes.size(); ++i) {
    std::vector<std::string> here;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(directory) / found.classes[i]))
      if (entry.is_regular_file() && is_image(entry.path())) here.push_back(entry.path().string());
    std::sort(here.begin(), here.end());
    found.paths.insert(found.paths.end(), here.begin(), here.end());
    found.labels.resize(found.paths.size(), int32_t(i));
  }
  if (found.paths.empty()) fail_not_found(kTag, "no PNG or JPEG file in the folders of " + directory);
  return found;
}

// The first part of the files is for training, the last for validation.
void cut(Found& found, double split, const std::string& subset) {
  if (split == 0 && subset.empty()) return;
  if (split <= 0 || split >= 1)
    fail_invalid(kTag, "validation_split must be between 0 and 1: got " + number_text(split));
  if (subset != "training" && subset != "validation")
    fail_invalid(kTag, "subset must be training or validation: got '" + subset + "'");
  const auto held = int64_t(split * double(found.paths.size()));
  const int64_t at = int64_t(found.paths.size()) - held;
  const bool training = subset == "training";
  auto keep = [&](auto& list) {
    if (training) list.resize(size_t(at));
    else list.erase(list.begin(), list.begin() + at);
  };
  keep(found.paths);
  keep(found.labels);
}

Tensor label_tensor(const std::vector<int32_t>& labels, size_t classes, const std::string& mode) {
  const Tensor numbers = constant(labels);
  if (mode == "int") return numbers;
  if (mode == "binary") {
    if (classes != 2)
      fail_invalid(kTag, "label_mode binary needs two classes: there are " + std::to_string(classes));
    return expand_dims(cast(numbers, DType::kFloat32), 1);
  }
  if (mode == "categorical") {
    std::vector<float> hot(labels.size() * classes, 0.0f);
    for (size_t i = 0; i < labels.size(); ++i) hot[i * classes + size_t(labels[i])] = 1;
    return constant(hot, Shape{int64_t(labels.size()), int64_t(classes)});
  }
  fail_invalid(kTag, "label_mode must be int, binary or categorical: got '" + mode + "'");
}

}  // namespace

ImageFolder image_dataset_from_directory(const std::string& directory, const ImageFolderOptions& options) {
  const std::map<std::string, int> modes{{"grayscale", 1}, {"rgb", 3}, {"rgba", 4}};
  const auto mode = modes.find(options.color_mode);
  if (mode == modes.end())
    fail_invalid(kTag, "color_mode must be rgb, grayscale or rgba: got '" + options.color_mode + "'");
  const auto [height, width] = options.image_size;
  if (height < 1 || width < 1) fail_invalid(kTag, "image_size must be positive");
  Found found = find_files(directory, options.class_names);
  if (options.shuffle && options.validation_split > 0) {
    if (!options.seed)
      fail_invalid(kTag, "a validation_split of shuffled files needs a seed, the same for both subsets");
    // One order for both subsets, so that they have no file in common.
    std::mt19937_64 words{uint64_t(*options.seed)};
    for (size_t i = found.paths.size(); i > 1; --i) {
      const size_t j = size_t(words() % i);
      std::swap(found.paths[i - 1], found.paths[j]);
      std::swap(found.labels[i - 1], found.labels[j]);
    }
  }
  cut(found, options.validation_split, options.subset);
  const Tensor labels = label_tensor(found.labels, found.classes.size(), options.label_mode);
  auto files = Dataset::from_tensor_slices(std::tuple{constant(found.paths), labels});
  if (options.shuffle) files = files.shuffle(int64_t(found.paths.size()), {.seed = options.seed});
  const int channels = mode->second;
  const image::ResizeOptions resize{.method = options.interpolation};
  auto images = files.map(
      [=, h = height, w = width](const Tensor& path, const Tensor& label) {
        const Tensor image = read_image(path.item<std::string>(), channels);
        return std::tuple{cast(image::resize(image, {h, w}, resize), DType::kFloat32), label};
      },
      {.num_parallel_calls = kAutotune});
  const Shape image_shape{height, width, int64_t(channels)};
  Shape label_shape = labels.shape();
  label_shape.erase(0);
  const Specs specs{{DType::kFloat32, image_shape, image_shape}, {labels.dtype(), label_shape, label_shape}};
  images = {
      make_dataset({images.made()}, {}, [=](auto in, auto) { return new_node<ImagesNode>(in[0], specs); }),
      images.form()};
  if (options.batch_size > 0) images = images.batch(options.batch_size);
  return {images.prefetch(), found.classes, found.paths};
}

}  // namespace rw::data
