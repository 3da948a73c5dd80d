#include "rewind/keras/model_checkpoint.h"

#include <filesystem>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/callback_state.h"
#include "rewind/keras/model.h"

namespace rw::keras {
inline namespace callbacks {
namespace {

constexpr const char* kModelCheckpoint = "ModelCheckpoint";

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }
std::string in_epoch(int64_t epoch) { return "\nEpoch " + std::to_string(epoch + 1) + ": "; }

}  // namespace

ModelCheckpoint::ModelCheckpoint(std::string filepath, const ModelCheckpointOptions& options)
    : filepath_(std::move(filepath)),
      o_(options),
      monitor_(options.monitor, options.mode, 0),
      best_(options.initial_value_threshold) {
  if (o_.save_weights_only && !filepath_.ends_with(".weights.h5"))
    fail_invalid(kModelCheckpoint,
                 "with save_weights_only the file path must end in .weights.h5: got \"" + filepath_ + "\"");
  if (!o_.save_weights_only && !filepath_.ends_with(".keras") && !filepath_.ends_with(".h5"))
    fail_invalid(
        kModelCheckpoint,
        "the file path must end in .keras, or in .h5 for the older format: got \"" + filepath_ + "\"");
}

void ModelCheckpoint::on_epoch_begin(int64_t epoch, Logs&) { epoch_ = epoch; }

void ModelCheckpoint::on_train_batch_end(int64_t batch, Logs& logs) {
  if (o_.save_freq.count_batch()) save(epoch_, batch, logs);
}

void ModelCheckpoint::on_epoch_end(int64_t epoch, Logs& logs) {
  if (o_.save_freq.each_epoch()) save(epoch, {}, logs);
}

void ModelCheckpoint::save(int64_t epoch, std::optional<int64_t> batch, const Logs& logs) {
  const std::string path = formatted_path(filepath_, epoch, batch, logs);
  if (!should_save(epoch, logs, path)) return;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file))
    fail_invalid(kModelCheckpoint, "expected the path of a file, and " + path + " is a folder");
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  if (o_.save_weights_only) model().save_weights(path);
  else model().save(path);
  if (o_.verbose > 0) print(in_epoch(epoch) + "finished saving model to " + path + "\n");
}

bool ModelCheckpoint::should_save(int64_t epoch, const Logs& logs, const std::string& path) {
  if (!o_.save_best_only) {
    if (o_.verbose > 0) print(in_epoch(epoch) + "saving model to " + path + "\n");
    return true;
  }
  const std::optional<double> current = logs.get(o_.monitor);
  if (!current) {
    std::fputs(("rewind: ModelCheckpoint can save the best model only with " + o_.monitor +
                " available; there are " + logs.names() + ". It saves this one\n")
                   .c_str(),
               stderr);
    return true;
  }
  const std::string before = best_ ? fixed_text(*best_, 5) : "None";
  if (!monitor_.improves(*current, best_, host())) {
    if (o_.verbose > 0) print(in_epoch(epoch) + o_.monitor + " did not improve from " + before + "\n");
    return false;
  }
  if (o_.verbose > 0)
    print(in_epoch(epoch) + o_.monitor + " improved from " + before + " to " + fixed_text(*current, 5) +
          ", saving model to " + path + "\n");
  best_ = current;
  return true;
}

std::string ModelCheckpoint::save_state() const {
  data::PositionWriter to;
  to.mark(kModelCheckpoint);
  put_best(to, best_);
  o_.save_freq.save(to);
  return to.take();
}

void ModelCheckpoint::load_state(const std::string& state) {
  data::PositionReader from(state, "the state of ModelCheckpoint");
  from.mark(kModelCheckpoint);
  best_ = take_best(from);
  o_.save_freq.load(from);
  from.finish();
}

}  // namespace callbacks
}  // namespace rw::keras
