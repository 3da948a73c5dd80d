#include "rewind/saved/checkpoint.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "rewind/base/error.h"
#include "rewind/saved/checkpoint_object.h"
#include "rewind/saved/checkpoint_state.h"
#include "rewind/saved/snapshot.h"
#include "rewind/tensor/trace.h"

namespace rw::train {
namespace {

constexpr const char *kFamily = "checkpoint", *kCounter = "save_counter";

class CheckpointView final : public Trackable {
 public:
  explicit CheckpointView(const std::shared_ptr<Checkpoint::State>& state) : state_(state) {}
  ObjectId id() const override { return {kFamily, state_->number}; }
  std::vector<TrackableChild> children(TrackFor) const override {
    std::vector<TrackableChild> list = state_->children;
    if (state_->counter.defined()) list.push_back({kCounter, trackable_of(state_->counter)});
    return list;
  }
  std::string describe() const override { return "Checkpoint"; }
  std::weak_ptr<const void> life() const override { return state_; }

 private:
  std::shared_ptr<Checkpoint::State> state_;
};

// The folder of a SavedModel stands for the checkpoint of its variables.
std::string checkpoint_in(const std::string& path) {
  struct stat info = {};
  for (const char* name : {"/saved_model.pb", "/saved_model.pbtxt"})
    if (stat((path + name).c_str(), &info) == 0) return path + "/variables/variables";
  return path;
}

}  // namespace

// ---- the status -------------------------------------------------------------------------------------------

LoadStatus::State& LoadStatus::state(const char* tag) const {
  if (!state_)
    fail_precondition(tag, "no checkpoint was given (the path is empty), so that nothing was restored");
  return *state_;
}
const LoadStatus& LoadStatus::assert_consumed() const {
  State& s = state("assert_consumed");
  s.session->check_consumed(s.checkpoint->objects());
  return *this;
}
const LoadStatus& LoadStatus::assert_existing_objects_matched() const {
  State& s = state("assert_existing_objects_matched");
  s.session->check_existing_matched(s.checkpoint->objects());
  return *this;
}
const LoadStatus& LoadStatus::assert_nontrivial_match() const {
  State& s = state("assert_nontrivial_match");
  s.session->check_nontrivial(s.checkpoint->objects());
  return *this;
}
const LoadStatus& LoadStatus::expect_partial() const {
  if (state_) state_->session->expect_partial();
  return *this;
}

// ---- objects ----------------------------------------------------------------------------------------------

Checkpoint::State::State() {
  static std::atomic<uint64_t> count{0};
  number = ++count;
}

Checkpoint::State::~State() {
  forget_waits_for_gone_objects();
  if (!writer_.joinable()) return;
  if (writer_.get_id() == std::this_thread::get_id()) {  // the last handle was the writer's
    writer_.detach();
    return;
  }
  writer_.join();
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const std::exception& e) {
    std::fputs((std::string("rewind: a checkpoint was not saved: ") + e.what() + "\n").c_str(), stderr);
  }
}

TrackablePtr Checkpoint::State::view() { return std::make_shared<CheckpointView>(shared_from_this()); }

saved::RestoreSession::Objects Checkpoint::State::objects() {
  if (!root) return {view(), {}};
  saved::RestoreSession::Objects objects{root, {}};
  for (const TrackableChild& c : children) {
    const TrackablePtr own = root->child(c.name);
    if (!own) objects.attached.push_back(c);
    else if (own->id() != c.object->id())
      fail_invalid("Checkpoint", "the root has an object named \"" + c.name + "\" already (" +
                                     own->describe() + "), and another one was given by that name");
  }
  if (counter.defined() && !root->child(kCounter))
    objects.attached.push_back({kCounter, trackable_of(counter)});
  return objects;
}

const Variable& Checkpoint::State::save_counter() {
  if (counter.defined()) return counter;
  const TrackablePtr own = root ? root->child(kCounter) : nullptr;
  if (own) counter = own->variable();
  if (!counter.defined()) {
    const OutsideTraces outside;
    counter = Variable(int64_t(0), {.trainable = false, .name = kCounter, .dtype = DType::kInt64});
    see_new_children();
  }
  return counter;
}

void Checkpoint::State::add(const std::string& name, const TrackablePtr& object) {
  const auto it =
      std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.name == name; });
  if (it == children.end()) children.push_back({name, object});
  else it->object = object;
}

void Checkpoint::State::see_new_children() {
  if (last_) last_->restore(objects());
  tell_new_children({kFamily, number}, [&] { return view(); });
}

// ---- files ------------------------------------------------------------------------------------------------

LoadStatus Checkpoint::State::read(const std::string& path, const char* tag) {
  if (current_trace()) fail_precondition(tag, "checkpoints are read outside of functions");
  sync();
  if (path.empty()) return LoadStatus(nullptr);
  const auto session = [&] {
    try {
      return std::make_shared<saved::RestoreSession>(checkpoint_in(path), tag);
    } catch (const NotFoundError& e) {
      throw NotFoundError(std::string(e.what()) +
                          "; a path of a checkpoint ends with its number, as in run/ckpt-1, without .index");
    }
  }();
  last_ = nullptr;
  session->restore(objects());
  last_ = session;
  return LoadStatus(std::make_shared<LoadStatus::State>(LoadStatus::State{session, shared_from_this()}));
}

void Checkpoint::State::write(const std::string& prefix, const CheckpointOptions& options, const char* tag,
                              std::function<void()> after) {
  sync();
  const saved::RestoreSession::Objects all = objects();
  const auto snapshot = std::make_shared<const saved::Snapshot>(
      saved::take_snapshot(saved::ObjectGraph(all.root, all.attached), tag));
  auto work = [snapshot, prefix, tag, after = std::move(after), most = options.max_shard_bytes] {
    saved::write_snapshot(prefix, *snapshot, tag, {.max_shard_bytes = most});
    if (after) after();
  };
  if (!options.asynchronous) return work();
  failure_ = nullptr;
  writer_ = std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (...) { failure_ = std::current_exception(); }
  });
}

void Checkpoint::State::sync() {
  if (!writer_.joinable()) return;
  writer_.join();
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

Checkpoint::Checkpoint() : state_(std::make_shared<State>()) {}

Checkpoint::Checkpoint(std::initializer_list<NamedObject> objects) : Checkpoint() {
  for (const NamedObject& o : objects) state_->add(o.name, o.object.view());
  std::stable_sort(state_->children.begin(), state_->children.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
}

Checkpoint::Checkpoint(Tracked root, const std::vector<NamedObject>& attached) : Checkpoint() {
  state_->root = root.view();
  for (const NamedObject& o : attached) state_->add(o.name, o.object.view());
  state_->add("root", root.view());
  std::stable_sort(state_->children.begin(), state_->children.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  (void)state_->objects();  // names that the root has already are refused
}

void Checkpoint::track(const std::string& name, const Tracked& object) const {
  state_->add(name, object.view());
  state_->see_new_children();
}

std::string Checkpoint::write(const std::string& prefix, const CheckpointOptions& options) const {
  state_->write(prefix, options, "Checkpoint.write", {});
  return prefix;
}

std::string Checkpoint::save(const std::string& prefix, const CheckpointOptions& options) const {
  constexpr const char* kTag = "Checkpoint.save";
  if (current_trace()) fail_precondition(kTag, "checkpoints are saved outside of functions");
  const Variable& counter = state_->save_counter();
  counter.assign_add(int64_t(1));
  const std::string path = prefix + "-" + std::to_string(counter.item<int64_t>());
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const auto note = [path, folder] {
    saved::write_checkpoint_state(
        folder, {.model_checkpoint_path = path, .all_model_checkpoint_paths = {path}}, kTag);
  };
  try {
    state_->write(path, options, kTag, note);
  } catch (...) {
    counter.assign_sub(int64_t(1));  // nothing was saved
    throw;
  }
  return path;
}

LoadStatus Checkpoint::read(const std::string& path) const { return state_->read(path, "Checkpoint.read"); }

LoadStatus Checkpoint::restore(const std::string& path) const {
  (void)state_->save_counter();  // there to be restored
  return state_->read(path, "Checkpoint.restore");
}

void Checkpoint::sync() const { state_->sync(); }
const Variable& Checkpoint::save_counter() const { return state_->save_counter(); }

TrackablePtr trackable_of(const Checkpoint& checkpoint) { return checkpoint.state()->view(); }

}  // namespace rw::train
