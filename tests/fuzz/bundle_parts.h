// Mutations of tensor bundles as what they are: keys, entries, tensors, and the object graph among them.
#pragma once

#include <string>

#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {

// The index and the only data file. What is no bundle changes as bytes do.
void mutate_bundle(std::string* index, std::string* data, Random& random);

}  // namespace rw::fuzz
