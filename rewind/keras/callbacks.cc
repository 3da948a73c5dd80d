#include "rewind/keras/callbacks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/tensor/float_text.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

TrainingHost& Callback::host() const {
  if (!host_) fail_precondition("callback", "host() is there during training only");
  return *host_;
}

Model& Callback::model() const {
  Model* found = host().model();
  if (!found) fail_precondition("callback", "no model trains here");
  return *found;
}

void CallbackList::set_host(TrainingHost* host) {
  Callback::set_host(host);
  for (const CallbackRef& c : callbacks_) c->set_host(host);
}
void CallbackList::set_params(const TrainingParams& params) {
  Callback::set_params(params);
  for (const CallbackRef& c : callbacks_) c->set_params(params);
}

inline namespace callbacks {
namespace {

std::string python_text(double value) { return scalar_text(value, DType::kFloat64); }
void say(const std::string& text) { std::fputs(text.c_str(), stdout); }

const Optimizer& optimizer_of(const TrainingHost& host, const char* tag) {
  if (!host.optimizer()) fail_precondition(tag, "the model has no optimizer");
  return *host.optimizer();
}
double rate_of(const Optimizer& optimizer) { return cast(optimizer.learning_rate(), float64).item<double>(); }

void warn_of_missing(const char* tag, const std::string& name, const Logs& logs) {
  std::fputs(("rewind: " + std::string(tag) + " watches " + name + ", which is not there; there are " +
              logs.names() + "\n")
                 .c_str(),
             stderr);
}

}  // namespace

// ---- History ----------------------------------------------------------------------------------------------

void History::on_train_begin(Logs&) { epoch.clear(); }

void History::on_epoch_end(int64_t at, Logs& logs) {
  epoch.push_back(at);
  for (const auto& [name, value] : logs.items()) {
    auto curve =
        std::find_if(history.begin(), history.end(), [&](const Curve& c) { return c.first == name; });
    if (curve == history.end()) curve = history.insert(curve, Curve{name, {}});
    curve->second.push_back(value);
  }
}

const std::vector<double>& History::operator[](const std::string& name) const {
  for (const Curve& c : history)
    if (c.first == name) return c.second;
  std::string known;
  for (const Curve& c : history) known += (known.empty() ? "" : ", ") + c.first;
  fail_not_found("History", "there is no " + name + "; there are " + known);
}

bool History::contains(const std::string& name) const {
  return std::any_of(history.begin(), history.end(), [&](const Curve& c) { return c.first == name; });
}

// ---- Monitor ----------------------------------------------------------------------------------------------

Monitor::Monitor(std::string name, const std::string& mode, double min_delta)
    : name_(std::move(name)),
      min_delta_(std::abs(min_delta)),
      direction_(mode == "min"   ? Direction::kDown
                 : mode == "max" ? Direction::kUp
                                 : Direction::kUnknown) {
  if (mode != "auto" && mode != "min" && mode != "max")
    fail_invalid("monitor", "mode must be auto, min or max: it is " + mode);
}

bool Monitor::improves(double value, std::optional<double> best, const TrainingHost& host) {
  if (direction_ == Direction::kUnknown) {
    const std::string plain = name_.rfind("val_", 0) == 0 ? name_.substr(4) : name_;
    direction_ = plain == "loss" ? Direction::kDown : host.direction(plain);
    if (direction_ == Direction::kUnknown)
      fail_invalid("monitor",
                   "whether more or less of " + name_ + " is better is not known; set mode to min or max");
  }
  if (!best) return true;
  return direction_ == Direction::kUp ? value - min_delta_ > *best : value + min_delta_ < *best;
}

// ---- EarlyStopping ----------------------------------------------------------------------------------------

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& o)
    : o_(o), monitor_(o.monitor, o.mode, o.min_delta) {}

void EarlyStopping::on_train_begin(Logs&) {
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_.reset();
  best_weights_.clear();
}

void EarlyStopping::on_epoch_end(int64_t epoch, Logs& logs) {
  const std::optional<double> current = logs.get(o_.monitor);
  if (!current) return warn_of_missing("EarlyStopping", o_.monitor, logs);
  if (epoch < o_.start_from_epoch) return;
  if (o_.restore_best_weights && best_weights_.empty()) {
    best_weights_ = host().get_weights();
    best_epoch_ = epoch;
  }
  ++wait_;
  if (monitor_.improves(*current, best_, host())) {
    best_ = current;
    best_epoch_ = epoch;
    if (o_.restore_best_weights) best_weights_ = host().get_weights();
    if (!o_.baseline || monitor_.improves(*current, o_.baseline, host())) wait_ = 0;
    return;
  }
  if (wait_ >= o_.patience && epoch > 0) {
    stopped_epoch_ = epoch;
    host().stop_training = true;
  }
}

void EarlyStopping::on_train_end(Logs&) {
  if (stopped_epoch_ > 0 && o_.verbose > 0)
    say("Epoch " + std::to_string(stopped_epoch_ + 1) + ": early stopping\n");
  if (!o_.restore_best_weights || best_weights_.empty()) return;
  if (o_.verbose > 0)
    say("Restoring model weights from the end of the best epoch: " + std::to_string(best_epoch_ + 1) + ".\n");
  host().set_weights(best_weights_);
}

// ---- learning rates ---------------------------------------------------------------------------------------

ReduceLROnPlateau::ReduceLROnPlateau(const ReduceLROnPlateauOptions& o)
    : o_(o), monitor_(o.monitor, o.mode, o.min_delta) {
  if (!(o.factor < 1))
    fail_invalid("ReduceLROnPlateau", "factor must be below 1: it is " + number_text(o.factor));
}

void ReduceLROnPlateau::on_train_begin(Logs&) {
  best_.reset();
  wait_ = cooling_ = 0;
}

void ReduceLROnPlateau::on_epoch_end(int64_t epoch, Logs& logs) {
  logs.set("learning_rate", rate_of(optimizer_of(host(), "ReduceLROnPlateau")));
  const std::optional<double> current = logs.get(o_.monitor);
  if (!current) return warn_of_missing("ReduceLROnPlateau", o_.monitor, logs);
  if (cooling_ > 0) {
    --cooling_;
    wait_ = 0;
  }
  if (monitor_.improves(*current, best_, host())) {
    best_ = current;
    wait_ = 0;
  } else if (cooling_ == 0 && ++wait_ >= o_.patience && reduce(epoch)) {
    cooling_ = o_.cooldown;
    wait_ = 0;
  }
}

bool ReduceLROnPlateau::reduce(int64_t epoch) {
  const Optimizer& optimizer = optimizer_of(host(), "ReduceLROnPlateau");
  const double old = rate_of(optimizer);
  if (!(old > double(float(o_.min_lr)))) return false;
  const double rate = std::max(old * o_.factor, o_.min_lr);
  optimizer.set_learning_rate(rate);
  if (o_.verbose > 0)
    say("\nEpoch " + std::to_string(epoch + 1) + ": ReduceLROnPlateau reducing learning rate to " +
        python_text(rate) + ".\n");
  return true;
}

void LearningRateScheduler::on_epoch_begin(int64_t epoch, Logs&) {
  const Optimizer& optimizer = optimizer_of(host(), "LearningRateScheduler");
  const double rate = schedule_(epoch, rate_of(optimizer));
  optimizer.set_learning_rate(rate);
  if (verbose_ > 0)
    say("\nEpoch " + std::to_string(epoch + 1) + ": LearningRateScheduler setting learning rate to " +
        python_text(rate) + ".\n");
}

void LearningRateScheduler::on_epoch_end(int64_t, Logs& logs) {
  logs.set("learning_rate", rate_of(optimizer_of(host(), "LearningRateScheduler")));
}

// ---- CSVLogger --------------------------------------------------------------------------------------------

CSVLogger::CSVLogger(std::string filename, const CSVLoggerOptions& o)
    : filename_(std::move(filename)), o_(o) {}

void CSVLogger::on_train_begin(Logs&) {
  header_ = true;
  kept_ = 0;
  if (o_.append) {
    std::ifstream old(filename_);
    std::string line;
    header_ = !(old && std::getline(old, line) && !line.empty());
    std::error_code missing;
    const auto size = std::filesystem::file_size(filename_, missing);
    kept_ = missing ? 0 : int64_t(size);
  }
  size_ = kept_;
  keys_.clear();
  file_.reset();
}

// With the first line: a training that resumes has said by then what stays.
void CSVLogger::open() {
  std::error_code missing;
  const auto there = std::filesystem::file_size(filename_, missing);
  if (kept_ == 0 || missing || int64_t(there) < kept_) {
    file_ = std::make_shared<std::ofstream>(filename_, std::ios::trunc | std::ios::binary);
    if (kept_ > 0) {  // what the backup knew is gone
      keys_.clear();
      header_ = true;
    }
    size_ = 0;
  } else {
    std::filesystem::resize_file(filename_, uint64_t(kept_));
    file_ = std::make_shared<std::ofstream>(filename_, std::ios::app | std::ios::binary);
  }
  if (!*file_) fail_invalid("CSVLogger", filename_ + " cannot be written");
}

void CSVLogger::on_epoch_end(int64_t epoch, Logs& logs) {
  if (!file_) open();
  if (keys_.empty()) {
    for (const Logs::Item& item : logs.items()) keys_.push_back(item.first);
    std::sort(keys_.begin(), keys_.end());
    const bool validated =
        std::any_of(keys_.begin(), keys_.end(), [](const std::string& k) { return k.rfind("val_", 0) == 0; });
    // A later epoch may be validated: its columns are there from the beginning.
    if (const size_t own = keys_.size(); !validated)
      for (size_t i = 0; i < own; ++i) keys_.push_back("val_" + keys_[i]);
    if (header_) {
      *file_ << "epoch";
      for (const std::string& key : keys_) *file_ << o_.separator << key;
      *file_ << "\r\n";
    }
    header_ = false;
  }
  *file_ << std::to_string(epoch);
  for (const std::string& key : keys_) {
    const std::optional<double> value = logs.get(key);
    *file_ << o_.separator << (value ? python_text(*value) : "NA");
  }
  *file_ << "\r\n" << std::flush;
  if (!*file_) fail_invalid("CSVLogger", filename_ + " cannot be written");
  size_ = int64_t(file_->tellp());
}

void CSVLogger::on_train_end(Logs&) {
  if (!file_) open();  // an empty file for a training without epochs
  file_.reset();
}

// ---- TerminateOnNaN ---------------------------------------------------------------------------------------

void TerminateOnNaN::on_train_batch_end(int64_t batch, Logs& logs) {
  const std::optional<double> loss = logs.get("loss");
  if (!loss || std::isfinite(*loss)) return;
  if (raise_error_)
    fail_invalid("TerminateOnNaN",
                 "the loss of batch " + std::to_string(batch) + " is " + python_text(*loss));
  say("Batch " + std::to_string(batch) + ": Invalid loss, terminating training\n");
  host().stop_training = true;
}

}  // namespace callbacks
}  // namespace rw::keras
