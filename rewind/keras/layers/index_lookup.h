// StringLookup and IntegerLookup: numbers of tokens by a vocabulary, and back.
//
// Numbers begin with the mask token's 0 (in the mode "int", where there is one); then come num_oov_indices
// numbers for what the vocabulary does not have, then the vocabulary. The vocabulary is given, or learned by
// adapt(), the most frequent tokens first. A vocabulary that changes is not seen by functions that were
// traced before.
#pragma once

#include <map>
#include <type_traits>

#include "rewind/data/dataset.h"
#include "rewind/keras/layer.h"
#include "rewind/keras/layer_assets.h"
#include "rewind/tensor/ops/lookup.h"
#include "rewind/tensor/ops/ragged.h"

namespace rw::keras {

namespace detail {
template <class T>
T usual_oov_token() {
  if constexpr (std::is_same_v<T, std::string>) return "[UNK]";
  else return -1;
}
}  // namespace detail

// T: std::string or int64_t.
template <class T>
struct LookupOptions {
  std::optional<int64_t> max_tokens = {};  // most numbers, those of no token included
  int64_t num_oov_indices = 1;
  std::optional<T> mask_token = {};
  std::optional<T> oov_token =
      detail::usual_oov_token<T>();  // for numbers of no token, where tokens come out
  std::vector<T> vocabulary = {};
  std::vector<double> idf_weights = {};  // of the vocabulary, in the mode "tf_idf"
  bool invert = false;                   // tokens by numbers
  std::string output_mode = "int";       // "one_hot", "multi_hot", "count", "tf_idf"
  bool pad_to_max_tokens = false;
  std::string oov_method = "floormod";  // of integers: "farmhash"
  std::vector<int64_t> salt = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

namespace detail {

// What the two layers and TextVectorization share; copies share the vocabulary.
template <class T>
class TokenIndex {
 public:
  TokenIndex() = default;
  TokenIndex(const char* layer, const LookupOptions<T>& options);

  void set_vocabulary(const std::vector<T>& vocabulary, const std::vector<double>& idf_weights) const;
  // One token a line.
  void set_vocabulary_file(const std::string& path) const;
  std::vector<T> vocabulary(bool include_special_tokens) const;
  int64_t size() const;  // of all numbers

  void start() const;
  // A document per row of row_splits, where it is given.
  void count(const Tensor& values, const Tensor& row_splits) const;
  void finish() const;

  Tensor numbers_of(const Tensor& tokens) const;
  Tensor call(const Tensor& tokens) const;
  // In other modes than "int": one row per row.
  Tensor call(const RaggedRows& tokens) const;

  std::vector<std::pair<std::string, std::string>> assets() const;
  void load_assets(const std::function<std::optional<std::string>(const std::string& name)>& read) const;
  std::vector<std::pair<std::string, Tensor>> own_arrays() const;
  void load_own_arrays(const std::function<Tensor(const std::string& name)>& read) const;

  const LookupOptions<T>& options() const { return options_; }
  std::optional<int64_t> fixed_size() const { return state_->fixed_size; }
  void set_fixed_size(std::optional<int64_t> size) const { state_->fixed_size = size; }

 private:
  struct State {
    std::vector<T> tokens;  // without the special ones
    std::optional<lookup::StaticHashTable> table;
    std::optional<int64_t> fixed_size;
    Tensor idf_weights;   // of all numbers
    bool filled = false;  // the table; until then lookups fail when they run
    bool given = false;   // not learned
    std::map<T, int64_t> counts, documents_with;
    int64_t documents = 0;
  };
  int64_t first_oov() const { return options_.mask_token && options_.output_mode == "int" ? 1 : 0; }
  int64_t first_token() const { return first_oov() + options_.num_oov_indices; }
  void take(std::vector<T> tokens) const;
  void hold_table() const;
  void fix_size() const;
  int64_t depth() const;
  Tensor weighted(const Tensor& counts) const;

  const char* layer_ = "";
  LookupOptions<T> options_;
  std::shared_ptr<State> state_;
};

template <class T>
class LookupLayer : public Layer, public LayerAssets {
 public:
  format::Json get_config() const override;
  Tensor call(const Tensor& x, const CallArgs&) override { return index_.call(x); }
  // Of rows of tokens: in the mode "int" rows of numbers, in others a row of a matrix for each.
  RaggedRows numbers(const RaggedRows& x) const { return {index_.numbers_of(x.values), x.row_splits}; }
  Tensor encode(const RaggedRows& x) const { return index_.call(x); }

  // Learns the vocabulary: the tokens of the data, the most frequent first. For "tf_idf" each row is a
  // document.
  void adapt(const Tensor& data) const;
  void adapt(const std::vector<Tensor>& batches) const;
  // The first `steps` batches; -1: all.
  void adapt(const data::DatasetOf<Tensor>& batches, int64_t steps = -1) const;

  void set_vocabulary(const std::vector<T>& vocabulary, const std::vector<double>& idf_weights = {}) const {
    index_.set_vocabulary(vocabulary, idf_weights);
  }
  void set_vocabulary_file(const std::string& path) const { index_.set_vocabulary_file(path); }
  std::vector<T> get_vocabulary(bool include_special_tokens = true) const {
    return index_.vocabulary(include_special_tokens);
  }
  int64_t vocabulary_size() const { return index_.size(); }

  std::vector<std::pair<std::string, std::string>> assets() const override { return index_.assets(); }
  void load_assets(const std::function<std::optional<std::string>(const std::string& name)>& read) override {
    index_.load_assets(read);
  }
  std::vector<std::pair<std::string, Tensor>> own_arrays() const override { return index_.own_arrays(); }
  void load_own_arrays(const std::function<Tensor(const std::string& name)>& read) override {
    index_.load_own_arrays(read);
  }
  const TokenIndex<T>& index() const { return index_; }

 protected:
  LookupLayer(std::string class_name, const LayerOptions& options) : Layer(std::move(class_name), options) {}
  TokenIndex<T> index_;
};

extern template class TokenIndex<std::string>;
extern template class TokenIndex<int64_t>;
extern template class LookupLayer<std::string>;
extern template class LookupLayer<int64_t>;

}  // namespace detail

using StringLookupOptions = LookupOptions<std::string>;
using IntegerLookupOptions = LookupOptions<int64_t>;

class StringLookup : public LayerOf<StringLookup, detail::LookupLayer<std::string>> {
 public:
  explicit StringLookup(const StringLookupOptions& options = {});
};

class IntegerLookup : public LayerOf<IntegerLookup, detail::LookupLayer<int64_t>> {
 public:
  explicit IntegerLookup(const IntegerLookupOptions& options = {});
};

}  // namespace rw::keras
