// Callback: what fit, evaluate and predict tell while they run. Derive from it for one of your own, and hand
// it to fit: {.callbacks = {MyCallback(), keras::EarlyStopping({.patience = 3})}}.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rw::keras {

class Model;

// Values by name, in the order of their names, as Keras reports them: "accuracy", "loss", "val_loss".
using Logs = std::vector<std::pair<std::string, double>>;

// nullptr when there is none of that name.
inline const double* find_log(const Logs& logs, const std::string& name) {
  for (const auto& [key, value] : logs)
    if (key == name) return &value;
  return nullptr;
}

struct CallbackParams {
  int verbose = 1;
  int epochs = 1;
  int64_t steps = -1;  // of an epoch; -1: not known before its end
};

class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin() {}
  virtual void on_train_end(const Logs& logs) { (void)logs; }
  virtual void on_epoch_begin(int epoch) { (void)epoch; }
  // Later callbacks and the history see what is added to the logs here.
  virtual void on_epoch_end(int epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_train_batch_begin(int64_t batch) { (void)batch; }
  virtual void on_train_batch_end(int64_t batch, const Logs& logs) { (void)batch, (void)logs; }
  virtual void on_test_begin() {}
  virtual void on_test_end(const Logs& logs) { (void)logs; }
  virtual void on_test_batch_begin(int64_t batch) { (void)batch; }
  virtual void on_test_batch_end(int64_t batch, const Logs& logs) { (void)batch, (void)logs; }
  virtual void on_predict_begin() {}
  virtual void on_predict_end() {}
  virtual void on_predict_batch_begin(int64_t batch) { (void)batch; }
  virtual void on_predict_batch_end(int64_t batch) { (void)batch; }

  // Set before anything is told.
  void set_model(Model* model) { model_ = model; }
  void set_params(const CallbackParams& params) { params_ = params; }
  Model& model() const { return *model_; }
  const CallbackParams& params() const { return params_; }

 private:
  Model* model_ = nullptr;
  CallbackParams params_;
};

// Any callback, as fit keeps it: a value is moved, a pointer is shared (a plain one must outlive the call).
class CallbackRef {
 public:
  template <class C>
    requires std::derived_from<std::remove_cvref_t<C>, Callback>
  CallbackRef(C&& callback)  // NOLINT: lists of callbacks are written as they are
      : callback_(std::make_shared<std::remove_cvref_t<C>>(std::forward<C>(callback))) {}
  template <class C>
    requires std::derived_from<C, Callback>
  CallbackRef(std::shared_ptr<C> callback) : callback_(std::move(callback)) {}  // NOLINT
  CallbackRef(Callback* callback) : callback_(callback, [](Callback*) {}) {}    // NOLINT

  Callback* operator->() const { return callback_.get(); }
  Callback& operator*() const { return *callback_; }

 private:
  std::shared_ptr<Callback> callback_;
};

}  // namespace rw::keras
