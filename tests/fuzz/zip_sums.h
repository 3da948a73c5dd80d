// The checksums of an archive's files, made right again, so that mutations reach what lies behind them.
#pragma once

#include <string>

namespace rw::fuzz {

// In the directory, of stored and deflated files that can be unpacked; sizes of stored files stay as they
// are.
void fix_zip_sums(std::string* archive);

}  // namespace rw::fuzz
