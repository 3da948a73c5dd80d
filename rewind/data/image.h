// Images: PNG and JPEG files as tensors, and folders of them as labelled datasets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewind/data/dataset.h"
#include "rewind/format/expansion_limit.h"

namespace rw::data {

// One color compresses by Deflate to a thousandth, and by Huffman's codes of JPEG as well.
inline constexpr format::ExpansionLimit kImageLimit{.always = uint64_t{64} << 20, .ratio = 1100};

// (height, width, channels) uint8. channels: 0 as the file has them (1 to 4), or 1, 3, 4. Throws
// DataLossError naming `name` and the byte for what is no whole PNG or JPEG.
// The limit is for what the file says that the image has of bytes: a few hundred can stand for a whole wall.
Tensor decode_image(std::string_view bytes, int channels = 0, const std::string& name = "the image",
                    const format::ExpansionLimit& limit = kImageLimit);
Tensor read_image(const std::string& path, int channels = 0,
                  const format::ExpansionLimit& limit = kImageLimit);

struct ImageFolderOptions {
  std::string label_mode = "int";  // int: int32; binary: float32 (n, 1); categorical: one-hot float32
  std::vector<std::string> class_names = {};  // the order of the labels; without: sorted folder names
  std::string color_mode = "rgb";             // rgb, grayscale or rgba
  int64_t batch_size = 32;                    // 0: no batches
  std::pair<int64_t, int64_t> image_size = {256, 256};  // height, width
  bool shuffle = true;
  std::optional<int64_t> seed = {};
  double validation_split = 0;
  std::string subset = {};  // training or validation, with a split
  std::string interpolation = "bilinear";
};

struct ImageFolder {
  DatasetOf<std::tuple<Tensor, Tensor>> dataset;  // float32 images in [0, 255], and labels
  std::vector<std::string> class_names;
  std::vector<std::string> file_paths;
};

// A folder with a folder of images for every class, as keras.utils.image_dataset_from_directory takes it.
// Images are read and resized as they are asked for.
ImageFolder image_dataset_from_directory(const std::string& directory,
                                         const ImageFolderOptions& options = {});

}  // namespace rw::data
