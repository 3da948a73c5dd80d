// Files that are cut short or have bits flipped: an error that names the file, or what the rest says, and
// never a crash. Every file of a SavedModel and of a checkpoint is damaged in many ways, of all its regions.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "rewind/rewind.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int errors = 0, accepted = 0;
  std::chrono::milliseconds longest{0};
};

// `name` is what every error says.
void attempt(const std::function<void()>& read, const std::string& name, Counts* counts) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    read();
    ++counts->accepted;
  } catch (const Error& e) {
    ++counts->errors;
    EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
  }
  counts->longest = std::max(counts->longest, std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  std::chrono::steady_clock::now() - begin));
}

// Damages the file in every way and reads it each time; it is whole again at the end.
Counts damage(const std::string& file, const std::function<void()>& read, const std::string& name,
              int flips) {
  const std::string whole = test::read_bytes(file);
  const auto put = [&](const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; };
  Counts counts;
  const size_t stride = std::max<size_t>(1, whole.size() / 200);
  for (size_t size = 0; size < whole.size(); size += stride) {
    put(whole.substr(0, size));
    attempt(read, name, &counts);
  }
  std::mt19937 random(7);
  for (int i = 0; i < flips; ++i) {
    std::string bytes = whole;
    for (int k = i % 3; k >= 0; --k) bytes[random() % bytes.size()] ^= char(1U << (random() % 8));
    if (i % 5 == 4) bytes.erase(random() % bytes.size(), 1 + random() % 16);
    put(bytes);
    attempt(read, name, &counts);
  }
  put(whole);
  return counts;
}

void copy_golden(const std::string& name, const std::string& to) {
  std::string path = test::golden_path("saved_model/" + name);
  path.resize(path.size() - std::string(".bin").size());
  fs::copy(path, to, fs::copy_options::recursive);
}

void use(const saved_model::LoadedModel& m) {
  for (const auto& [key, signature] : m.signatures()) (void)signature.concrete_function();
  for (const std::string& f : m.function_names()) {
    (void)m.function(f).traces();
    (void)m.function(f).concrete_functions();
  }
}

class DamagedModel : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(DamagedModel, IsAnErrorOrAnotherModel) {
  const auto& [model, file] = GetParam();
  const test::TemporaryFolder folder;
  copy_golden(model, folder / "m");
  testing::internal::CaptureStderr();
  const Counts counts = damage(
      folder / "m/" + file,
      [&] {
        const auto loaded = saved_model::load(folder / "m");
        try {
          use(loaded);
        } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): functions name themselves
      },
      folder / "m", 300);
  testing::internal::GetCapturedStderr();
  EXPECT_GT(counts.errors, 100);
  EXPECT_LT(counts.longest.count(), 3000);
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedModel,
                         testing::Values(std::tuple("kinds", "saved_model.pb"),
                                         std::tuple("kinds", "variables/variables.index"),
                                         std::tuple("kinds", "variables/variables.data-00000-of-00001"),
                                         std::tuple("session", "saved_model.pb"),
                                         std::tuple("session", "variables/variables.index")));

TEST(DamagedCheckpoint, IsAnErrorOrTheSameValues) {
  const test::TemporaryFolder folder;
  const Variable a(fill({300}, 1.0f), {.name = "a"}), b(fill({7}, 2), {.name = "b"});
  const Variable text(constant({"x", "yy", ""}), {.name = "text"});
  const train::Checkpoint ckpt({{"a", a}, {"b", b}, {"text", text}});
  const std::string path = ckpt.save(folder / "run/ckpt");
  // Checksums cover everything but the padding of the index.
  for (const char* file : {".index", ".data-00000-of-00001"}) {
    const Counts counts = damage(
        path + file,
        [&] {
          a.assign(fill({300}, 5.0f));
          b.assign(fill({7}, 5));
          ckpt.restore(path);
          EXPECT_EQ(a.to_vector<float>(), std::vector<float>(300, 1));
          EXPECT_EQ(b.to_vector<int32_t>(), std::vector<int32_t>(7, 2));
          EXPECT_EQ(text.value().to_vector<std::string>(), (std::vector<std::string>{"x", "yy", ""}));
        },
        folder / "run/ckpt-1", 300);
    EXPECT_LT(counts.accepted, file[1] == 'i' ? 40 : 1) << file;
    ckpt.restore(path).assert_consumed();
  }
}

TEST(DamagedCheckpoint, TheStateFileIsAnErrorOrAnotherList) {
  const test::TemporaryFolder folder;
  const Variable a(1.0f);
  const train::Checkpoint ckpt({{"a", a}});
  train::CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 2});
  for (int i = 0; i < 3; ++i) manager.save();
  const Counts counts = damage(
      folder / "run/checkpoint",
      [&] {
        const auto state = train::get_checkpoint_state(folder / "run");
        const std::string latest = train::latest_checkpoint(folder / "run");
        if (!latest.empty()) (void)train::list_variables(latest);
      },
      folder / "run", 300);
  EXPECT_GT(counts.errors, 100);
  EXPECT_EQ(train::latest_checkpoint(folder / "run"), folder / "run/ckpt-3");
}

}  // namespace
}  // namespace rw
