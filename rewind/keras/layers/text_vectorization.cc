#include "rewind/keras/layers/text_vectorization.h"

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/string.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"

namespace rw::keras {
namespace {

constexpr const char* kTag = "TextVectorization";
constexpr const char* kPunctuation = R"([!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\'])";

struct TextVectorizationArguments {
  using Made = TextVectorization;
  TextVectorizationOptions options = {};
  std::optional<int64_t> vocabulary_size = {};
  TextVectorization make() const {
    TextVectorization layer(options);
    if (vocabulary_size && *vocabulary_size > 2) layer.index().set_fixed_size(vocabulary_size);
    return layer;
  }
};
void fields(ConfigFields& f, TextVectorizationArguments& a) {
  TextVectorizationOptions& o = a.options;
  f("max_tokens", o.max_tokens);
  f("standardize", o.standardize);
  f("split", o.split);
  const Config* ngrams = f.find("ngrams");
  if (o.ngrams || (ngrams && ngrams->integer())) f("ngrams", o.ngrams);
  else f.list_or_null("ngrams", o.ngram_widths);
  f("output_mode", o.output_mode);
  f("output_sequence_length", o.output_sequence_length);
  f("pad_to_max_tokens", o.pad_to_max_tokens);
  f.only("sparse", false);
  f("ragged", o.ragged);
  if (const Config* c = f.find("vocabulary"); c && c->text())
    fail_config("a list of tokens, since files are not read by configs", *c);
  f.list_or_null("vocabulary", o.vocabulary);
  f.list_or_null("idf_weights", o.idf_weights);
  f.only("encoding", "utf-8");
  f("vocabulary_size", a.vocabulary_size);
  f.ignore("has_input_vocabulary");
}

StringLookupOptions lookup_options(const TextVectorizationOptions& o) {
  StringLookupOptions lookup;
  lookup.max_tokens = o.max_tokens;
  lookup.mask_token = "";
  lookup.vocabulary = o.vocabulary;
  lookup.idf_weights = o.idf_weights;
  lookup.output_mode = o.output_mode;
  lookup.pad_to_max_tokens = o.pad_to_max_tokens;
  return lookup;
}

// The characters of each string.
RaggedRows characters(const Tensor& texts) {
  const RaggedRows codes = strings::unicode_decode(texts, "UTF-8");
  const Tensor each = numbers_below(element_count(codes.values) + 1);
  return {strings::unicode_encode({codes.values, each}, "UTF-8"), codes.row_splits};
}

}  // namespace

void add_text_classes(ClassRegistry& r) { add_class<TextVectorizationArguments>(r.layers); }

TextVectorization::TextVectorization(const TextVectorizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  TextVectorizationOptions& o = options_;
  const auto check = [](const char* what, const std::optional<std::string>& value, const std::string& known) {
    if (value && known.find("\"" + *value + "\"") == std::string::npos)
      fail_invalid(kTag, std::string("unknown ") + what + " \"" + *value + "\"; available: " + known);
  };
  check("standardize", o.standardize, R"("lower_and_strip_punctuation", "lower", "strip_punctuation")");
  check("split", o.split, R"("whitespace", "character")");
  if (o.output_mode != "int" && o.output_sequence_length)
    fail_invalid(kTag, "output_sequence_length is for the output_mode \"int\"");
  if (o.ngrams && !o.ngram_widths.empty())
    fail_invalid(kTag, "ngrams and ngram_widths are given: one is enough");
  if (o.ragged && o.output_mode != "int") fail_invalid(kTag, "ragged needs the output_mode \"int\"");
  index_ = detail::TokenIndex<std::string>(kTag, lookup_options(o));
  o.output_mode = index_.options().output_mode;
  set_origin(origin_of(TextVectorizationArguments{options_}));
  set_built();
}

format::Json TextVectorization::get_config() const {
  if (options_.standardize_by || options_.split_by)
    fail_unimplemented("get_config", "layer \"" + name() +
                                         "\" has a function of the program's own, which a config "
                                         "cannot hold");
  Config config = Layer::get_config();
  config["vocabulary_size"] = index_.size();
  return config;
}

Tensor TextVectorization::standardized(const Tensor& in) const {
  if (in.dtype() != DType::kString)
    fail_invalid(name(), "text must be strings: got " + std::string(name_of(in.dtype())));
  if (options_.standardize_by) return options_.standardize_by(in);
  const std::string how = options_.standardize.value_or("");
  Tensor text = in;
  if (how.starts_with("lower")) text = strings::lower(text);
  if (how.ends_with("strip_punctuation")) text = strings::regex_replace(text, kPunctuation, "");
  return text;
}

std::vector<int64_t> TextVectorization::widths() const {
  std::vector<int64_t> all = options_.ngram_widths;
  for (int64_t width = 1; width <= options_.ngrams.value_or(0); ++width) all.push_back(width);
  return all;
}

RaggedRows TextVectorization::words(const Tensor& texts) const {
  RaggedRows words = options_.split_by               ? options_.split_by(texts)
                     : options_.split == "character" ? characters(texts)
                                                     : strings::split(texts);
  return widths().empty() ? words : strings::ngrams(words, widths());
}

namespace {

// (batch, 1) is (batch).
Tensor list_of(const Tensor& text, const std::string& layer) {
  if (text.rank() < 2) return text;
  if (text.shape().back() != 1 || text.rank() > 2)
    fail_invalid(layer, "text that is split must be (batch) or (batch, 1): got " + text.shape().to_string());
  return squeeze(text, {-1});
}

}  // namespace

RaggedRows TextVectorization::rows(const Tensor& in) const {
  const Tensor text = standardized(in);
  if (!options_.split && !options_.split_by) fail_invalid(name(), "rows() is for text that is split");
  const RaggedRows found = words(reshape(list_of(text, name()), {-1}));
  return {index_.numbers_of(found.values), found.row_splits};
}

Tensor TextVectorization::call(const Tensor& in, const CallArgs&) {
  if (options_.ragged)
    fail_unimplemented(
        name(), "a call gives a tensor, and ragged asks for rows of different lengths: call rows(text)");
  Tensor text = standardized(in);
  const bool splits = options_.split || options_.split_by;
  const std::optional<int64_t>& length = options_.output_sequence_length;
  if (!splits) {
    if (!widths().empty()) fail_unimplemented(name(), "ngrams of text that is not split");
    const Tensor numbers = index_.call(text);
    if (options_.output_mode != "int" || !length) return numbers;
    // Cut or filled up at the last axis.
    const Sizes sizes = sizes_of(numbers);
    const Tensor rows = numbers.rank() == 1 ? expand_dims(numbers, 0) : numbers;
    const Tensor splits_of_rows = numbers_below(sizes_of(rows)[0] + 1) * constant(int64_t{1});
    const Tensor width = sizes_of(rows)[1].tensor(DType::kInt64);
    const RaggedRows all{reshape(rows, {-1}), splits_of_rows * width};
    const Tensor cut = all.to_tensor(int64_t{0}, {-1, *length});
    return numbers.rank() == 1 ? squeeze(cut, {0}) : cut;
  }
  const bool one = text.rank() == 0;
  const RaggedRows found = words(reshape(list_of(text, name()), {-1}));
  if (options_.output_mode != "int") {
    const Tensor encoded = index_.call(found);
    return one ? squeeze(encoded, {0}) : encoded;
  }
  const RaggedRows numbers{index_.numbers_of(found.values), found.row_splits};
  const Tensor filled = numbers.to_tensor(int64_t{0}, {-1, length.value_or(-1)});
  return one ? squeeze(filled, {0}) : filled;
}

// ---- learning

void TextVectorization::count(const Tensor& batch) const {
  const Tensor text = standardized(batch);
  if (!options_.split && !options_.split_by) return index_.count(text, {});
  const RaggedRows found = words(reshape(list_of(text, name()), {-1}));
  index_.count(found.values, found.row_splits);
}

void TextVectorization::adapt(const Tensor& texts) const {
  index_.start();
  count(texts.rank() == 1 ? expand_dims(texts, -1) : texts);
  index_.finish();
}
void TextVectorization::adapt(const std::vector<Tensor>& batches) const {
  index_.start();
  for (const Tensor& batch : batches) count(batch);
  index_.finish();
}
void TextVectorization::adapt(const data::DatasetOf<Tensor>& batches, int64_t steps) const {
  index_.start();
  int64_t taken = 0;
  if (steps != 0)
    for (const Tensor& batch : batches) {
      count(batch);
      if (++taken == steps) break;
    }
  index_.finish();
}

}  // namespace rw::keras
