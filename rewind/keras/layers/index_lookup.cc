#include "rewind/keras/layers/index_lookup.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/layers/categories.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/effect.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/string.h"
#include "rewind/tensor/ops/unary.h"
#include "rewind/tensor/sizes.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

constexpr const char* kVocabularyFile = "vocabulary.txt";

template <class T>
constexpr DType kTypeOf = std::is_same_v<T, std::string> ? DType::kString : DType::kInt64;

std::string text_of(const std::string& token) { return token; }
std::string text_of(int64_t token) { return std::to_string(token); }

template <class T>
T token_of(const std::string& line, const char* layer) {
  if constexpr (std::is_same_v<T, std::string>) {
    return line;
  } else {
    int64_t number = 0;
    if (!parse_number(line, &number))
      fail_invalid(layer, "a vocabulary of integers has the line \"" + line + "\"");
    return number;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

template <class T>
struct LookupArguments {
  LookupOptions<T> options = {};
  std::optional<int64_t> vocabulary_size = {};
};
struct StringLookupArguments : LookupArguments<std::string> {
  using Made = StringLookup;
  StringLookup make() const {
    StringLookup layer(options);
    if (vocabulary_size) layer.index().set_fixed_size(vocabulary_size);
    return layer;
  }
};
struct IntegerLookupArguments : LookupArguments<int64_t> {
  using Made = IntegerLookup;
  IntegerLookup make() const {
    IntegerLookup layer(options);
    if (vocabulary_size) layer.index().set_fixed_size(vocabulary_size);
    return layer;
  }
};
template <class T>
void lookup_fields(ConfigFields& f, LookupArguments<T>& a) {
  LookupOptions<T>& o = a.options;
  f("invert", o.invert);
  f("max_tokens", o.max_tokens);
  f("num_oov_indices", o.num_oov_indices);
  f("oov_token", o.oov_token);
  f("mask_token", o.mask_token);
  f("output_mode", o.output_mode);
  f.only("sparse", false);
  f("pad_to_max_tokens", o.pad_to_max_tokens);
  f.list_or_null("idf_weights", o.idf_weights);
  if (const Config* c = f.find("vocabulary"); c && c->text())
    fail_config("a list of tokens, since files are not read by configs", *c);
  f.list_or_null("vocabulary", o.vocabulary);
  f("vocabulary_size", a.vocabulary_size);
  f("oov_method", o.oov_method);
  f.list_or_null("salt", o.salt);
  f.ignore("has_input_vocabulary");
}
void fields(ConfigFields& f, StringLookupArguments& a) {
  lookup_fields(f, a);
  f.only("encoding", "utf-8");
}
void fields(ConfigFields& f, IntegerLookupArguments& a) {
  lookup_fields(f, a);
  f.only("vocabulary_dtype", "int64");
}

}  // namespace

void add_lookup_classes(ClassRegistry& r) {
  add_class<StringLookupArguments>(r.layers);
  add_class<IntegerLookupArguments>(r.layers);
}

namespace detail {

template <class T>
TokenIndex<T>::TokenIndex(const char* layer, const LookupOptions<T>& options)
    : layer_(layer), options_(options), state_(std::make_shared<State>()) {
  LookupOptions<T>& o = options_;
  if (o.output_mode == "binary") o.output_mode = "multi_hot";
  if (o.output_mode == "tf-idf") o.output_mode = "tf_idf";
  if (o.max_tokens && *o.max_tokens <= 1)
    fail_invalid(layer, "max_tokens must be greater than 1: got " + std::to_string(*o.max_tokens));
  if (o.pad_to_max_tokens && !o.max_tokens) fail_invalid(layer, "pad_to_max_tokens needs max_tokens");
  if (o.num_oov_indices < 0)
    fail_invalid(layer, "num_oov_indices must not be negative: got " + std::to_string(o.num_oov_indices));
  if (o.oov_method != "floormod" && o.oov_method != "farmhash")
    fail_invalid(layer, "unknown oov_method \"" + o.oov_method + "\"; available: floormod, farmhash");
  if (!o.salt.empty() && std::is_same_v<T, int64_t> && o.oov_method != "farmhash")
    fail_invalid(layer, "salt needs the oov_method \"farmhash\"");
  o.salt = hash_key(layer, o.salt);
  check_output_mode(layer, o.output_mode, {"int", "one_hot", "multi_hot", "count", "tf_idf"});
  if (o.invert && o.output_mode != "int") fail_invalid(layer, "invert needs the output_mode \"int\"");
  if (!o.idf_weights.empty() && o.output_mode != "tf_idf")
    fail_invalid(layer, "idf_weights are for the output_mode \"tf_idf\"");
  if (!o.vocabulary.empty()) {
    set_vocabulary(o.vocabulary, o.idf_weights);
    state_->given = true;
  }
}

template <class T>
void TokenIndex<T>::take(std::vector<T> tokens) const {
  const auto numbers = [&](DType dtype) {
    std::vector<int64_t> all(tokens.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = first_token() + int64_t(i);
    return cast(constant(all, {int64_t(all.size())}), dtype);
  };
  const OutsideTraces outside;
  const Tensor keys = constant(tokens, {int64_t(tokens.size())}), places = numbers(DType::kInt64);
  if (options_.invert) {
    const T other = options_.oov_token.value_or(T());
    state_->table.emplace(lookup::KeyValueTensorInitializer(places, keys), constant(other));
  } else {
    const int64_t other = options_.num_oov_indices == 1 ? first_oov() : -1;
    state_->table.emplace(lookup::KeyValueTensorInitializer(keys, places), constant(other));
  }
  state_->tokens = std::move(tokens);
  state_->filled = true;
}

template <class T>
void TokenIndex<T>::hold_table() const {
  const OutsideTraces outside;
  const lookup::TableInitializer none{options_.invert ? DType::kInt64 : kTypeOf<T>,
                                      options_.invert ? kTypeOf<T> : DType::kInt64, [](const Tensor&) {}};
  if (options_.invert) state_->table.emplace(none, constant(T()));
  else state_->table.emplace(none, constant(int64_t{-1}));
}

template <class T>
void TokenIndex<T>::fix_size() const {
  const bool may_change = options_.output_mode == "int" || options_.pad_to_max_tokens;
  if (!may_change && state_->fixed_size && *state_->fixed_size != size())
    fail_precondition(
        layer_,
        "the size of the vocabulary is that of the results and cannot change once it is known: it was " +
            std::to_string(*state_->fixed_size) + ", now " + std::to_string(size()) +
            "; pad_to_max_tokens leaves room");
  state_->fixed_size = size();
}

template <class T>
void TokenIndex<T>::set_vocabulary(const std::vector<T>& vocabulary,
                                   const std::vector<double>& idf_weights) const {
  if (options_.output_mode == "tf_idf" && idf_weights.empty())
    fail_invalid(layer_, "a vocabulary in the output_mode \"tf_idf\" needs idf_weights");
  if (options_.output_mode != "tf_idf" && !idf_weights.empty())
    fail_invalid(layer_, "idf_weights are for the output_mode \"tf_idf\"");
  if (vocabulary.empty()) fail_invalid(layer_, "the vocabulary is empty");
  // The special tokens may stand in front.
  std::vector<std::optional<T>> special(size_t(first_oov()), options_.mask_token);
  special.insert(special.end(), size_t(options_.num_oov_indices), options_.oov_token);
  bool with_special = vocabulary.size() >= special.size();
  for (size_t i = 0; with_special && i < special.size(); ++i) with_special = special[i] == vocabulary[i];
  std::vector<T> tokens(vocabulary.begin() + (with_special ? int64_t(special.size()) : 0), vocabulary.end());
  std::set<T> seen;
  for (const T& token : tokens) {
    if (!seen.insert(token).second)
      fail_invalid(layer_, "the vocabulary has \"" + text_of(token) + "\" more than once");
    const bool is_mask = options_.mask_token && token == *options_.mask_token;
    const bool is_oov = options_.invert && options_.oov_token && token == *options_.oov_token;
    if (is_mask || is_oov)
      fail_invalid(layer_, std::string("the vocabulary has the ") + (is_mask ? "mask" : "oov") + " token \"" +
                               text_of(token) + "\", which may only stand at its beginning");
  }
  const int64_t size = first_token() + int64_t(tokens.size());
  if (options_.max_tokens && size > *options_.max_tokens)
    fail_invalid(layer_, "the vocabulary is larger than max_tokens: got " + std::to_string(size) +
                             ", max_tokens is " + std::to_string(*options_.max_tokens));
  if (options_.output_mode == "tf_idf" && idf_weights.size() != vocabulary.size())
    fail_invalid(layer_, "there must be a weight in idf_weights for each token: got " +
                             std::to_string(idf_weights.size()) + " for " +
                             std::to_string(vocabulary.size()));
  take(std::move(tokens));
  fix_size();
  if (options_.output_mode != "tf_idf") return;
  std::vector<float> weights;
  if (!with_special) {
    double sum = 0;
    for (const double w : idf_weights) sum += w;
    weights.assign(size_t(first_token()), float(sum / double(idf_weights.size())));
  }
  for (const double w : idf_weights) weights.push_back(float(w));
  if (options_.pad_to_max_tokens) weights.resize(size_t(*options_.max_tokens), 0.0f);
  state_->idf_weights = constant(weights, {int64_t(weights.size())});
}

template <class T>
void TokenIndex<T>::set_vocabulary_file(const std::string& path) const {
  if (options_.output_mode == "tf_idf")
    fail_invalid(layer_, "a file of tokens has no weights for the output_mode \"tf_idf\"");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_not_found(layer_, "the vocabulary " + path + " cannot be opened");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<T> tokens;
  for (const std::string& line : lines_of(text)) tokens.push_back(token_of<T>(line, layer_));
  set_vocabulary(tokens, {});
}

template <class T>
int64_t TokenIndex<T>::size() const {
  return first_token() + int64_t(state_->tokens.size());
}

template <class T>
std::vector<T> TokenIndex<T>::vocabulary(bool include_special_tokens) const {
  std::vector<T> all;
  if (include_special_tokens) {
    all.resize(size_t(first_token()), options_.oov_token.value_or(T()));
    if (options_.mask_token && options_.output_mode == "int") all.at(0) = *options_.mask_token;
  }
  all.insert(all.end(), state_->tokens.begin(), state_->tokens.end());
  return all;
}

// ---- learning

template <class T>
void TokenIndex<T>::start() const {
  if (state_->given)
    fail_precondition(layer_, "the layer was given its vocabulary: there is nothing to adapt");
  state_->counts.clear();
  state_->documents_with.clear();
  state_->documents = 0;
}

template <class T>
void TokenIndex<T>::count(const Tensor& values, const Tensor& row_splits) const {
  if (values.dtype() != kTypeOf<T> && !(is_integer(values.dtype()) && std::is_same_v<T, int64_t>))
    fail_invalid(layer_, "data must be " + std::string(name_of(kTypeOf<T>)) + ": got " +
                             std::string(name_of(values.dtype())));
  const Tensor typed = values.dtype() == kTypeOf<T> ? values : cast(values, kTypeOf<T>);
  const std::vector<T> tokens = typed.template to_vector<T>();
  for (const T& token : tokens) ++state_->counts[token];
  if (options_.output_mode != "tf_idf") return;
  std::vector<int64_t> splits;
  if (row_splits.defined()) {
    splits = cast(row_splits, DType::kInt64).template to_vector<int64_t>();
  } else {
    const int64_t rows = values.rank() < 2 ? 1 : values.shape()[0];
    for (int64_t r = 0; r <= rows; ++r) splits.push_back(rows == 0 ? 0 : r * (int64_t(tokens.size()) / rows));
  }
  for (size_t r = 0; r + 1 < splits.size(); ++r) {
    const std::set<T> of_row(tokens.begin() + splits[r], tokens.begin() + splits[r + 1]);
    for (const T& token : of_row) ++state_->documents_with[token];
    ++state_->documents;
  }
}

template <class T>
void TokenIndex<T>::finish() const {
  State& s = *state_;
  if (s.counts.empty()) return fix_size();
  if (options_.mask_token) s.counts.erase(*options_.mask_token);
  if (options_.oov_token) s.counts.erase(*options_.oov_token);
  std::vector<std::pair<int64_t, T>> order;
  for (const auto& [token, count] : s.counts) order.emplace_back(count, token);
  std::sort(order.begin(), order.end(), std::greater<>());
  if (options_.max_tokens) {
    const int64_t most = std::max<int64_t>(*options_.max_tokens - first_token(), 0);
    if (int64_t(order.size()) > most) order.resize(size_t(most));
  }
  std::vector<T> tokens;
  for (const auto& [count, token] : order) tokens.push_back(token);
  if (options_.output_mode == "tf_idf") {
    std::vector<float> weights(size_t(first_token()), 0.0f);
    for (const T& token : tokens)
      weights.push_back(float(std::log(1 + double(s.documents) / double(1 + s.documents_with[token]))));
    const Tensor learned = constant(std::vector<float>(weights.begin() + first_token(), weights.end()),
                                    {int64_t(tokens.size())});
    const float mean = reduce_mean(learned).template item<float>();
    std::fill(weights.begin(), weights.begin() + first_token(), mean);
    if (options_.pad_to_max_tokens) weights.resize(size_t(*options_.max_tokens), 0.0f);
    s.idf_weights = constant(weights, {int64_t(weights.size())});
  }
  take(std::move(tokens));
  start();
  fix_size();
}

// ---- calls

template <class T>
Tensor TokenIndex<T>::numbers_of(const Tensor& in) const {
  const DType key_type = options_.invert ? DType::kInt64 : kTypeOf<T>;
  if (in.dtype() != key_type && !(is_integer(in.dtype()) && key_type == DType::kInt64))
    fail_invalid(layer_, "inputs must be " + std::string(name_of(key_type)) + ": got " +
                             std::string(name_of(in.dtype())));
  const Tensor tokens = cast_to(in, key_type);
  if (!state_->filled && !is_symbol(tokens))
    fail_precondition(layer_, "the layer has no vocabulary yet: call adapt(data), or give it one");
  if (!state_->table) hold_table();  // models are made before their layers learn
  Tensor found = state_->table->lookup(tokens);
  if (is_symbol(found)) found = reshape_sizes(found, sizes_of(tokens));
  if (options_.invert) {
    return options_.mask_token ? where(equal(tokens, int64_t{0}), constant(*options_.mask_token), found)
                               : found;
  }
  if (options_.mask_token) {
    const int64_t number = options_.output_mode == "int" ? 0 : std::numeric_limits<int64_t>::max();
    found = where(equal(tokens, constant(*options_.mask_token)), constant(number), found);
  }
  if (options_.num_oov_indices == 0) {
    const Tensor missing = reduce_any(equal(found, int64_t{-1}));
    debugging::Assert(logical_not(missing),
                      {std::string("With num_oov_indices=0 all inputs must be in the vocabulary: got"),
                       boolean_mask(reshape(tokens, {-1}), reshape(equal(found, int64_t{-1}), {-1}))});
  } else if (options_.num_oov_indices > 1) {
    Tensor other;
    if (std::is_same_v<T, int64_t> && options_.oov_method != "farmhash") {
      other = math::floormod(tokens, constant(options_.num_oov_indices));
    } else {
      const Tensor text = tokens.dtype() == DType::kString ? tokens : strings::as_string(tokens);
      other = options_.salt.empty()
                  ? strings::to_hash_bucket_fast(text, options_.num_oov_indices)
                  : strings::to_hash_bucket_strong(text, options_.num_oov_indices, options_.salt);
    }
    found = where(equal(found, int64_t{-1}), other + constant(first_oov()), found);
  }
  return found;
}

template <class T>
int64_t TokenIndex<T>::depth() const {
  if (options_.pad_to_max_tokens) return *options_.max_tokens;
  if (!state_->fixed_size)
    fail_precondition(layer_, "the layer has no vocabulary yet: call adapt(data), or give it one");
  return *state_->fixed_size;
}

template <class T>
Tensor TokenIndex<T>::weighted(const Tensor& counts) const {
  if (!state_->idf_weights.defined() && is_symbol(counts)) return cast(counts, DType::kFloat32);
  if (!state_->idf_weights.defined())
    fail_precondition(
        layer_, "the layer has no idf_weights yet: call adapt(data), or give it a vocabulary with weights");
  return cast(counts, DType::kFloat32) * state_->idf_weights;
}

template <class T>
Tensor TokenIndex<T>::call(const Tensor& tokens) const {
  const Tensor numbers = numbers_of(tokens);
  if (options_.output_mode == "int") return numbers;
  const bool weighs = options_.output_mode == "tf_idf";
  const Tensor encoded =
      encode_categories(numbers, weighs ? "count" : options_.output_mode, depth(), DType::kInt64);
  return weighs ? weighted(encoded) : encoded;
}

template <class T>
Tensor TokenIndex<T>::call(const RaggedRows& tokens) const {
  const std::string& mode = options_.output_mode;
  if (mode == "int" || mode == "one_hot")
    fail_invalid(
        layer_,
        "rows of tokens are encoded in the output modes multi_hot, count and tf_idf: got \"" + mode + "\"");
  const Tensor numbers = numbers_of(tokens.values), size = constant(depth()),
               none = zeros({0}, DType::kInt64);
  const Tensor counts = apply_one(RW_OP("RaggedBincount"), {&tokens.row_splits, &numbers, &size, &none},
                                  {{"binary_output", mode == "multi_hot"}});
  return mode == "tf_idf" ? weighted(counts) : counts;
}

// ---- files

template <class T>
std::vector<std::pair<std::string, std::string>> TokenIndex<T>::assets() const {
  if (!options_.vocabulary.empty()) return {};  // in the config
  std::string text;
  bool first = true;
  for (const T& token : vocabulary(true)) {
    text += (first ? "" : "\n") + text_of(token);
    first = false;
  }
  return {{kVocabularyFile, text}};
}

template <class T>
void TokenIndex<T>::load_assets(
    const std::function<std::optional<std::string>(const std::string& name)>& read) const {
  if (!options_.vocabulary.empty()) return;
  const std::optional<std::string> text = read(kVocabularyFile);
  if (!text) fail_not_found(layer_, std::string("the file has no ") + kVocabularyFile + " of the layer");
  std::vector<std::string> lines = lines_of(*text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::vector<T> tokens;
  for (const std::string& line : lines) tokens.push_back(token_of<T>(line, layer_));
  if (int64_t(tokens.size()) <= first_token()) return;  // of a layer that learned nothing
  std::vector<double> weights;
  if (options_.output_mode == "tf_idf" && state_->idf_weights.defined())
    for (const float w : state_->idf_weights.template to_vector<float>()) weights.push_back(double(w));
  if (weights.size() > tokens.size()) weights.resize(tokens.size());  // without the room up to max_tokens
  set_vocabulary(tokens, weights);
}

template <class T>
std::vector<std::pair<std::string, Tensor>> TokenIndex<T>::own_arrays() const {
  if (options_.output_mode != "tf_idf" || !state_->idf_weights.defined()) return {};
  return {{"idf_weights", state_->idf_weights}};
}

template <class T>
void TokenIndex<T>::load_own_arrays(const std::function<Tensor(const std::string& name)>& read) const {
  if (options_.output_mode == "tf_idf") state_->idf_weights = cast_to(read("idf_weights"), DType::kFloat32);
}

// ---- layers

template <class T>
format::Json LookupLayer<T>::get_config() const {
  Config config = Layer::get_config();
  config["vocabulary_size"] = to_config(index_.fixed_size());
  return config;
}

// A list of tokens is a column of them, so each is a document.
template <class T>
void LookupLayer<T>::adapt(const Tensor& data) const {
  index_.start();
  index_.count(data.rank() == 1 ? expand_dims(data, -1) : data, {});
  index_.finish();
}
template <class T>
void LookupLayer<T>::adapt(const std::vector<Tensor>& batches) const {
  index_.start();
  for (const Tensor& batch : batches) index_.count(batch, {});
  index_.finish();
}
template <class T>
void LookupLayer<T>::adapt(const data::DatasetOf<Tensor>& batches, int64_t steps) const {
  index_.start();
  int64_t taken = 0;
  if (steps != 0)
    for (const Tensor& batch : batches) {
      index_.count(batch, {});
      if (++taken == steps) break;
    }
  index_.finish();
}

template class TokenIndex<std::string>;
template class TokenIndex<int64_t>;
template class LookupLayer<std::string>;
template class LookupLayer<int64_t>;

}  // namespace detail

StringLookup::StringLookup(const StringLookupOptions& options) : LayerOf(layer_options(options)) {
  index_ = detail::TokenIndex<std::string>("StringLookup", options);
  StringLookupArguments arguments;
  arguments.options = index_.options();
  set_origin(origin_of(arguments));
  set_built();
}

IntegerLookup::IntegerLookup(const IntegerLookupOptions& options) : LayerOf(layer_options(options)) {
  index_ = detail::TokenIndex<int64_t>("IntegerLookup", options);
  IntegerLookupArguments arguments;
  arguments.options = index_.options();
  set_origin(origin_of(arguments));
  set_built();
}

}  // namespace rw::keras
