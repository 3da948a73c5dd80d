// Tensors to and from tensor bundles.
#pragma once

#include <string>

#include "rewind/format/bundle_writer.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"

namespace rw::saved {

// The tensor must live until the bundle is written. Throws InvalidArgumentError for types without a place in
// files.
format::BundleTensor to_bundle(const std::string& key, const Tensor& value, const char* tag);
// Throws NotFoundError, DataLossError, and InvalidArgumentError for types that tensors here do not have.
Tensor from_bundle(const format::BundleReader& bundle, std::string_view key, const char* tag);
// The elements of a tensor of numbers, by several threads.
void read_elements(const format::BundleReader& bundle, std::string_view key, void* to);
// Fills a variable whose value is large and nobody else's without memory beside it, after a look at the
// checksum; false, with nothing done, for other variables. Throws DataLossError before anything is changed.
bool read_in_place(const format::BundleReader& bundle, std::string_view key, const Variable& variable);

}  // namespace rw::saved
