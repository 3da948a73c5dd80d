// The checksums of HDF5's newer structures, made right again, so that mutations reach what lies behind them.
#pragma once

#include <string>

namespace rw::fuzz {

// Of what can be reached from the root, some rounds deep.
void fix_hdf5_sums(std::string* file);

}  // namespace rw::fuzz
