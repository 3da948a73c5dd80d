// The corpora of the fuzz targets, and some mutations of each of their files, without libFuzzer: what was
// found once is not found again. Each input takes little time and memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "tests/fuzz/fuzz.h"
#include "tests/support/temporary_folder.h"

namespace rw::fuzz {
namespace {

namespace fs = std::filesystem;

// Of the whole process, so far.
int64_t peak_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) << 10;
}

class Corpus : public testing::TestWithParam<const Target*> {
 protected:
  static constexpr int64_t kMostBytes = int64_t{512} << 20;
  static constexpr std::chrono::seconds kLongest{20};

  void run(std::string_view bytes) {
    const auto begin = std::chrono::steady_clock::now();
    const int64_t before = peak_bytes();
    target_.run(bytes);
    const auto time = std::chrono::steady_clock::now() - begin;
    const int64_t grown = peak_bytes() - before;
    if (time > kLongest || grown > kMostBytes) {
      const std::string path = "fuzz-" + std::string(target_.name) + "-slow-or-large";
      test::write_bytes(path, std::string(bytes));
      ADD_FAILURE() << std::chrono::duration<double>(time).count() << " s, " << grown << " bytes: see "
                    << path;
    }
  }

  std::vector<std::string> seeds() const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(REWIND_FUZZ_CORPUS) / target_.name))
      paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  const Target& target_ = *GetParam();
};

TEST_P(Corpus, IsReadOrRefused) {
  const std::vector<std::string> seeds = this->seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) {
    SCOPED_TRACE(seed);
    run(test::read_bytes(seed));
  }
  // A second or two of each.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  Random random(7);
  for (int round = 0; round < 200; ++round)
    for (const std::string& seed : seeds) {
      if (std::chrono::steady_clock::now() > end) return;
      SCOPED_TRACE(seed + ", mutation " + std::to_string(round));
      std::string bytes = test::read_bytes(seed);
      for (size_t k = 1 + below(random, 3); k > 0; --k) bytes = target_.mutate(bytes, random);
      run(bytes);
    }
}

// At every length where the file is small, and at some thousand otherwise.
TEST_P(Corpus, CutOffAnywhere) {
  for (const std::string& seed : seeds()) {
    const std::string whole = test::read_bytes(seed);
    const size_t step = 1 + whole.size() / 1000;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    for (size_t size = 0; size < whole.size(); size += step) {
      if (std::chrono::steady_clock::now() > end) break;  // with sanitizers
      SCOPED_TRACE(seed + ", " + std::to_string(size) + " bytes");
      run(std::string_view(whole).substr(0, size));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(targets()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace rw::fuzz
