#include "rewind/keras/backup_and_restore.h"

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/base/error_note.h"
#include "rewind/data/position.h"
#include "rewind/keras/interrupt.h"
#include "rewind/keras/model.h"

namespace rw::keras {
inline namespace callbacks {
namespace {

namespace fs = std::filesystem;
constexpr const char* kBackupAndRestore = "BackupAndRestore";

}  // namespace

BackupAndRestore::BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options)
    : dir_(backup_dir),
      latest_(backup_dir + "/latest.safetensors"),
      previous_(backup_dir + "/previous.safetensors"),
      o_(options) {
  if (backup_dir.empty()) fail_invalid(kBackupAndRestore, "backup_dir must not be empty");
}

void BackupAndRestore::on_train_begin(Logs&) {
  if (!model().built())
    fail_precondition(
        kBackupAndRestore,
        "model \"" + model().name() +
            "\" must be built before fit, so that a backup can be loaded: give it an Input, call it "
            "on a batch, or build_for(input_shape)");
  try {
    if (fs::exists(latest_)) return restore(latest_);
  } catch (const DataLossError& e) {
    if (!fs::exists(previous_)) throw;
    std::fputs((std::string("rewind: ") + e.what() + "; the backup before it is taken\n").c_str(), stderr);
  }
  // Between the two renames of a double checkpoint there is only the one before.
  if (fs::exists(previous_)) restore(previous_);
}

void BackupAndRestore::restore(const std::string& file) {
  try {
    const LoadedWeights loaded = model().load_weights(file, {.training_state = true});
    if (!loaded.position)
      throw DataLossError(std::string("[") + kBackupAndRestore + "] " + file +
                          " has no position of a training");
    host().resume_from(*loaded.position);
  } catch (const InvalidArgumentError& e) {
    throw_with_note(e, "; the backup " + file +
                           " is of another training: delete it, or give this one a folder of its own");
  }
}

void BackupAndRestore::on_train_batch_end(int64_t, Logs&) {
  if (o_.save_freq.count_batch()) back_up();
}

void BackupAndRestore::on_epoch_end(int64_t, Logs&) {
  if (o_.save_freq.each_epoch() || InterruptScope::interrupted()) back_up();
}

void BackupAndRestore::back_up() {
  fs::create_directories(dir_);
  if (o_.double_checkpoint && fs::exists(latest_)) fs::rename(latest_, previous_);
  model().save_weights(latest_, {.training_state = true, .position = host().position()});
}

// The newer file goes last: what a kill leaves is a backup of this training.
void BackupAndRestore::on_train_end(Logs&) {
  if (!o_.delete_checkpoint || InterruptScope::interrupted()) return;
  fs::remove(previous_);
  fs::remove(latest_);
  std::error_code not_empty;
  fs::remove(dir_, not_empty);
}

std::string BackupAndRestore::save_state() const {
  data::PositionWriter to;
  to.mark(kBackupAndRestore);
  o_.save_freq.save(to);
  return to.take();
}

void BackupAndRestore::load_state(const std::string& state) {
  data::PositionReader from(state, "the state of BackupAndRestore");
  from.mark(kBackupAndRestore);
  o_.save_freq.load(from);
  from.finish();
}

}  // namespace callbacks
}  // namespace rw::keras
