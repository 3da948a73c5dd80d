// Reads the IDX files of MNIST and Fashion-MNIST, plain or gzipped.
#pragma once

#include <string>

#include "rewind/rewind.h"

// (count, 784) float32 in [0, 1]. Throws with the file's name when it is missing or not what it should be.
rw::Tensor read_idx_images(const std::string& path);
// (count,) int64.
rw::Tensor read_idx_labels(const std::string& path);
