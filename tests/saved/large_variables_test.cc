// Variables that are large enough to be read in place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rewind/rewind.h"

namespace rw {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 9, kColumns = 1 << 20;  // 36 MiB

struct LargeVariables : testing::Test {
  std::string folder = (fs::temp_directory_path() / "large-XXXXXX").string();
  Variable v{zeros({kRows, kColumns}), {.name = "v"}};
  train::Checkpoint checkpoint{{{"v", v}}};
  LargeVariables() {
    EXPECT_TRUE(mkdtemp(folder.data()));
    v.assign(reshape(range(0.0f, float(kRows)), {kRows, 1}) + zeros({1, kColumns}));
    checkpoint.write(folder + "/large");
  }
  ~LargeVariables() override { fs::remove_all(folder); }
  float at(const Tensor& t, int64_t row) const { return t.data<float>()[row * kColumns + 5]; }
};

TEST_F(LargeVariables, AreReadIntoTheirMemory) {
  v.assign(v * 0.0f);
  const int64_t before = memory::stats("CPU:0").current;
  memory::reset_peak("CPU:0");
  checkpoint.read(folder + "/large").assert_consumed();
  EXPECT_LT(memory::stats("CPU:0").peak - before, int64_t(1) << 20);
  for (int64_t row = 0; row < kRows; ++row) EXPECT_EQ(at(v.value(), row), float(row));
}

TEST_F(LargeVariables, LeaveWhatOthersHold) {
  v.assign(v + 100.0f);
  const Tensor held = v.value();
  checkpoint.read(folder + "/large").assert_consumed();
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(at(held, row), float(row) + 100.0f);
    EXPECT_EQ(at(v.value(), row), float(row));
  }
}

// The checksum is looked at before anything is changed.
TEST_F(LargeVariables, KeepTheirValueWhenTheFileIsDamaged) {
  v.assign(v + 100.0f);
  const std::string path = folder + "/large.data-00000-of-00001";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(int64_t(fs::file_size(path)) - 5000);
  file.put('\x55');
  file.close();
  EXPECT_THROW(checkpoint.read(folder + "/large").expect_partial(), DataLossError);
  for (int64_t row = 0; row < kRows; ++row) EXPECT_EQ(at(v.value(), row), float(row) + 100.0f);
}

struct Halves : Module {
  Variable used{ones({2}), {.name = "used"}}, unused{fill({1 << 21}, 3.0f), {.name = "unused"}};
  Tensor forward(const Tensor& x) { return x * used; }
  Function<Tensor(const Tensor&)> call{this, &Halves::forward, {.input_signature = {{TensorSpec{{2}}}}}};
  RW_TRACK(used, unused, call)
};

// Of a SavedModel, what no function uses is read when it is asked for.
TEST(LoadedVariables, AreReadWhenTheyAreNeeded) {
  std::string folder = (fs::temp_directory_path() / "halves-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  saved_model::save(Halves(), folder);
  const int64_t before = memory::stats("CPU:0").current;
  const auto model = saved_model::load(folder);
  EXPECT_LT(memory::stats("CPU:0").current - before, int64_t(4) << 20);
  fs::remove_all(folder);  // its files are open
  EXPECT_EQ(model(fill({2}, 2.0f)).to_vector<float>(), (std::vector<float>{2, 2}));
  const Variable unused = model.variable("unused");
  EXPECT_EQ(unused.value().data<float>()[12345], 3.0f);
  EXPECT_TRUE(same_variable(unused, model.variables()[1]));
  EXPECT_EQ(model.variables().size(), 2U);
}

TEST(LoadedVariables, AreCheckedWhenTheyAreRead) {
  std::string folder = (fs::temp_directory_path() / "halves-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  saved_model::save(Halves(), folder);
  const std::string path = folder + "/variables/variables.data-00000-of-00001";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(int64_t(fs::file_size(path)) / 2);
  file.put('\x55');
  file.close();
  const auto model = saved_model::load(folder);
  EXPECT_EQ(model(fill({2}, 2.0f)).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_THROW((void)model.variable("unused"), DataLossError);
  EXPECT_THROW((void)model.variables(), DataLossError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rw
