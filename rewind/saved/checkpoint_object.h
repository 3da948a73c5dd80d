// What a Checkpoint handle points to.
#pragma once

#include <exception>
#include <functional>
#include <thread>

#include "rewind/saved/checkpoint.h"
#include "rewind/saved/restore_session.h"

namespace rw::train {

struct Checkpoint::State : std::enable_shared_from_this<Checkpoint::State> {
  State();
  ~State();

  TrackablePtr root;                     // null: the checkpoint itself
  std::vector<TrackableChild> children;  // edges to named objects
  Variable counter;                      // undefined before it is needed
  uint64_t number;                       // of this object, among all

  TrackablePtr view();
  // The graph that is saved and restored.
  saved::RestoreSession::Objects objects();
  const Variable& save_counter();
  void add(const std::string& name, const TrackablePtr& object);
  // Gives values that are waiting to children that were added.
  void see_new_children();
  LoadStatus read(const std::string& path, const char* tag);
  // `after` runs when the files are there.
  void write(const std::string& prefix, const CheckpointOptions& options, const char* tag,
             std::function<void()> after);
  // Waits for the thread that writes, and throws what it has thrown.
  void sync();

 private:
  std::shared_ptr<saved::RestoreSession> last_;
  std::thread writer_;
  std::exception_ptr failure_;  // of the writer; read when it has ended
};

struct LoadStatus::State {
  std::shared_ptr<saved::RestoreSession> session;
  std::shared_ptr<Checkpoint::State> checkpoint;
};

}  // namespace rw::train
