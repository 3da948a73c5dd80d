// The main function of the test programs.
#include <gtest/gtest.h>

#include "rewind/graph/verify_passes.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rw::set_verify_passes(true);  // in release builds too
  return RUN_ALL_TESTS();
}
