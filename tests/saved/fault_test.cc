// Every writer of files at every call that changes files: killed there, or refused by the system. The old
// file or the new one is whole, the next save leaves nothing but its files behind, and an error names the
// file. What was written is synced before it takes its name, and its folder behind that.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "rewind/format/tensor_bundle.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/traced_process.h"

namespace rw {
namespace faults {  // a namespace of its own: names of other files of this room
namespace {

namespace fs = std::filesystem;
using test::run_traced;
using test::TracedRun;

constexpr int kSize = 3000;

struct Net : Module {
  Variable w{fill({kSize}, 0.0f), {.name = "w"}};
  Tensor forward(const Tensor& x) { return x * w; }
  Function<Tensor(const Tensor&)> call{this, &Net::forward};
  RW_TRACK(w, call)
};

// Writes one value, many times, to a folder; reads it back.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void save(float value) = 0;
  // The value that is there; -1: something else than one value.
  virtual float read() = 0;
  // How many files and folders it has, beside what the user put there.
  virtual int files() const { return 1; }

 protected:
  explicit Writer(const std::string& folder) : folder_(folder) {}
  static float only(const Tensor& t) {
    const auto values = t.to_vector<float>();
    return values == std::vector<float>(kSize, values.at(0)) ? values[0] : -1;
  }
  // A bundle beside another one of its name has another number of data files than that.
  static int files_of(const std::string& prefix) { return 1 + format::bundle_shards(prefix, "test"); }
  std::string folder_;
};

class Bundle : public Writer {
 public:
  explicit Bundle(const std::string& folder) : Writer(folder) {}
  void save(float value) override {
    v_.assign(fill({kSize}, value));
    ckpt_.write(folder_ + "/c");
  }
  float read() override { return only(train::load_variable(folder_ + "/c", "v/.ATTRIBUTES/VARIABLE_VALUE")); }
  int files() const override { return files_of(folder_ + "/c"); }

 private:
  Variable v_{fill({kSize}, 0.0f)};
  train::Checkpoint ckpt_{{{"v", v_}}};
};

// Written by a thread, while the value that is saved changes.
class Asynchronous : public Writer {
 public:
  explicit Asynchronous(const std::string& folder) : Writer(folder) {}
  void save(float value) override {
    v_.assign(fill({kSize}, value));
    ckpt_.write(folder_ + "/c", {.asynchronous = true});
    v_.assign(fill({kSize}, 7.0f));
    ckpt_.sync();
  }
  float read() override { return only(train::load_variable(folder_ + "/c", "v/.ATTRIBUTES/VARIABLE_VALUE")); }
  int files() const override { return files_of(folder_ + "/c"); }

 private:
  Variable v_{fill({kSize}, 0.0f)};
  train::Checkpoint ckpt_{{{"v", v_}}};
};

class Shards : public Writer {
 public:
  explicit Shards(const std::string& folder) : Writer(folder) {}
  void save(float value) override {
    for (const Variable& v : {a_, b_}) v.assign(fill({kSize}, value));
    ckpt_.write(folder_ + "/c", {.max_shard_bytes = 1000});
  }
  float read() override {
    const float a = only(train::load_variable(folder_ + "/c", "a/.ATTRIBUTES/VARIABLE_VALUE"));
    return a == only(train::load_variable(folder_ + "/c", "b/.ATTRIBUTES/VARIABLE_VALUE")) ? a : -1;
  }
  int files() const override { return files_of(folder_ + "/c"); }

 private:
  Variable a_{fill({kSize}, 0.0f)}, b_{fill({kSize}, 0.0f)};
  train::Checkpoint ckpt_{{{"a", a_}, {"b", b_}}};
};

class Manager : public Writer {
 public:
  explicit Manager(const std::string& folder) : Writer(folder) {}
  void save(float value) override {
    // As a process that begins anew does.
    const train::Checkpoint ckpt{{{"v", v_}}};
    train::CheckpointManager manager(ckpt, folder_ + "/run", {.max_to_keep = 1});
    manager.restore_or_initialize();
    v_.assign(fill({kSize}, value));
    manager.save();
  }
  float read() override {
    const Variable v(fill({kSize}, 0.0f));
    const train::Checkpoint ckpt{{{"v", v}}};
    const train::CheckpointManager manager(ckpt, folder_ + "/run", {.max_to_keep = 1});
    if (manager.latest_checkpoint() != train::latest_checkpoint(folder_ + "/run")) return -1;
    ckpt.restore(manager.latest_checkpoint()).assert_consumed();
    return only(v);
  }
  int files() const override { return 2 + files_of(train::latest_checkpoint(folder_ + "/run")); }

 private:
  Variable v_{fill({kSize}, 0.0f)};
};

class Model : public Writer {
 public:
  explicit Model(const std::string& folder) : Writer(folder) {
    (void)net_.call.get_concrete_function(TensorSpec{{kSize}, float32, "x"});
  }
  void save(float value) override {
    net_.w.assign(fill({kSize}, value));
    saved_model::save(net_, folder_ + "/m");
    if (!fs::exists(folder_ + "/m/notes.txt")) std::ofstream(folder_ + "/m/notes.txt") << "mine";
  }
  float read() override {
    if (test::read_bytes(folder_ + "/m/notes.txt") != "mine" && !in_old_folder()) return -1;
    return only(saved_model::load(folder_ + "/m").variable("w"));
  }
  int files() const override { return 7; }  // m, its three files and two folders, and the variables' two

 private:
  // Between the exchange of the folders and the move of what else is there.
  bool in_old_folder() const {
    return std::any_of(fs::directory_iterator(folder_), fs::directory_iterator(),
                       [](const auto& e) { return fs::exists(e.path() / "notes.txt"); });
  }
  Net net_;
};

class Keras : public Writer {
 public:
  Keras(const std::string& folder, const std::string& name)
      : Writer(folder), path_(folder + "/" + name), model_({keras::Input({1}), keras::Dense(kSize)}) {}
  void save(float value) override {
    for (Variable v : model_.trainable_variables()) v.assign(fill(v.shape(), value));
    if (path_.find("weights") == std::string::npos) keras::models::save_model(model_, path_);
    else model_.save_weights(path_);
  }
  float read() override {
    if (path_.find("weights") == std::string::npos)
      return only(reshape(keras::models::load_model(path_).trainable_variables().at(0), {kSize}));
    auto other = keras::Sequential({keras::Input({1}), keras::Dense(kSize)});
    other.load_weights(path_);
    return only(reshape(other.trainable_variables().at(0), {kSize}));
  }

 private:
  std::string path_;
  keras::Sequential model_;
};

class Arrays : public Writer {
 public:
  Arrays(const std::string& folder, bool compressed) : Writer(folder), compressed_(compressed) {}
  void save(float value) override {
    (compressed_ ? numpy::savez_compressed : numpy::savez)(folder_ + "/x.npz", {{"x", fill({kSize}, value)}});
  }
  float read() override { return only(numpy::load_npz(folder_ + "/x.npz").at("x")); }

 private:
  bool compressed_;
};

class Safetensors : public Writer {
 public:
  explicit Safetensors(const std::string& folder) : Writer(folder) {}
  void save(float value) override {
    net_.w.assign(fill({kSize}, value));
    save_weights(net_, folder_ + "/x.safetensors");
  }
  float read() override {
    Net other;
    load_weights(other, folder_ + "/x.safetensors");
    return only(other.w);
  }

 private:
  Net net_;
};

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> list{"bundle",      "asynchronous",   "shards",     "manager",
                                             "saved_model", "keras",          "h5",         "weights",
                                             "npz",         "npz_compressed", "safetensors"};
  return list;
}

std::unique_ptr<Writer> make_writer(const std::string& kind, const std::string& folder) {
  if (kind == "bundle") return std::make_unique<Bundle>(folder);
  if (kind == "asynchronous") return std::make_unique<Asynchronous>(folder);
  if (kind == "shards") return std::make_unique<Shards>(folder);
  if (kind == "manager") return std::make_unique<Manager>(folder);
  if (kind == "saved_model") return std::make_unique<Model>(folder);
  if (kind == "keras") return std::make_unique<Keras>(folder, "m.keras");
  if (kind == "h5") return std::make_unique<Keras>(folder, "m.h5");
  if (kind == "weights") return std::make_unique<Keras>(folder, "m.weights.h5");
  if (kind == "npz") return std::make_unique<Arrays>(folder, false);
  if (kind == "npz_compressed") return std::make_unique<Arrays>(folder, true);
  return std::make_unique<Safetensors>(folder);
}

std::vector<std::string> all_files(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& e : fs::recursive_directory_iterator(folder)) names.push_back(e.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Faults : public testing::TestWithParam<std::string> {
 protected:
  Faults() {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);  // files are synced a thousand times
    folder_ = std::make_unique<test::TemporaryFolder>();
    unsetenv("TMPDIR");
    path_ = *folder_ / "f";
    fs::create_directories(path_);
    writer_ = make_writer(GetParam(), path_);
  }
  void SetUp() override {
    if (!test::can_trace_files()) GTEST_SKIP() << "processes cannot be traced here";
  }
  // The next save works, and leaves its own files only.
  void expect_saving_goes_on() {
    writer_->save(1);
    ASSERT_EQ(writer_->read(), 1);
    const auto there = all_files(path_);
    // The user's file in a SavedModel's folder is one of them.
    EXPECT_EQ(int(there.size()), writer_->files() + (GetParam() == "saved_model"))
        << testing::PrintToString(there);
    for (const std::string& name : there)
      EXPECT_EQ(name.find(".rewind-tmp-"), std::string::npos) << testing::PrintToString(there);
  }

  std::unique_ptr<test::TemporaryFolder> folder_;
  std::string path_;
  std::unique_ptr<Writer> writer_;
};

TEST_P(Faults, KilledAtAnyCallTheOldOrTheNewFileIsWhole) {
  ASSERT_NO_FATAL_FAILURE(expect_saving_goes_on());
  int olds = 0, news = 0;
  for (int n = 0;; ++n) {
    const TracedRun run = run_traced([&] { writer_->save(2); }, n);
    ASSERT_FALSE(run.thrown) << run.message;
    const float found = writer_->read();
    ASSERT_TRUE(found == 1 || found == 2)
        << "call " << n << ": " << run.calls.back().name << " " << run.calls.back().path;
    (found == 1 ? olds : news) += 1;
    ASSERT_NO_FATAL_FAILURE(expect_saving_goes_on()) << n;
    if (!run.killed) break;
  }
  EXPECT_GT(olds, 3);
  EXPECT_GT(news, 1);
  RecordProperty("killed_at", olds + news - 1);
}

TEST_P(Faults, AFailureNamesTheFileAndLosesNothing) {
  ASSERT_NO_FATAL_FAILURE(expect_saving_goes_on());
  const auto calls = run_traced([&] { writer_->save(1); }).calls;
  ASSERT_GT(calls.size(), 4u);
  int failures = 0;
  for (size_t n = 0; n < calls.size() + 2; ++n)
    for (const int error : {ENOSPC, EIO, EACCES}) {
      const TracedRun run = run_traced([&] { writer_->save(2); }, int(n), error);
      if (n >= run.calls.size()) continue;
      const test::FileCall& call = run.calls[n];
      const std::string what = call.name + " " + call.path + ": " + run.message;
      // What cannot be deleted stays for the next writer; nothing else may be passed over.
      const bool must_fail = call.name != "unlink" && call.path.find("notes.txt") == std::string::npos;
      if (must_fail) EXPECT_TRUE(run.thrown) << what;
      if (run.thrown) {
        ++failures;
        EXPECT_NE(run.message.find(path_), std::string::npos) << what;
        EXPECT_NE(run.message.find(std::strerror(error)), std::string::npos) << what;
      }
      const float found = writer_->read();
      ASSERT_TRUE(found == 1 || found == 2) << what;
      if (!run.thrown) EXPECT_EQ(found, 2) << what;
      ASSERT_NO_FATAL_FAILURE(expect_saving_goes_on()) << what;
    }
  EXPECT_GT(failures, 10);
  RecordProperty("failures", failures);
}

TEST_P(Faults, FilesAreSyncedBeforeTheyTakeTheirNamesAndFoldersBehind) {
  for (const bool first : {true, false}) {
    const TracedRun run = run_traced([&] { writer_->save(1); });
    ASSERT_FALSE(run.thrown) << run.message;
    if (first) writer_->save(1);
    const auto synced = [&](const std::string& path, size_t from, size_t to) {
      return std::any_of(run.calls.begin() + long(from), run.calls.begin() + long(to), [&](const auto& c) {
        return c.name == "fsync" && fs::path(c.path).lexically_normal() == fs::path(path).lexically_normal();
      });
    };
    int renames = 0;
    for (size_t i = 0; i < run.calls.size(); ++i) {
      const std::string& path = run.calls[i].path;
      if (run.calls[i].name != "rename" || path.ends_with("notes.txt")) continue;
      ++renames;
      size_t written = 0;
      for (size_t k = 0; k < i; ++k)
        if (run.calls[k].name == "write" && run.calls[k].path == path) written = k;
      EXPECT_TRUE(synced(path, written, i)) << path;
      EXPECT_TRUE(synced(fs::path(path).parent_path().string(), i, run.calls.size())) << path;
    }
    EXPECT_GT(renames, 0);
  }
}

// A disk of its own that is full, and one that is read-only.
TEST_P(Faults, OnAFullOrReadOnlyDiskTheOldFileStays) {
  const std::string disk = path_;
  const std::string outcome = *folder_ / "outcome";
  const pid_t child = fork();
  if (child == 0) {
    const auto say = [&](const std::string& text) { std::ofstream(outcome, std::ios::app) << text << "\n"; };
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
      _exit(77);
    try {
      writer_->save(1);
      const auto before = all_files(disk);
      {
        std::ofstream filler(disk + "/filler", std::ios::binary);
        const std::string page(4096, 'x');
        while (filler.write(page.data(), long(page.size())).flush()) {}
      }
      fs::resize_file(disk + "/filler", fs::file_size(disk + "/filler") / 4096 * 4096 -
                                            (GetParam() == "npz_compressed" ? 0 : 8192));
      for (const bool full : {true, false}) {
        if (!full) {
          fs::remove(disk + "/filler");
          if (mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=1m") != 0)
            say("no remount");
        }
        try {
          writer_->save(2);
          say("nothing was thrown");
        } catch (const Error& e) {
          const std::string what = e.what();
          if (what.find(disk) == std::string::npos) say("no file: " + what);
          if (what.find(full ? "No space left" : "Read-only") == std::string::npos) say("no reason: " + what);
          if (full != (dynamic_cast<const ResourceExhaustedError*>(&e) != nullptr))
            say("another class: " + what);
        }
        if (writer_->read() != 1) say("the old file is gone");
        auto after = all_files(disk);
        std::erase(after, disk + "/filler");
        if (after != before) say("other files: " + testing::PrintToString(after));
      }
      say("done");
    } catch (const std::exception& e) { say(e.what()); }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root mounts a disk of its own";
  EXPECT_EQ(test::read_bytes(outcome), "done\n");
}

INSTANTIATE_TEST_SUITE_P(Writers, Faults, testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace faults
}  // namespace rw
