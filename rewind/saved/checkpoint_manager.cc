#include "rewind/saved/checkpoint_manager.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "rewind/base/error.h"
#include "rewind/format/bundle_writer.h"
#include "rewind/saved/checkpoint_object.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::train {
namespace {

constexpr const char* kManagerTag = "CheckpointManager";

// Seconds since 1970.
double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Whether the path lies below the folder, by their names. The list of checkpoints is a file like others: what
// it names elsewhere is not the manager's to delete.
bool is_below(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path relative =
      fs::path(path).lexically_normal().lexically_relative((fs::path(folder) / "").lexically_normal());
  return !relative.empty() && *relative.begin() != ".." && *relative.begin() != ".";
}

}  // namespace

struct CheckpointManager::State {
  struct Kept {
    std::string path;
    double time;
  };
  State(Checkpoint of, std::string folder, const CheckpointManagerOptions& o)
      : checkpoint(std::move(of)),
        directory(std::move(folder)),
        options(o),
        last_step(o.last_checkpoint_step) {}

  const Checkpoint checkpoint;
  const std::string directory;
  const CheckpointManagerOptions options;
  std::optional<int64_t> last_step;

  mutable std::mutex mutex;  // guards what follows: a thread of the checkpoint's own may write
  std::string latest;
  double last_preserved = 0;
  std::vector<Kept> kept;  // that may be deleted, from the oldest to the newest

  int64_t step() const { return cast(options.step_counter, DType::kInt64).item<int64_t>(); }
  void recover();
  bool is_due(bool check_interval);
  void add(const std::string& path);
  void sweep();
  void record() const;
};

void CheckpointManager::State::recover() {
  const double time = now();
  const auto state = get_checkpoint_state(directory);
  // A little back, for managers that are made in quick succession.
  last_preserved = time - 1;
  if (!state) return;
  latest = state->model_checkpoint_path;
  last_preserved = std::min(state->last_preserved_timestamp, time);
  const auto& times = state->all_model_checkpoint_timestamps;
  for (size_t i = 0; i < state->all_model_checkpoint_paths.size() && i < times.size(); ++i)
    if (const double t = std::min(times[i], time);
        t > last_preserved && is_below(state->all_model_checkpoint_paths[i], directory))
      kept.push_back({state->all_model_checkpoint_paths[i], t});
}

bool CheckpointManager::State::is_due(bool check_interval) {
  if (!options.checkpoint_interval) return true;
  const int64_t at = step();
  if (last_step && (at == *last_step || (check_interval && at < *last_step + *options.checkpoint_interval)))
    return false;
  last_step = at;
  return true;
}

// The list names the new checkpoint before older ones go, and forgets them when they are gone.
void CheckpointManager::State::add(const std::string& path) {
  const std::lock_guard lock(mutex);
  std::erase_if(kept, [&](const Kept& k) { return k.path == path; });
  kept.push_back({path, now()});
  latest = path;
  record();
  const size_t before = kept.size();
  sweep();
  if (kept.size() != before) record();
}

void CheckpointManager::State::sweep() {
  if (!options.max_to_keep) return;
  constexpr double kHour = 3600;
  const auto& hours = options.keep_checkpoint_every_n_hours;
  size_t stuck = 0;  // those that cannot be deleted stay in the list, and the next save tries again
  for (auto many = int64_t(kept.size()) - *options.max_to_keep; many > 0; --many) {
    const Kept oldest = kept[stuck];
    const bool stays = hours && *hours > 0 && oldest.time - *hours * kHour >= last_preserved;
    if (stays) last_preserved = oldest.time;
    if (stays || format::delete_bundle(oldest.path)) kept.erase(kept.begin() + long(stuck));
    else ++stuck;
  }
}

void CheckpointManager::State::record() const {
  CheckpointState state{.model_checkpoint_path = latest, .last_preserved_timestamp = last_preserved};
  for (const Kept& k : kept) {
    state.all_model_checkpoint_paths.push_back(k.path);
    state.all_model_checkpoint_timestamps.push_back(k.time);
  }
  saved::write_checkpoint_state(directory, state, kManagerTag);
}

CheckpointManager::CheckpointManager(Checkpoint checkpoint, std::string directory,
                                     const CheckpointManagerOptions& options)
    : state_(std::make_shared<State>(std::move(checkpoint), std::move(directory), options)) {
  if (options.max_to_keep && *options.max_to_keep <= 0)
    fail_invalid(kManagerTag, "max_to_keep must be positive, or unset to keep all: got " +
                                  std::to_string(*options.max_to_keep));
  if (options.checkpoint_interval && !options.step_counter.defined())
    fail_invalid(kManagerTag, "checkpoint_interval needs a step_counter, the variable that counts the steps");
  state_->recover();
}
CheckpointManager::~CheckpointManager() {
  try {
    if (state_) state_->checkpoint.sync();
  } catch (const std::exception& e) {
    std::fputs((std::string("rewind: a checkpoint was not saved: ") + e.what() + "\n").c_str(), stderr);
  }
}
CheckpointManager::CheckpointManager(CheckpointManager&&) noexcept = default;

std::string CheckpointManager::save(const ManagerSaveOptions& options) {
  State& s = *state_;
  s.checkpoint.sync();
  const std::optional<int64_t> last_step = s.last_step;
  if (!s.is_due(options.check_interval)) return {};
  const Variable& counter = s.checkpoint.save_counter();
  counter.assign_add(int64_t(1));
  const int64_t number = options.checkpoint_number.value_or(counter.item<int64_t>());
  const std::string path =
      (std::filesystem::path(s.directory) / (s.options.checkpoint_name + "-" + std::to_string(number)))
          .string();
  try {
    s.checkpoint.state()->write(path, options.checkpoint, kManagerTag,
                                [state = state_, path] { state->add(path); });
  } catch (...) {
    counter.assign_sub(int64_t(1));  // nothing was saved
    s.last_step = last_step;
    throw;
  }
  return path;
}

std::string CheckpointManager::restore_or_initialize() {
  const std::string latest = latest_checkpoint();
  if (latest.empty()) {
    if (state_->options.init_fn) state_->options.init_fn();
    return {};
  }
  state_->checkpoint.restore(latest);
  if (state_->options.checkpoint_interval) state_->last_step = state_->step();
  return latest;
}

std::string CheckpointManager::latest_checkpoint() const {
  state_->checkpoint.sync();
  const std::lock_guard lock(state_->mutex);
  return state_->latest;
}
std::vector<std::string> CheckpointManager::checkpoints() const {
  state_->checkpoint.sync();
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> paths;
  for (const State::Kept& k : state_->kept) paths.push_back(k.path);
  return paths;
}
const std::string& CheckpointManager::directory() const { return state_->directory; }
const Checkpoint& CheckpointManager::checkpoint() const { return state_->checkpoint; }
std::optional<int64_t> CheckpointManager::checkpoint_interval() const {
  return state_->options.checkpoint_interval;
}
void CheckpointManager::sync() const { state_->checkpoint.sync(); }

}  // namespace rw::train
