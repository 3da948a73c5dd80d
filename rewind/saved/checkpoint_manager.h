// CheckpointManager: keeps the last few checkpoints of a folder, as tf.train.CheckpointManager does.
//
//   rw::train::CheckpointManager manager(ckpt, "run", {.max_to_keep = 3});
//   manager.restore_or_initialize();
//   manager.save();
//
// Its list of checkpoints is in the file "checkpoint" of the folder, in TensorFlow's text format, and goes on
// in the next process. One manager at a time is used in a folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rewind/saved/checkpoint.h"
#include "rewind/saved/checkpoint_state.h"

namespace rw::train {

struct CheckpointManagerOptions {
  std::optional<int64_t> max_to_keep = {};  // unset: all
  // A checkpoint that would be deleted stays if the last that stayed so is as many hours older.
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::string checkpoint_name = "ckpt";
  // Saves are left out until the counter is so far ahead of the last one.
  Variable step_counter = {};
  std::optional<int64_t> checkpoint_interval = {};
  // Called by restore_or_initialize() if there is no checkpoint.
  std::function<void()> init_fn = {};
  std::optional<int64_t> last_checkpoint_step = {};
};

struct ManagerSaveOptions {
  std::optional<int64_t> checkpoint_number = {};  // unset: the checkpoint's save_counter
  bool check_interval = true;
  CheckpointOptions checkpoint = {};
};

class CheckpointManager {
 public:
  // Makes the folder when it saves first.
  CheckpointManager(Checkpoint checkpoint, std::string directory,
                    const CheckpointManagerOptions& options = {});
  ~CheckpointManager();
  CheckpointManager(CheckpointManager&&) noexcept;

  // The path of the new checkpoint; empty if the interval is not over.
  std::string save(const ManagerSaveOptions& options = {});
  std::string save(int64_t checkpoint_number) { return save({.checkpoint_number = checkpoint_number}); }
  // Restores the latest checkpoint and returns its path; without one calls init_fn and returns an empty path.
  std::string restore_or_initialize();

  // Paths; the latest is empty if there is none.
  std::string latest_checkpoint() const;
  std::vector<std::string> checkpoints() const;  // from the oldest to the newest, without those that stay
  const std::string& directory() const;
  const Checkpoint& checkpoint() const;
  std::optional<int64_t> checkpoint_interval() const;
  // Waits for asynchronous saving.
  void sync() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace rw::train
