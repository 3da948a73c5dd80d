#include "rewind/saved/checkpoint_state.h"

#include <sys/stat.h>

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/graph_def_fields.h"
#include "rewind/format/read_file.h"
#include "rewind/format/tensor_bundle.h"
#include "rewind/format/text_format.h"

namespace rw::train {

template <class V, format::MessageOf<CheckpointState> M>
void fields(V& v, M& m) {
  v.field(1, "model_checkpoint_path", m.model_checkpoint_path);
  v.field(2, "all_model_checkpoint_paths", m.all_model_checkpoint_paths);
  v.field(3, "all_model_checkpoint_timestamps", m.all_model_checkpoint_timestamps);
  v.field(4, "last_preserved_timestamp", m.last_preserved_timestamp);
}

namespace {

std::string in_folder(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).string();
}

// The path as the file holds it: relative to the folder where that can be.
std::string from_folder(const std::string& directory, const std::string& path) {
  const std::filesystem::path relative = std::filesystem::path(path).lexically_normal().lexically_relative(
      std::filesystem::path(directory).lexically_normal());
  return relative.empty() ? path : relative.string();
}

}  // namespace

std::optional<CheckpointState> get_checkpoint_state(const std::string& directory,
                                                    const std::string& latest_filename) {
  constexpr const char* kTag = "get_checkpoint_state";
  constexpr uint64_t kMost = uint64_t{64} << 20;
  const std::string path = in_folder(directory, latest_filename);
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return {};
  const format::ReadFile file(path, kTag);
  if (file.size() > kMost)
    file.fail(0, "a list of checkpoints has at most " + std::to_string(kMost) + " bytes, got " +
                     std::to_string(file.size()));
  CheckpointState state;
  try {
    state = format::from_text<CheckpointState>(file.read(0, file.size()));
  } catch (const InvalidArgumentError& e) { file.fail(0, e.what()); }
  if (state.model_checkpoint_path.empty()) return {};
  state.model_checkpoint_path = in_folder(directory, state.model_checkpoint_path);
  for (std::string& p : state.all_model_checkpoint_paths) p = in_folder(directory, p);
  return state;
}

std::string latest_checkpoint(const std::string& directory, const std::string& latest_filename) {
  const auto state = get_checkpoint_state(directory, latest_filename);
  if (!state || !saved::checkpoint_exists(state->model_checkpoint_path)) return {};
  return state->model_checkpoint_path;
}

}  // namespace rw::train

namespace rw::saved {

void write_checkpoint_state(const std::string& directory, const train::CheckpointState& state,
                            const char* tag) {
  train::CheckpointState relative = state;
  relative.model_checkpoint_path = train::from_folder(directory, state.model_checkpoint_path);
  for (std::string& p : relative.all_model_checkpoint_paths) p = train::from_folder(directory, p);
  const std::string path = train::in_folder(directory, "checkpoint");
  if (path == state.model_checkpoint_path)
    fail_invalid(tag, "the name \"checkpoint\" is that of the list of checkpoints: " + path +
                          " cannot be a checkpoint; use another one");
  const std::string text = format::to_text(relative);
  format::AtomicFile file(path, tag);
  file.write(text.data(), text.size());
  file.commit();
}

bool checkpoint_exists(const std::string& path) {
  struct stat info = {};
  return stat(format::bundle_index_path(path).c_str(), &info) == 0;
}

}  // namespace rw::saved
