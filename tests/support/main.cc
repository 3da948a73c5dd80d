// The main function of the test programs. With REWIND_TEST_LOCALE they run under that locale, as a program of
// its language does: of C, of C++, and of standard output.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <iostream>
#include <locale>

#include "rewind/graph/verify_passes.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rw::set_verify_passes(true);  // in release builds too
  if (const char* name = std::getenv("REWIND_TEST_LOCALE")) {
    if (!std::setlocale(LC_ALL, name)) {
      std::cerr << "no locale " << name << "\n";
      return 1;
    }
    std::locale::global(std::locale(name));
    std::cout.imbue(std::locale());
  }
  return RUN_ALL_TESTS();
}
