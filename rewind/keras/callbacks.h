// The callbacks of Keras. Those that keep models are in model_checkpoint.h and backup_and_restore.h.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>

#include "rewind/keras/callback.h"

namespace rw::keras {
inline namespace callbacks {

// What happened, epoch by epoch. Copies share nothing.
class History : public Callback {
 public:
  using Curve = std::pair<std::string, std::vector<double>>;

  void on_train_begin(Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;

  // One list a name, in the order of their first appearance.
  const std::vector<double>& operator[](const std::string& name) const;  // throws NotFoundError
  bool contains(const std::string& name) const;

  std::vector<int64_t> epoch;
  std::vector<Curve> history;
  TrainingPosition position;  // where fit ended
};

// Compares a number of the logs with the best so far.
class Monitor {
 public:
  // mode: "min", "max", or "auto": less is better for a loss, otherwise what the metric says.
  Monitor(std::string name, const std::string& mode, double min_delta);
  const std::string& name() const { return name_; }
  bool improves(double value, std::optional<double> best, const TrainingHost& host);

 private:
  std::string name_;
  double min_delta_;
  Direction direction_;
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;  // epochs without an improvement after which training stops
  int verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  void on_train_begin(Logs& logs) override;
  std::string save_state() const override;
  void load_state(const std::string& state) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_end(Logs& logs) override;

  int64_t stopped_epoch() const { return stopped_epoch_; }  // 0: it did not stop
  int64_t best_epoch() const { return best_epoch_; }
  std::optional<double> best() const { return best_; }

 private:
  EarlyStoppingOptions o_;
  Monitor monitor_;
  std::optional<double> best_;
  std::vector<Tensor> best_weights_;
  int64_t wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
};

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0;
};
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});
  void on_train_begin(Logs& logs) override;
  std::string save_state() const override;
  void load_state(const std::string& state) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;

 private:
  bool reduce(int64_t epoch);
  ReduceLROnPlateauOptions o_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t wait_ = 0, cooling_ = 0;
};

// Before each epoch: rate = schedule(epoch, rate).
class LearningRateScheduler : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule, int verbose = 0)
      : schedule_(std::move(schedule)), verbose_(verbose) {}
  explicit LearningRateScheduler(std::function<double(int64_t epoch)> schedule, int verbose = 0)
      : schedule_([f = std::move(schedule)](int64_t epoch, double) { return f(epoch); }), verbose_(verbose) {}
  void on_epoch_begin(int64_t epoch, Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;

 private:
  std::function<double(int64_t, double)> schedule_;
  int verbose_;
};

struct CSVLoggerOptions {
  char separator = ',';
  bool append = false;  // to what the file holds already
};
// A line an epoch, as Keras writes it. A training that resumes goes on behind the line where its backup
// stood.
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(std::string filename, const CSVLoggerOptions& options = {});
  void on_train_begin(Logs& logs) override;
  std::string save_state() const override;
  void load_state(const std::string& state) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_end(Logs& logs) override;

 private:
  std::string filename_;
  CSVLoggerOptions o_;
  void open();
  std::shared_ptr<std::ofstream> file_;
  std::vector<std::string> keys_;
  bool header_ = true;
  int64_t kept_ = 0;  // bytes of the file that stay when it is opened
  int64_t size_ = 0;  // bytes that it has then
};

// Stops training (or throws) when the loss of a batch is not a finite number.
class TerminateOnNaN : public Callback {
 public:
  explicit TerminateOnNaN(bool raise_error = false) : raise_error_(raise_error) {}
  void on_train_batch_end(int64_t batch, Logs& logs) override;

 private:
  bool raise_error_;
};

struct LambdaCallbackOptions {
  using AtTrain = std::function<void(Logs&)>;
  using AtStep = std::function<void(int64_t, Logs&)>;
  AtStep on_epoch_begin = {};
  AtStep on_epoch_end = {};
  AtTrain on_train_begin = {};
  AtTrain on_train_end = {};
  AtStep on_train_batch_begin = {};
  AtStep on_train_batch_end = {};
};
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions options) : o_(std::move(options)) {}
  void on_epoch_begin(int64_t epoch, Logs& logs) override { call(o_.on_epoch_begin, epoch, logs); }
  void on_epoch_end(int64_t epoch, Logs& logs) override { call(o_.on_epoch_end, epoch, logs); }
  void on_train_begin(Logs& logs) override { call(o_.on_train_begin, logs); }
  void on_train_end(Logs& logs) override { call(o_.on_train_end, logs); }
  void on_train_batch_begin(int64_t batch, Logs& logs) override {
    call(o_.on_train_batch_begin, batch, logs);
  }
  void on_train_batch_end(int64_t batch, Logs& logs) override { call(o_.on_train_batch_end, batch, logs); }

 private:
  template <class F, class... A>
  static void call(const F& f, A&&... args) {
    if (f) f(std::forward<A>(args)...);
  }
  LambdaCallbackOptions o_;
};

}  // namespace callbacks
}  // namespace rw::keras
