// CheckpointManager: which checkpoints stay, what the next manager of the folder knows, intervals.
#include "rewind/saved/checkpoint_manager.h"

#include <gtest/gtest.h>

#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

using train::Checkpoint;
using train::CheckpointManager;

class Managers : public testing::Test {
 protected:
  std::string path(int n) const { return folder / ("run/ckpt-" + std::to_string(n)); }
  std::vector<int> there() const {
    std::vector<int> list;
    for (int n = 1; n < 20; ++n)
      if (saved::checkpoint_exists(path(n))) list.push_back(n);
    return list;
  }
  test::TemporaryFolder folder;
  Variable v{0.0F};
  Checkpoint ckpt{{{"v", v}}};
};

TEST_F(Managers, TheLastFewStay) {
  CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 3});
  EXPECT_EQ(manager.latest_checkpoint(), "");
  EXPECT_EQ(manager.restore_or_initialize(), "");
  for (int i = 1; i <= 5; ++i) {
    v.assign(float(i));
    EXPECT_EQ(manager.save(), path(i));
  }
  EXPECT_EQ(there(), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{path(3), path(4), path(5)}));
  EXPECT_EQ(manager.latest_checkpoint(), path(5));
  ckpt.restore(path(4)).assert_consumed();
  EXPECT_EQ(v.item<float>(), 4);
  const auto state = train::get_checkpoint_state(folder / "run");
  EXPECT_EQ(state->all_model_checkpoint_paths.size(), 3u);
  EXPECT_EQ(state->all_model_checkpoint_timestamps.size(), 3u);
  EXPECT_GT(state->last_preserved_timestamp, 1.6e9);
}

TEST_F(Managers, TheNextOneGoesOn) {
  {
    CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 2});
    for (int i = 1; i <= 3; ++i) {
      v.assign(float(i));
      manager.save();
    }
  }
  const Variable w(0.0F);
  const Checkpoint other({{"v", w}});
  CheckpointManager manager(other, folder / "run", {.max_to_keep = 2});
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{path(2), path(3)}));
  EXPECT_EQ(manager.restore_or_initialize(), path(3));
  EXPECT_EQ(w.item<float>(), 3);
  EXPECT_EQ(manager.save(), path(4));
  EXPECT_EQ(there(), (std::vector<int>{3, 4}));
  // A number of the user's own; the counter goes on beside it.
  EXPECT_EQ(manager.save(15), path(15));
  EXPECT_EQ(other.save_counter().item<int64_t>(), 5);
  EXPECT_EQ(there(), (std::vector<int>{4, 15}));
  // A checkpoint that is saved again is the newest.
  EXPECT_EQ(manager.save(4), path(4));
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{path(15), path(4)}));
}

TEST_F(Managers, SomeStayForHours) {
  const auto edit = [&](double hours_ago, double preserved_hours_ago) {
    auto state = *train::get_checkpoint_state(folder / "run");
    const double now = state.all_model_checkpoint_timestamps.back();
    for (double& t : state.all_model_checkpoint_timestamps) t = now - 3600 * hours_ago;
    state.last_preserved_timestamp = now - 3600 * preserved_hours_ago;
    saved::write_checkpoint_state(folder / "run", state, "test");
  };
  CheckpointManager(ckpt, folder / "run", {.max_to_keep = 1}).save();
  edit(5, 8);
  CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 1, .keep_checkpoint_every_n_hours = 2.5});
  manager.save();  // the first stays: three hours behind the one that stayed before
  manager.save();  // the second goes: now is later, but it is five hours behind only just made
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{path(3)}));
  EXPECT_EQ(there(), (std::vector<int>{1, 2, 3}));  // the second is five hours younger than the first
  manager.save();
  EXPECT_EQ(there(), (std::vector<int>{1, 2, 4}));
}

TEST_F(Managers, Intervals) {
  const Variable step(int64_t(0), {.name = "step"});
  CheckpointManager manager(
      ckpt, folder / "run",
      {.max_to_keep = 9, .checkpoint_name = "c", .step_counter = step, .checkpoint_interval = 3});
  std::vector<std::string> saved;
  for (int i = 0; i < 8; ++i) {
    if (const std::string p = manager.save(); !p.empty()) saved.push_back(std::to_string(i));
    step.assign_add(int64_t(1));
  }
  EXPECT_EQ(saved, (std::vector<std::string>{"0", "3", "6"}));
  EXPECT_NE(manager.save({.check_interval = false}), "");
  EXPECT_EQ(manager.save({.check_interval = false}), "");
  expect_error<InvalidArgumentError>(
      [&] { CheckpointManager(ckpt, folder / "x", {.checkpoint_interval = 3}); }, "needs a step_counter");
  expect_error<InvalidArgumentError>([&] { CheckpointManager(ckpt, folder / "x", {.max_to_keep = 0}); },
                                     "max_to_keep must be positive");
}

TEST_F(Managers, InitFn) {
  CheckpointManager manager(ckpt, folder / "run", {.init_fn = [&] { v.assign(7.0F); }});
  EXPECT_EQ(manager.restore_or_initialize(), "");
  EXPECT_EQ(v.item<float>(), 7);
}

TEST_F(Managers, WithoutWaiting) {
  CheckpointManager manager(ckpt, folder / "run", {.max_to_keep = 2});
  for (int i = 1; i <= 4; ++i) {
    v.assign(float(i));
    EXPECT_EQ(manager.save({.checkpoint = {.asynchronous = true}}), path(i));
    v.assign(100.0F);
  }
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{path(3), path(4)}));
  ckpt.restore(manager.latest_checkpoint()).assert_consumed();
  EXPECT_EQ(v.item<float>(), 4);
}

TEST_F(Managers, DamagedLists) {
  CheckpointManager(ckpt, folder / "run").save();
  for (const char* text : {"model_checkpoint_path: ", "\xff", "a: 3 {", "model_checkpoint_path: 7"}) {
    test::write_bytes(folder / "run/checkpoint", text);
    expect_error<DataLossError>([&] { (void)train::latest_checkpoint(folder / "run"); },
                                "run/checkpoint: damaged");
  }
  test::write_bytes(folder / "run/checkpoint", "");
  EXPECT_EQ(train::latest_checkpoint(folder / "run"), "");
  EXPECT_EQ(train::latest_checkpoint(folder / "none"), "");
  test::write_bytes(folder / "run/checkpoint", "model_checkpoint_path: \"gone-1\"");
  EXPECT_EQ(train::latest_checkpoint(folder / "run"), "");
}

}  // namespace
}  // namespace rw
