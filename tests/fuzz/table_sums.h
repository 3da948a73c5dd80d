// The checksums of tables and of the tensors in a bundle, made right again, so that mutations reach what lies
// behind them. Reads what it can follow and leaves the rest as it is.
#pragma once

#include <string>

namespace rw::fuzz {

// Of every block that the index leads to. With `data`, the entries' own checksums of their bytes in it too.
void fix_table_sums(std::string* table, const std::string* data = nullptr);

}  // namespace rw::fuzz
