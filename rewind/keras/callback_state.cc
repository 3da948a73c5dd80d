#include "rewind/keras/callback_state.h"

#include <bit>

#include "rewind/keras/callbacks.h"

namespace rw::keras {

void put_real(data::PositionWriter& to, double value) { to.number(std::bit_cast<int64_t>(value)); }
void put_best(data::PositionWriter& to, const std::optional<double>& best) {
  to.number(best ? 1 : 0);
  put_real(to, best.value_or(0));
}
double take_real(data::PositionReader& from) { return std::bit_cast<double>(from.number()); }
std::optional<double> take_best(data::PositionReader& from) {
  const bool there = from.number(0, 1) == 1;
  const double value = take_real(from);
  return there ? std::optional(value) : std::nullopt;
}

std::string EarlyStopping::save_state() const {
  data::PositionWriter to;
  to.mark("EarlyStopping");
  put_best(to, best_);
  for (const int64_t n : {wait_, stopped_epoch_, best_epoch_, int64_t(best_weights_.size())}) to.number(n);
  for (const Tensor& w : best_weights_) to.tensor(w);
  return to.take();
}

void EarlyStopping::load_state(const std::string& state) {
  data::PositionReader from(state, "the state of EarlyStopping");
  from.mark("EarlyStopping");
  best_ = take_best(from);
  wait_ = from.number();
  stopped_epoch_ = from.number();
  best_epoch_ = from.number();
  best_weights_.clear();
  for (int64_t left = from.number(0, int64_t(state.size())); left > 0; --left)
    best_weights_.push_back(from.tensor());
  from.finish();
  if (stopped_epoch_ > 0) host().stop_training = true;
}

std::string ReduceLROnPlateau::save_state() const {
  data::PositionWriter to;
  to.mark("ReduceLROnPlateau");
  put_best(to, best_);
  to.number(wait_);
  to.number(cooling_);
  return to.take();
}

void ReduceLROnPlateau::load_state(const std::string& state) {
  data::PositionReader from(state, "the state of ReduceLROnPlateau");
  from.mark("ReduceLROnPlateau");
  best_ = take_best(from);
  wait_ = from.number();
  cooling_ = from.number();
  from.finish();
}

std::string CSVLogger::save_state() const {
  data::PositionWriter to;
  to.mark("CSVLogger");
  to.number(size_);
  to.number(header_ ? 1 : 0);
  to.number(int64_t(keys_.size()));
  for (const std::string& key : keys_) to.text(key);
  return to.take();
}

void CSVLogger::load_state(const std::string& state) {
  data::PositionReader from(state, "the state of CSVLogger");
  from.mark("CSVLogger");
  size_ = kept_ = from.number(0, INT64_MAX);
  header_ = from.number(0, 1) == 1;
  keys_.clear();
  for (int64_t left = from.number(0, int64_t(state.size())); left > 0; --left) keys_.push_back(from.text());
  from.finish();
}

}  // namespace rw::keras
