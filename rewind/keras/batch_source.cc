#include "rewind/keras/batch_source.h"

#include <numeric>
#include <random>

#include "rewind/base/error.h"
#include "rewind/data/position.h"
#include "rewind/keras/initializers.h"
#include "rewind/keras/resume.h"

namespace rw::keras {
namespace {

class FromArrays : public BatchSource {
 public:
  explicit FromArrays(const ArrayBatches& arrays) : arrays_(arrays), random_(0) {
    if (arrays.batch_size <= 0)
      fail_invalid("fit", "batch_size must be positive: got " + std::to_string(arrays.batch_size));
    rows_.resize(size_t(arrays.end - arrays.begin));
    std::iota(rows_.begin(), rows_.end(), arrays.begin);
    if (arrays.shuffle) seed_ = make_default_seed();
    random_.seed(uint64_t(seed_));
  }
  void start() override {
    at_ = 0;
    ++passes_;
    // Fisher and Yates by hand: std::shuffle may differ from library to library.
    if (arrays_.shuffle)
      for (size_t i = rows_.size(); i > 1; --i) std::swap(rows_[i - 1], rows_[size_t(random_() % i)]);
  }
  // The order of a pass follows from the seed and from how many came before it.
  std::string position() override {
    data::PositionWriter to;
    to.mark("arrays");
    for (const int64_t n : {int64_t(rows_.size()), seed_, passes_, int64_t(at_)}) to.number(n);
    return to.take();
  }
  void start_at(const std::string& position, const Progress& made) override {
    const auto rows = int64_t(rows_.size());
    data::PositionReader from(position);
    from.mark("arrays");
    from.number(rows, rows);
    const int64_t seed = from.number();
    const int64_t passes = from.number(0, INT64_MAX);
    const int64_t at = from.number(0, rows);
    from.finish();
    const int64_t epochs = epochs_of(passes, at, made);
    if (epochs < 0 || epochs > made.epoch)
      fail_position("behind step " + std::to_string(made.step) + " of epoch " + std::to_string(made.epoch) +
                    ", the pass over the arrays cannot be the " + std::to_string(passes) +
                    "th and stand at row " + std::to_string(at));
    seed_ = seed;
    random_.seed(uint64_t(seed_));
    std::iota(rows_.begin(), rows_.end(), arrays_.begin);
    passes_ = 0;
    while (passes_ < passes) start();
    at_ = passes > 0 ? size_t(at) : rows_.size();  // none was begun: the next one is the first
  }
  bool next(Batch* batch) override {
    if (at_ >= rows_.size()) return false;
    const size_t count = std::min(size_t(arrays_.batch_size), rows_.size() - at_);
    const std::span<const int64_t> rows(rows_.data() + at_, count);
    batch->x.clear();
    batch->y.clear();
    for (const Tensor& t : arrays_.x) batch->x.push_back(data::gather_rows(t, rows));
    for (const Tensor& t : arrays_.y) batch->y.push_back(data::gather_rows(t, rows));
    batch->sample_weight =
        arrays_.sample_weight.defined() ? data::gather_rows(arrays_.sample_weight, rows) : Tensor();
    at_ += count;
    return true;
  }
  int64_t steps() const override {
    return (int64_t(rows_.size()) + arrays_.batch_size - 1) / arrays_.batch_size;
  }

 private:
  // How many epochs end before the one at hand when so many passes were begun and the last stands at this
  // row; -1: that cannot be. A pass that ends inside of an epoch ends the epoch too.
  int64_t epochs_of(int64_t passes, int64_t at, const Progress& made) const {
    if (rows_.empty()) return -1;
    if (passes == 0) return at == 0 && made.step == 0 ? 0 : -1;
    const int64_t whole = steps();
    const int64_t each = made.steps_per_epoch > 0 ? std::min(made.steps_per_epoch, whole) : whole;
    const int64_t per_pass = (whole + each - 1) / each;
    const bool ended = at == int64_t(rows_.size());
    if (!ended && at % arrays_.batch_size != 0) return -1;
    const int64_t before = (at + arrays_.batch_size - 1) / arrays_.batch_size - made.step;  // steps
    if (made.step > each || before < 0) return -1;
    if (passes - 1 > made.epoch / per_pass) return -1;
    if (made.step == 0 && ended) return passes * per_pass;
    return before % each == 0 ? (passes - 1) * per_pass + before / each : -1;
  }

  ArrayBatches arrays_;
  std::vector<int64_t> rows_;
  int64_t seed_ = 0;
  std::mt19937_64 random_;
  int64_t passes_ = 0;  // that were begun
  size_t at_ = 0;
};

class FromDataset : public BatchSource {
 public:
  FromDataset(const data::Dataset& dataset, size_t inputs, size_t outputs)
      : dataset_(dataset), inputs_(inputs), outputs_(outputs) {}
  void start() override { cursor_ = dataset_.node().cursor(); }
  std::string position() override {
    data::PositionWriter to;
    to.mark("dataset");
    if (cursor_) cursor_->save(to);
    return to.take();
  }
  void start_at(const std::string& position, const Progress&) override {
    data::PositionReader from(position);
    from.mark("dataset");
    if (from.at() == position.size()) return;  // no pass was begun
    start();
    cursor_->load(from);
    from.finish();
  }
  bool next(Batch* batch) override {
    data::Element element;
    if (!cursor_ || !cursor_->next(&element)) return false;
    batch->x.clear();
    batch->y.clear();
    batch->sample_weight = {};
    for (size_t i = 0; i < element.size(); ++i) {
      if (i < inputs_) batch->x.push_back(element[i]);
      else if (i < inputs_ + outputs_) batch->y.push_back(element[i]);
      else batch->sample_weight = element[i];
    }
    if (batch->x.size() < inputs_ || element.size() > inputs_ + outputs_ + 1)
      fail_invalid("fit", "elements of the dataset have " + std::to_string(element.size()) +
                              " tensors, and the model takes " + std::to_string(inputs_) +
                              " inputs and has " + std::to_string(outputs_) + " outputs");
    return true;
  }
  int64_t steps() const override {
    const int64_t n = dataset_.cardinality();
    return n >= 0 ? n : -1;
  }

 private:
  data::Dataset dataset_;
  size_t inputs_, outputs_;
  std::unique_ptr<data::Cursor> cursor_;
};

}  // namespace

int64_t rows_of(const ArrayBatches& arrays) {
  int64_t rows = -1;
  auto check = [&](const Tensor& t) {
    if (!t.defined()) return;
    if (t.rank() < 1) fail_invalid("fit", "arrays must have a first axis of examples: got a scalar");
    if (rows >= 0 && t.dim(0) != rows)
      fail_invalid("fit", "Make sure all arrays contain the same number of samples: there are " +
                              std::to_string(rows) + " and " + std::to_string(t.dim(0)));
    rows = t.dim(0);
  };
  for (const Tensor& t : arrays.x) check(t);
  for (const Tensor& t : arrays.y) check(t);
  check(arrays.sample_weight);
  if (rows < 0) fail_invalid("fit", "there are no inputs");
  return rows;
}

std::unique_ptr<BatchSource> batches_of(const ArrayBatches& arrays) {
  return std::make_unique<FromArrays>(arrays);
}
std::unique_ptr<BatchSource> batches_of(const data::Dataset& dataset, size_t inputs, size_t outputs) {
  return std::make_unique<FromDataset>(dataset, inputs, outputs);
}

}  // namespace rw::keras
