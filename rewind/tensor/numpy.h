// Tensors in numpy's files, both ways.
//
//   rw::numpy::save("x.npy", x);
//   rw::Tensor x = rw::numpy::load("x.npy");
//   rw::numpy::savez("data.npz", {{"x", x}, {"y", y}});
//   std::map<std::string, rw::Tensor> data = rw::numpy::load_npz("data.npz");
//
// Every type that numpy has is kept; bfloat16 is stored as two bytes ('V2'), as ml_dtypes does. Strings are
// written as bytes ('S'); characters ('U') are read as UTF-8. Both orders of bytes and of axes are read.
// Pickled objects are refused: reading them would run code.
// Files are written whole or not at all: under a temporary name, synced, renamed.
#pragma once

#include <map>
#include <string>

#include "rewind/format/expansion_limit.h"
#include "rewind/tensor/tensor.h"

namespace rw::numpy {

// All throw NotFoundError, and DataLossError with the file's name and the byte for a damaged file.
Tensor load(const std::string& path);
// The arrays by their names, without ".npy". Archives that unpack to more than `limit` allows are refused.
std::map<std::string, Tensor> load_npz(const std::string& path, const format::ExpansionLimit& limit = {});

void save(const std::string& path, const Tensor& array);
void savez(const std::string& path, const std::map<std::string, Tensor>& arrays);
// The same, deflated: smaller and slower.
void savez_compressed(const std::string& path, const std::map<std::string, Tensor>& arrays);

}  // namespace rw::numpy
