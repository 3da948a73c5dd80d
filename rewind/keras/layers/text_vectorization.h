// TextVectorization: text as numbers of its words.
#pragma once

#include "rewind/keras/layers/index_lookup.h"

namespace rw::keras {

struct TextVectorizationOptions {
  std::optional<int64_t> max_tokens = {};
  // "lower", "strip_punctuation", or nothing.
  std::optional<std::string> standardize = "lower_and_strip_punctuation";
  std::optional<std::string> split = "whitespace";  // "character", or nothing: each string is a token
  // In the place of these: functions of one's own, which configs do not have.
  std::function<Tensor(const Tensor& text)> standardize_by = {};
  std::function<RaggedRows(const Tensor& text)> split_by = {};  // of a list of strings
  std::optional<int64_t> ngrams = {};                           // runs of up to as many words
  std::vector<int64_t> ngram_widths = {};  // in its place: runs of as many, in this order
  std::string output_mode = "int";         // "multi_hot", "count", "tf_idf"
  std::optional<int64_t> output_sequence_length = {};
  bool pad_to_max_tokens = false;
  bool ragged = false;  // rows() in the place of calls
  std::vector<std::string> vocabulary = {};
  std::vector<double> idf_weights = {};
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
};

// Strings (batch) or (batch, 1): standardized, split, joined to n-grams and looked up. In the mode "int" 0
// stands behind the end of a text and 1 for what the vocabulary does not have: (batch, length of the
// longest).
class TextVectorization : public LayerOf<TextVectorization>, public LayerAssets {
 public:
  explicit TextVectorization(const TextVectorizationOptions& options = {});
  format::Json get_config() const override;
  Tensor call(const Tensor& text, const CallArgs&) override;
  // The numbers of each text, without an end that stands for nothing.
  RaggedRows rows(const Tensor& text) const;

  // Learns the vocabulary: the words of these texts, the most frequent first.
  void adapt(const Tensor& texts) const;
  void adapt(const std::vector<Tensor>& batches) const;
  // The first `steps` batches; -1: all.
  void adapt(const data::DatasetOf<Tensor>& batches, int64_t steps = -1) const;
  void set_vocabulary(const std::vector<std::string>& vocabulary,
                      const std::vector<double>& idf_weights = {}) const {
    index_.set_vocabulary(vocabulary, idf_weights);
  }
  void set_vocabulary_file(const std::string& path) const { index_.set_vocabulary_file(path); }
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const {
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
  std::string part_with_the_same() const override { return "_lookup_layer"; }
  const detail::TokenIndex<std::string>& index() const { return index_; }

 private:
  std::vector<int64_t> widths() const;
  Tensor standardized(const Tensor& text) const;
  RaggedRows words(const Tensor& texts) const;
  void count(const Tensor& batch) const;
  TextVectorizationOptions options_;
  detail::TokenIndex<std::string> index_;
};

}  // namespace rw::keras
