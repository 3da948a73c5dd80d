// Tensors to and from tensor bundles.
#pragma once

#include <string>

#include "rewind/format/bundle_writer.h"
#include "rewind/tensor/tensor.h"

namespace rw::saved {

// The tensor must live until the bundle is written. Throws InvalidArgumentError for types without a place in
// files.
format::BundleTensor to_bundle(const std::string& key, const Tensor& value, const char* tag);
// Throws NotFoundError, DataLossError, and InvalidArgumentError for types that tensors here do not have.
Tensor from_bundle(const format::BundleReader& bundle, std::string_view key, const char* tag);

}  // namespace rw::saved
