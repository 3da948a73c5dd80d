// What a fuzz target is. A file of this folder, <name>_fuzz.cc, defines one:
//
//   REWIND_FUZZ_TARGET(name, run, mutate)
//
// run(bytes) reads hostile bytes: it returns, or it is a defect. mutate(bytes, random) makes other bytes of
// them that reach deeper than flipped bits do, below checksums and lengths. With libFuzzer (run.sh) a file is
// a program of its own; otherwise all of them are linked into corpus_test, which runs the corpora and a
// number of mutations of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace rw::fuzz {

using Random = std::minstd_rand;

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
  std::string (*mutate)(std::string_view bytes, Random& random);
};

inline size_t below(Random& random, size_t n) { return n < 2 ? 0 : size_t(random()) % n; }

// Bytes with a few changes: flipped, set, removed, repeated, cut off.
std::string mutate_bytes(std::string_view bytes, Random& random);

}  // namespace rw::fuzz

#ifdef REWIND_LIBFUZZER
#define REWIND_FUZZ_TARGET(name, run, mutate)                                                             \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {                               \
    run({reinterpret_cast<const char*>(data), size});                                                     \
    return 0;                                                                                             \
  }                                                                                                       \
  extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);                        \
  extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) { \
    rw::fuzz::Random random(seed);                                                                        \
    if (rw::fuzz::below(random, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);                   \
    const std::string bytes = mutate({reinterpret_cast<const char*>(data), size}, random);                \
    if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);                           \
    bytes.copy(reinterpret_cast<char*>(data), bytes.size());                                              \
    return bytes.size();                                                                                  \
  }
#else
#define REWIND_FUZZ_TARGET(name, run, mutate)                 \
  const rw::fuzz::Target& rw_fuzz_target_##name() {           \
    static const rw::fuzz::Target target{#name, run, mutate}; \
    return target;                                            \
  }
#endif
