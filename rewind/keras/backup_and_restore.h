// BackupAndRestore: a training that was killed goes on where its last backup stood, with the bits of one that
// was never stopped.
//
//   model.fit(x, y, {.epochs = 50, .callbacks = {keras::BackupAndRestore("backup", {.save_freq = 100})}});
//
// The same program, started again, resumes. A backup is one file, <backup_dir>/latest.safetensors: weights,
// optimizer, states of random layers, the position in epoch and data, metrics, and the state of the callbacks
// that keep one. It appears whole or not at all, so that a kill at any moment leaves this one or the one
// before.
#pragma once

#include "rewind/keras/callbacks.h"
#include "rewind/keras/save_frequency.h"

namespace rw::keras {
inline namespace callbacks {

struct BackupAndRestoreOptions {
  SaveFrequency save_freq = "epoch";
  bool double_checkpoint = false;  // keeps the backup before the last, for when the last one is damaged
  bool delete_checkpoint = true;   // when training has ended; an interrupt (Ctrl-C) does not end it
};

class BackupAndRestore : public Callback {
 public:
  explicit BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options = {});
  void on_train_begin(Logs& logs) override;
  void on_train_batch_end(int64_t batch, Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_end(Logs& logs) override;
  std::string save_state() const override;
  void load_state(const std::string& state) override;

 private:
  void back_up();
  void restore(const std::string& file);
  std::string dir_, latest_, previous_;
  BackupAndRestoreOptions o_;
};

}  // namespace callbacks
}  // namespace rw::keras
