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
#include <vector>

namespace rw::fuzz {

using Random = std::minstd_rand;

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
  std::string (*mutate)(std::string_view bytes, Random& random);
};

inline size_t below(Random& random, size_t n) { return n < 2 ? 0 : size_t(random()) % n; }

const std::vector<const Target*>& targets();

// Bytes with a few changes: flipped, set, removed, repeated, cut off.
std::string mutate_bytes(std::string_view bytes, Random& random);

}  // namespace rw::fuzz

#define REWIND_FUZZ_TARGET(name, run, mutate)                 \
  const rw::fuzz::Target& rw_fuzz_target_##name() {           \
    static const rw::fuzz::Target target{#name, run, mutate}; \
    return target;                                            \
  }
