// Where the batches of a pass come from: arrays, cut and shuffled, or a dataset.
#pragma once

#include <memory>

#include "rewind/data/dataset.h"
#include "rewind/keras/training.h"

namespace rw::keras {

// Where in a training a pass is resumed: behind so many steps of this epoch. 0 steps_per_epoch: an epoch is
// a pass.
struct Progress {
  int64_t epoch = 0, step = 0, steps_per_epoch = 0;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Begins a pass.
  virtual void start() = 0;
  // Where the pass stands behind the batch that came last, as bytes; and a pass that goes on from there, of
  // the same data. Throws InvalidArgumentError for bytes of other data, or that contradict the progress.
  virtual std::string position() = 0;
  virtual void start_at(const std::string& position, const Progress& at) = 0;
  // The next batch; false at the end.
  virtual bool next(Batch* batch) = 0;
  // Batches of a pass; -1: unknown or without end.
  virtual int64_t steps() const = 0;
};

struct ArrayBatches {
  std::vector<Tensor> x, y;
  Tensor sample_weight;
  int64_t batch_size = 32;
  int64_t begin = 0, end = 0;  // which rows
  bool shuffle = false;
};
// Throws InvalidArgumentError if the arrays have different numbers of rows.
int64_t rows_of(const ArrayBatches& arrays);
std::unique_ptr<BatchSource> batches_of(const ArrayBatches& arrays);
// An element's tensors are inputs, then targets, then weights, as many as the model has inputs and outputs.
std::unique_ptr<BatchSource> batches_of(const data::Dataset& dataset, size_t inputs, size_t outputs);

}  // namespace rw::keras
