// libFuzzer's side of the targets: the first argument is the name of one, the others are libFuzzer's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/fuzz.h"

namespace {
const rw::fuzz::Target* chosen = nullptr;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (const rw::fuzz::Target* target : rw::fuzz::targets())
    if (*argc > 1 && std::strcmp((*argv)[1], target->name) == 0) chosen = target;
  if (!chosen) {
    std::fputs("usage: rewind_fuzz TARGET [libFuzzer's options] CORPUS...\ntargets:", stderr);
    for (const rw::fuzz::Target* target : rw::fuzz::targets()) std::fprintf(stderr, " %s", target->name);
    std::fputs("\n", stderr);
    std::exit(2);
  }
  std::rotate(*argv + 1, *argv + 2, *argv + *argc);
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  rw::fuzz::Random random(seed);
  if (rw::fuzz::below(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string bytes = chosen->mutate({reinterpret_cast<const char*>(data), size}, random);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(reinterpret_cast<char*>(data), bytes.size());
  return bytes.size();
}
