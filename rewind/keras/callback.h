// Callbacks: who watches training and may steer it. Derive from Callback and override what you want to hear.
//
//   struct Shout : rw::keras::Callback {
//     void on_epoch_end(int64_t epoch, Logs& logs) override { ... host().stop_training = true; }
//   };
//   model.fit(x, y, {.callbacks = {keras::EarlyStopping({.patience = 2}), Shout()}});
//
// Hooks run on the thread that trains. One object may watch several models, one after the other or one fit
// inside of another's hook; fits on several threads take objects of their own.
#pragma once

#include <atomic>
#include <concepts>
#include <memory>
#include <vector>

#include "rewind/base/dynamic_type.h"
#include "rewind/keras/logs.h"
#include "rewind/keras/metric.h"
#include "rewind/keras/optimizer.h"

namespace rw::keras {

class Model;

// Where training stands, for FitOptions::resume_from: with the variables (weights, optimizer, random states)
// as they were then, fit goes on as if it had never stopped.
struct TrainingPosition {
  int epoch = 0;                     // the one at hand; beyond the last: nothing is left to do
  int64_t step = 0;                  // steps of it that were made
  std::string data = {};             // of the pass over the data
  std::vector<Tensor> metrics = {};  // what the metrics have seen of the epoch
  // Where fit has written moving averages (use_ema) into the weights: the weights from which it goes on.
  std::vector<Tensor> weights = {};
  std::vector<Logs::Item> logs = {};        // of the epoch's last step
  std::vector<std::string> callbacks = {};  // what those have seen that keep state, in their order
};

// What callbacks see of whoever trains.
class TrainingHost {
 public:
  virtual ~TrainingHost() = default;
  virtual std::vector<Tensor> get_weights() const = 0;
  virtual void set_weights(const std::vector<Tensor>& weights) = 0;
  virtual const Optimizer* optimizer() const = 0;  // nullptr: none
  // Whether more of this metric ("accuracy", without "val_") is better.
  virtual Direction direction(const std::string& metric) const = 0;
  // In on_train_batch_end and on_epoch_end: what is done is behind it.
  virtual TrainingPosition position() const { return {}; }
  // In on_train_begin: training begins there, with the variables as they were then.
  virtual void resume_from(const TrainingPosition& position) { (void)position; }
  virtual Model* model() { return nullptr; }  // nullptr: something else trains

  std::atomic<bool> stop_training{false};  // set by callbacks; training ends after the step
};

struct TrainingParams {
  int verbose = 1;  // 0 silent, 1 a bar, 2 a line an epoch
  int64_t epochs = 1;
  int64_t steps = -1;  // of an epoch; -1: not known yet
};

class Callback {
 public:
  virtual ~Callback() = default;

  virtual void on_train_begin(Logs& logs) { (void)logs; }
  virtual void on_train_end(Logs& logs) { (void)logs; }
  virtual void on_epoch_begin(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  // Training and validation together: "loss", "accuracy", "val_loss", ...
  virtual void on_epoch_end(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_train_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_train_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_test_begin(Logs& logs) { (void)logs; }
  virtual void on_test_end(Logs& logs) { (void)logs; }
  virtual void on_test_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_test_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_predict_begin(Logs& logs) { (void)logs; }
  virtual void on_predict_end(Logs& logs) { (void)logs; }
  virtual void on_predict_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_predict_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  // What it has seen of the training, as bytes, so that it goes on as if training had never stopped; and
  // back, behind on_train_begin. Throws InvalidArgumentError for bytes that another class wrote.
  virtual std::string save_state() const { return {}; }
  virtual void load_state(const std::string& state) { (void)state; }

  // nullptr when the training that it watched has ended, also by an exception.
  virtual void set_host(TrainingHost* host) { host_ = host; }
  virtual void set_params(const TrainingParams& params) { params_ = params; }
  TrainingHost& host() const;  // throws FailedPreconditionError outside training
  TrainingHost* host_or_null() const { return host_; }
  Model& model() const;  // the one that trains; throws FailedPreconditionError where there is none
  const TrainingParams& params() const { return params_; }

 private:
  TrainingHost* host_ = nullptr;
  TrainingParams params_;
};

// A callback as an argument: an object (copied), or a shared pointer to one (looked at after training).
class CallbackRef {
 public:
  template <std::derived_from<Callback> C>
  CallbackRef(C callback)  // NOLINT: as written
      : callback_(static_cast<Callback*>(new C(std::move(callback)))) {}
  template <std::derived_from<Callback> C>
  CallbackRef(std::shared_ptr<C> callback) : callback_(std::move(callback)) {}  // NOLINT
  Callback& operator*() const { return *callback_; }
  Callback* operator->() const { return callback_.get(); }
  const std::shared_ptr<Callback>& shared() const { return callback_; }

 private:
  std::shared_ptr<Callback> callback_;
};

// Tells all of them, in order. For training loops.
class CallbackList : public Callback {
 public:
  explicit CallbackList(std::vector<CallbackRef> callbacks = {}) : callbacks_(std::move(callbacks)) {}
  void add(CallbackRef callback) { callbacks_.push_back(std::move(callback)); }
  const std::vector<CallbackRef>& list() const { return callbacks_; }
  // The first of this class, if there is one.
  template <class C>
  std::shared_ptr<C> find() const {
    for (const CallbackRef& c : callbacks_)
      if (auto* found = dynamic_cast_to<C*>(&*c)) return std::shared_ptr<C>(c.shared(), found);
    return nullptr;
  }

  void set_host(TrainingHost* host) override;
  void set_params(const TrainingParams& params) override;

#define RW_TELL_ALL(hook)                                  \
  void hook(Logs& logs) override {                         \
    for (const CallbackRef& c : callbacks_) c->hook(logs); \
  }
#define RW_TELL_ALL_AT(hook)                                   \
  void hook(int64_t at, Logs& logs) override {                 \
    for (const CallbackRef& c : callbacks_) c->hook(at, logs); \
  }
  RW_TELL_ALL(on_train_begin)
  RW_TELL_ALL(on_train_end)
  RW_TELL_ALL(on_test_begin)
  RW_TELL_ALL(on_test_end)
  RW_TELL_ALL(on_predict_begin)
  RW_TELL_ALL(on_predict_end)
  RW_TELL_ALL_AT(on_epoch_begin)
  RW_TELL_ALL_AT(on_epoch_end)
  RW_TELL_ALL_AT(on_train_batch_begin)
  RW_TELL_ALL_AT(on_train_batch_end)
  RW_TELL_ALL_AT(on_test_batch_begin)
  RW_TELL_ALL_AT(on_test_batch_end)
  RW_TELL_ALL_AT(on_predict_batch_begin)
  RW_TELL_ALL_AT(on_predict_batch_end)
#undef RW_TELL_ALL
#undef RW_TELL_ALL_AT

 private:
  std::vector<CallbackRef> callbacks_;
};

}  // namespace rw::keras
