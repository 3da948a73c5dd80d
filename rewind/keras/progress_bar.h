// The progress bar that Keras draws: steps, a bar, time, rate, numbers. Where the output is no terminal, or
// with verbose = 2, one plain line an epoch.
//
//   469/469 ━━━━━━━━━━━━━━━━━━━━ 1s 2ms/step - accuracy: 0.8213 - loss: 0.5124 - val_loss: 0.4403
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "rewind/keras/callback.h"

namespace rw::keras {
inline namespace callbacks {

struct ProgressBarOptions {
  std::ostream* output = nullptr;      // std::cout
  std::optional<bool> terminal = {};   // whether it can be drawn over; by default, what the output is
  std::function<double()> clock = {};  // seconds; for tests
  std::function<int()> columns = {};   // of the terminal, 0 if that is not known; for tests
};

class ProgressBar : public Callback {
 public:
  explicit ProgressBar(const ProgressBarOptions& options = {});
  void set_host(TrainingHost* host) override;
  void on_train_begin(Logs& logs) override;
  void on_train_end(Logs& logs) override;
  void on_epoch_begin(int64_t epoch, Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_batch_end(int64_t batch, Logs& logs) override;
  void on_test_begin(Logs& logs) override;
  void on_test_batch_end(int64_t batch, Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_predict_begin(Logs& logs) override;
  void on_predict_batch_end(int64_t batch, Logs& logs) override;
  void on_predict_end(Logs& logs) override;

 private:
  void begin();
  void batch_done(int64_t batch, const Logs* logs);
  void finish(const Logs* logs);
  // Draws the line for `current` steps; `last` ends it.
  void draw(int64_t current, const Logs* logs, bool last);
  double seconds_per_step(int64_t current, double now);

  ProgressBarOptions o_;
  bool terminal_;
  bool in_fit_ = false;
  int64_t seen_ = 0;
  double start_ = 0, last_drawn_ = 0, after_first_ = 0;
  int width_ = 0;  // of what stands on the line
};
using ProgbarLogger = ProgressBar;

}  // namespace callbacks
}  // namespace rw::keras
