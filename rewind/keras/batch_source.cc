#include "rewind/keras/batch_source.h"

#include <numeric>
#include <random>

#include "rewind/base/error.h"
#include "rewind/data/position.h"
#include "rewind/keras/initializers.h"

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
  void start_at(const std::string& position) override {
    data::PositionReader from(position);
    from.mark("arrays");
    from.number(int64_t(rows_.size()), int64_t(rows_.size()));
    seed_ = from.number();
    const int64_t passes = from.number(1, INT64_MAX);
    const int64_t at = from.number(0, int64_t(rows_.size()));
    from.finish();
    random_.seed(uint64_t(seed_));
    std::iota(rows_.begin(), rows_.end(), arrays_.begin);
    passes_ = 0;
    while (passes_ < passes) start();
    at_ = size_t(at);
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
  void start_at(const std::string& position) override {
    data::PositionReader from(position);
    from.mark("dataset");
    start();
    cursor_->load(from);
    from.finish();
  }
  bool next(Batch* batch) override {
    data::Element element;
    if (!cursor_->next(&element)) return false;
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
