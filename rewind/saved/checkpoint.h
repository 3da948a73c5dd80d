// Checkpoint: the values of variables and other state in files, as tf.train.Checkpoint writes and reads them.
//
//   rw::train::Checkpoint ckpt({{"model", model}, {"optimizer", optimizer}, {"step", step}});
//   std::string path = ckpt.save("run/ckpt");
//   ckpt.restore(rw::train::latest_checkpoint("run")).assert_consumed();
//
// save() writes run/ckpt-1.index, run/ckpt-1.data-00000-of-00001 and run/checkpoint.
//
// Objects are a graph: named edges lead from the checkpoint to every value, and a file is matched with the
// objects that are there by these names, whatever else it holds. What is not there yet (a layer's weights
// before it is built, an optimizer's slots) is restored as soon as it is made; members of modules of the
// user's own at the next restore() or assert_...().
//
// A checkpoint appears whole or not at all: whoever is killed while saving leaves the one before. One thread
// at a time uses a Checkpoint; copies are the same.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "rewind/saved/tracked.h"

namespace rw::train {

// What restore() did. The assert functions look at what objects there are when they are called; each throws
// FailedPreconditionError, and returns the status itself.
class LoadStatus {
 public:
  // Every value of the checkpoint has gone to an object, and every object below the root has its values from
  // it.
  const LoadStatus& assert_consumed() const;
  // Every object below the root has its values from the checkpoint, which may hold more.
  const LoadStatus& assert_existing_objects_matched() const;
  // Something beside the root was found in the checkpoint.
  const LoadStatus& assert_nontrivial_match() const;
  // Says that the checkpoint is meant to hold more than is wanted: no warning at the end.
  const LoadStatus& expect_partial() const;

  struct State;
  // For Checkpoint.
  explicit LoadStatus(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  State& state(const char* tag) const;
  std::shared_ptr<State> state_;  // null: there was no checkpoint to restore
};

struct CheckpointOptions {
  // Values are taken at once and written by a thread of the checkpoint's own, while training goes on. The
  // next save or restore, sync() and the end of the last handle wait for it; an error is thrown there.
  bool asynchronous = false;
  // A data file ends when it has so many bytes; 0: one file.
  uint64_t max_shard_bytes = 0;
};

class Checkpoint {
 public:
  Checkpoint();
  // Edges to named objects.
  Checkpoint(std::initializer_list<NamedObject> objects);
  // The object itself is the root; `attached` are further edges from it.
  template <class T>
    requires(!std::is_base_of_v<Checkpoint, std::remove_cvref_t<T>>)
  explicit Checkpoint(T&& root, std::initializer_list<NamedObject> attached = {})
      : Checkpoint(Tracked(std::forward<T>(root)), std::vector<NamedObject>(attached)) {}
  Checkpoint(Tracked root, const std::vector<NamedObject>& attached);

  // One more edge, also to an object for which values are waiting.
  void track(const std::string& name, const Tracked& object) const;

  // Counts, writes "<prefix>-<count>" and notes it in the file "checkpoint" beside it; returns its path.
  std::string save(const std::string& prefix, const CheckpointOptions& options = {}) const;
  // Writes under this very name, and no more.
  std::string write(const std::string& prefix, const CheckpointOptions& options = {}) const;
  // The path is what save() returned, or the folder of a SavedModel; empty: nothing is restored. Checkpoints
  // of TensorFlow 1 are read by the names of variables. Throws NotFoundError, DataLossError for a damaged
  // file, and InvalidArgumentError, before anything is assigned, if a value does not fit its variable.
  LoadStatus restore(const std::string& path) const;
  // The same for checkpoints of write(), which have no counter.
  LoadStatus read(const std::string& path) const;
  // Waits for asynchronous saving.
  void sync() const;

  // How often it was saved.
  const Variable& save_counter() const;

  struct State;
  // For the manager and for checkpoints inside others.
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

TrackablePtr trackable_of(const Checkpoint& checkpoint);

}  // namespace rw::train
