// Layers that make numbers of categories: CategoryEncoding, Hashing, HashedCrossing, Discretization.
#pragma once

#include <variant>

#include "rewind/data/dataset.h"
#include "rewind/keras/layer.h"

namespace rw::keras {

struct CategoryEncodingOptions {
  std::string output_mode = "multi_hot";  // "one_hot", "count"
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Numbers below num_tokens as ones at their places. In the mode "count" a second input weighs them.
class CategoryEncoding : public LayerOf<CategoryEncoding> {
 public:
  explicit CategoryEncoding(int64_t num_tokens, const CategoryEncodingOptions& options = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override;

 private:
  int64_t num_tokens_;
  std::string output_mode_;
};

struct HashingOptions {
  std::variant<std::monostate, int64_t, std::string> mask_value = {};  // what has the number 0
  std::vector<int64_t> salt = {};   // one or two numbers: another hash for each
  std::string output_mode = "int";  // "one_hot", "multi_hot", "count"
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};  // int64, or float32 in the other modes
};
// Strings and integers as numbers below num_bins, by their hash.
class Hashing : public LayerOf<Hashing> {
 public:
  explicit Hashing(int64_t num_bins, const HashingOptions& options = {});
  Tensor call(const Tensor& x, const CallArgs&) override;

 private:
  Tensor bins_of(const Tensor& values) const;
  int64_t num_bins_;
  HashingOptions options_;
};

struct HashedCrossingOptions {
  std::string output_mode = "int";  // "one_hot"
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};  // int64, or float32
};
// Two or more features, () or (batch) or (batch, 1) of strings or integers: numbers below num_bins for their
// combinations.
class HashedCrossing : public LayerOf<HashedCrossing> {
 public:
  explicit HashedCrossing(int64_t num_bins, const HashedCrossingOptions& options = {});
  format::Json get_config() const override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArgs&) override;

 private:
  int64_t num_bins_;
  std::string output_mode_;
};

struct DiscretizationOptions {
  std::vector<double> bin_boundaries = {};
  std::optional<int64_t> num_bins = {};  // adapt() finds the boundaries of as many bins of equal weight
  double epsilon = 0.01;                 // how exactly
  std::string output_mode = "int";       // "one_hot", "multi_hot", "count"
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};
// Numbers by the bins in which they lie.
class Discretization : public LayerOf<Discretization> {
 public:
  explicit Discretization(const DiscretizationOptions& options = {});
  format::Json get_config() const override;
  Tensor call(const Tensor& x, const CallArgs&) override;
  void adapt(const Tensor& data) const;
  void adapt(const std::vector<Tensor>& batches) const;
  // The first `steps` batches; -1: all.
  void adapt(const data::DatasetOf<Tensor>& batches, int64_t steps = -1) const;
  std::vector<double> bin_boundaries() const { return state_->boundaries; }

 private:
  // Boundaries and how many values lie in front of each, behind the one before.
  struct Summary {
    std::vector<float> values, weights;
  };
  struct State {
    std::vector<double> boundaries;
    Summary summary;
  };
  static Summary summarize(const Tensor& data, double epsilon);
  static Summary joined(Summary first, const Summary& second, double epsilon);
  static Summary compressed(const Summary& summary, double epsilon);
  void start() const;
  void finish() const;
  DiscretizationOptions options_;
  std::shared_ptr<State> state_ = std::make_shared<State>();  // of all copies of the layer
};

namespace detail {
// Numbers of categories in an output mode: "int", "one_hot", "multi_hot", "count"; weights only with "count".
Tensor encode_categories(const Tensor& ids, const std::string& mode, int64_t depth, DType dtype,
                         const Tensor& weights = {});
void check_output_mode(const char* layer, const std::string& mode, const std::vector<std::string>& known);
// Columns (batch, 1) of strings or int64: a number below `bins` for each row, (batch, 1).
Tensor cross_hashed(const std::vector<Tensor>& columns, int64_t bins);
// One number is for both halves.
std::vector<int64_t> hash_key(const char* layer, const std::vector<int64_t>& salt);
}  // namespace detail

}  // namespace rw::keras
