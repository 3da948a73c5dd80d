// The file "checkpoint" of a folder, which says what checkpoints it has: TensorFlow's CheckpointState as
// text.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rw::train {

struct CheckpointState {
  std::string model_checkpoint_path;  // the latest
  std::vector<std::string> all_model_checkpoint_paths;
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since 1970
  double last_preserved_timestamp = 0;
};

// What the file says, with the folder in front of relative paths; unset if there is none. Throws
// DataLossError for one that cannot be read.
std::optional<CheckpointState> get_checkpoint_state(const std::string& directory,
                                                    const std::string& latest_filename = "checkpoint");
// The path of the latest checkpoint of a folder; empty if there is none.
std::string latest_checkpoint(const std::string& directory,
                              const std::string& latest_filename = "checkpoint");

}  // namespace rw::train

namespace rw::saved {

// Writes the file, whole or not at all; paths become relative to the folder. `tag` is the function that the
// user called.
void write_checkpoint_state(const std::string& directory, const train::CheckpointState& state,
                            const char* tag);
// Whether a checkpoint with this path is there.
bool checkpoint_exists(const std::string& path);

}  // namespace rw::saved
