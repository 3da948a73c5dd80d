// Compares the programs that are linked in. Exits with 1 if any differs.
#include <iostream>

#include "rewind/graph/verify_passes.h"
#include "tests/autograph/check.h"

int main() {
  rw::set_verify_passes(true);
  int different = 0;
  for (const auto& [name, ways] : rw::autograph_test::programs()) {
    std::cerr << "running " << name << "\n";  // the last one of a crash
    const std::string text = rw::autograph_test::differences(ways);
    if (text.empty()) continue;
    ++different;
    std::cout << "DIFFERS " << name << "\n" << text << std::flush;
  }
  return different != 0;
}
