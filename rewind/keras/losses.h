// The losses, with Keras' names, defaults and arithmetic: as classes, which reduce, and as functions, which
// give one value an example (the mean over the last axis, where there is something to average).
#pragma once

#include <optional>
#include <vector>

#include "rewind/keras/loss.h"

namespace rw::keras {
inline namespace losses {

// ---- functions --------------------------------------------------------------------------------------------

Tensor mean_squared_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_absolute_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_absolute_percentage_error(const Operand& y_true, const Operand& y_pred);
Tensor mean_squared_logarithmic_error(const Operand& y_true, const Operand& y_pred);
Tensor cosine_similarity(const Operand& y_true, const Operand& y_pred, int axis = -1);  // -1 is most alike
Tensor huber(const Operand& y_true, const Operand& y_pred, double delta = 1.0);
Tensor log_cosh(const Operand& y_true, const Operand& y_pred);
Tensor hinge(const Operand& y_true, const Operand& y_pred);  // labels -1 and 1, or 0 and 1
Tensor squared_hinge(const Operand& y_true, const Operand& y_pred);
Tensor categorical_hinge(const Operand& y_true, const Operand& y_pred);
Tensor kl_divergence(const Operand& y_true, const Operand& y_pred);
Tensor poisson(const Operand& y_true, const Operand& y_pred);

// Predictions that keras::activations::sigmoid or softmax made are taken back to their logits, as in Keras.
struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
};
Tensor binary_crossentropy(const Operand& y_true, const Operand& y_pred,
                           const CrossentropyOptions& options = {});
Tensor categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                const CrossentropyOptions& options = {});
struct SparseCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};  // examples with this label count nothing
};
LossValues sparse_categorical_crossentropy(const Operand& y_true, const Operand& y_pred,
                                           const SparseCrossentropyOptions& options = {});
struct BinaryFocalOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
};
Tensor binary_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                 const BinaryFocalOptions& options = {});
struct CategoricalFocalOptions {
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
};
Tensor categorical_focal_crossentropy(const Operand& y_true, const Operand& y_pred,
                                      const CategoricalFocalOptions& options = {});
Tensor categorical_generalized_cross_entropy(const Operand& y_true, const Operand& y_pred, double q = 0.5);

// Over all elements, or over these axes.
Tensor dice(const Operand& y_true, const Operand& y_pred, const std::vector<int64_t>& axis = {});
Tensor tversky(const Operand& y_true, const Operand& y_pred, double alpha = 0.5, double beta = 0.5,
               const std::vector<int64_t>& axis = {});
struct CircleOptions {
  double gamma = 80.0;
  double margin = 0.4;
  bool remove_diagonal = true;
};
// y_pred are embeddings of length 1, y_true their classes.
LossValues circle(const Operand& y_true, const Operand& y_pred, const CircleOptions& options = {});

// Minus the log-probability of the labels over all their alignments, one value an example. y_true (batch,
// length): classes, 0 (the blank) behind the last; y_pred (batch, time, classes): logits.
Tensor ctc(const Operand& y_true, const Operand& y_pred);

// ---- classes ----------------------------------------------------------------------------------------------

#define RW_KERAS_SIMPLE_LOSS(Class)                  \
  class Class : public Loss {                        \
   public:                                           \
    explicit Class(const LossOptions& options = {}); \
  };
RW_KERAS_SIMPLE_LOSS(MeanSquaredError)
RW_KERAS_SIMPLE_LOSS(MeanAbsoluteError)
RW_KERAS_SIMPLE_LOSS(MeanAbsolutePercentageError)
RW_KERAS_SIMPLE_LOSS(MeanSquaredLogarithmicError)
RW_KERAS_SIMPLE_LOSS(LogCosh)
RW_KERAS_SIMPLE_LOSS(Hinge)
RW_KERAS_SIMPLE_LOSS(SquaredHinge)
RW_KERAS_SIMPLE_LOSS(CategoricalHinge)
RW_KERAS_SIMPLE_LOSS(KLDivergence)
RW_KERAS_SIMPLE_LOSS(Poisson)
RW_KERAS_SIMPLE_LOSS(CTC)
#undef RW_KERAS_SIMPLE_LOSS

// The fields that every loss' options end with: see LossOptions.
#define RW_KERAS_LOSS_OPTIONS                    \
  std::string reduction = "sum_over_batch_size"; \
  std::string name = "";                         \
  DType dtype = DType::kFloat32;

struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
  RW_KERAS_LOSS_OPTIONS
};
class BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(const BinaryCrossentropyOptions& options = {});
};
using CategoricalCrossentropyOptions = BinaryCrossentropyOptions;
class CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {});
};
struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  RW_KERAS_LOSS_OPTIONS
};
class SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
};
struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
  RW_KERAS_LOSS_OPTIONS
};
class BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {});
};
struct CategoricalFocalCrossentropyOptions {
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int axis = -1;
  RW_KERAS_LOSS_OPTIONS
};
class CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});
};
struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;
  RW_KERAS_LOSS_OPTIONS
};
class CategoricalGeneralizedCrossEntropy : public Loss {
 public:
  explicit CategoricalGeneralizedCrossEntropy(const CategoricalGeneralizedCrossEntropyOptions& options = {});
};
struct CosineSimilarityOptions {
  int axis = -1;
  RW_KERAS_LOSS_OPTIONS
};
class CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(const CosineSimilarityOptions& options = {});
};
struct HuberOptions {
  double delta = 1.0;
  RW_KERAS_LOSS_OPTIONS
};
class Huber : public Loss {
 public:
  explicit Huber(const HuberOptions& options = {});
};
struct DiceOptions {
  std::vector<int64_t> axis = {};  // all
  RW_KERAS_LOSS_OPTIONS
};
class Dice : public Loss {
 public:
  explicit Dice(const DiceOptions& options = {});
};
struct TverskyOptions {
  double alpha = 0.5;
  double beta = 0.5;
  std::vector<int64_t> axis = {};  // all
  RW_KERAS_LOSS_OPTIONS
};
class Tversky : public Loss {
 public:
  explicit Tversky(const TverskyOptions& options = {});
};
struct CircleLossOptions {
  double gamma = 80.0;
  double margin = 0.4;
  bool remove_diagonal = true;
  RW_KERAS_LOSS_OPTIONS
};
class Circle : public Loss {
 public:
  explicit Circle(const CircleLossOptions& options = {});
};

// By Keras' class name, function name or short form ("mse"); throws InvalidArgumentError for others.
Loss get(const std::string& name);

}  // namespace losses
}  // namespace rw::keras
