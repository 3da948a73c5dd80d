// The main function of the test programs. Several of them run side by side, each with a thread per core, and
// threads of libgomp wait for each other by spinning for some milliseconds, which is the time of those they
// wait for. Its bound on that is read when the process starts, so the program starts once more with a small
// one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  if (!std::getenv("GOMP_SPINCOUNT")) {
    setenv("GOMP_SPINCOUNT", "500", 1);
    execv("/proc/self/exe", argv);  // returns only if it failed; then it is as it was
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
