#include "rewind/keras/layers/categories.h"

#include <algorithm>
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/gather.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/shape.h"
#include "rewind/tensor/ops/string.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {
namespace {

struct CategoryEncodingArguments {
  using Made = CategoryEncoding;
  int64_t num_tokens = 1;
  CategoryEncodingOptions options = {};
  CategoryEncoding make() const { return CategoryEncoding(num_tokens, options); }
};
void fields(ConfigFields& f, CategoryEncodingArguments& a) {
  f("num_tokens", a.num_tokens);
  f("output_mode", a.options.output_mode);
  if (f.is_reading()) f.only("sparse", false);
}

struct HashingArguments {
  using Made = Hashing;
  int64_t num_bins = 1;
  HashingOptions options = {};
  Hashing make() const { return Hashing(num_bins, options); }
};
void fields(ConfigFields& f, HashingArguments& a) {
  f("num_bins", a.num_bins);
  f.list_or_null("salt", a.options.salt);
  if (!f.is_reading()) {
    const auto* number = std::get_if<int64_t>(&a.options.mask_value);
    const auto* text = std::get_if<std::string>(&a.options.mask_value);
    f.set("mask_value", number ? Config(*number) : text ? Config(*text) : Config());
  } else {
    const Config* mask = f.take("mask_value");
    if (mask && mask->integer()) a.options.mask_value = *mask->integer();
    else if (mask && mask->text()) a.options.mask_value = *mask->text();
  }
  f("output_mode", a.options.output_mode);
  f.only("sparse", false);
}

struct HashedCrossingArguments {
  using Made = HashedCrossing;
  int64_t num_bins = 1;
  HashedCrossingOptions options = {};
  HashedCrossing make() const { return HashedCrossing(num_bins, options); }
};
void fields(ConfigFields& f, HashedCrossingArguments& a) {
  f("num_bins", a.num_bins);
  f("output_mode", a.options.output_mode);
  f.only("sparse", false);
}

struct DiscretizationArguments {
  using Made = Discretization;
  DiscretizationOptions options = {};
  Discretization make() const { return Discretization(options); }
};
void fields(ConfigFields& f, DiscretizationArguments& a) {
  f.list_or_null("bin_boundaries", a.options.bin_boundaries);
  f("num_bins", a.options.num_bins);
  f("epsilon", a.options.epsilon);
  f("output_mode", a.options.output_mode);
  f.only("sparse", false);
}

// The dtype of layers that give integers in one mode.
template <class O>
LayerOptions options_with_type(const O& o, DType of_int) {
  LayerOptions options = layer_options(o);
  if (!o.dtype.defined() && o.output_mode == "int") options.dtype = of_int;
  return options;
}

}  // namespace

void add_category_classes(ClassRegistry& r) {
  add_class<CategoryEncodingArguments>(r.layers);
  add_class<HashingArguments>(r.layers);
  add_class<HashedCrossingArguments>(r.layers);
  add_class<DiscretizationArguments>(r.layers);
}

namespace detail {

void check_output_mode(const char* layer, const std::string& mode, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), mode) != known.end()) return;
  std::string list;
  for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
  fail_invalid(layer, "unknown output_mode \"" + mode + "\"; available: " + list);
}

std::vector<int64_t> hash_key(const char* layer, const std::vector<int64_t>& salt) {
  if (salt.size() > 2)
    fail_invalid(layer, "salt must be one or two numbers: got " + std::to_string(salt.size()));
  return salt.size() == 1 ? std::vector<int64_t>{salt[0], salt[0]} : salt;
}

// TensorFlow's hash of several: each is mixed into the one of those before.
Tensor cross_hashed(const std::vector<Tensor>& columns, int64_t bins) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995u, kStart = 0xdecafcaffeu;
  const auto number = [](uint64_t v) { return constant(std::vector<uint64_t>{v}, Shape{}); };
  const Tensor multiplier = number(kMultiplier), shift = number(47);
  const auto mixed = [&](const Tensor& v) { return bitwise::bitwise_xor(v, bitwise::right_shift(v, shift)); };
  Tensor all = number(kStart);
  for (const Tensor& column : columns) {
    const bool text = column.dtype() == DType::kString;
    const Tensor hash =
        text ? bitcast(fingerprint(column), DType::kUint64) : bitcast(reshape(column, {-1}), DType::kUint64);
    all = bitwise::bitwise_xor(all, multiplier);
    all = bitwise::bitwise_xor(all, mixed(hash * multiplier) * multiplier) * multiplier;
    all = mixed(mixed(all) * multiplier);
  }
  return expand_dims(cast(math::floormod(all, number(uint64_t(bins))), DType::kInt64), 1);
}

Tensor encode_categories(const Tensor& numbers, const std::string& mode, int64_t depth, DType dtype,
                         const Tensor& weights) {
  if (mode == "int") return cast(numbers, dtype);
  const bool as_they_are = numbers.dtype() == DType::kInt32 || numbers.dtype() == DType::kInt64;
  Tensor ids =
      as_they_are ? numbers : cast(numbers, is_integer(numbers.dtype()) ? DType::kInt64 : DType::kInt32);
  if (ids.rank() == 0) ids = expand_dims(ids, -1);
  if (mode == "one_hot") {
    if (ids.rank() > 1 && ids.shape().back() == 1) ids = squeeze(ids, {-1});
    return cast(one_hot(ids, depth), dtype);
  }
  if (ids.rank() <= 2) {
    const Tensor size = cast(constant(depth), ids.dtype());
    const bool counts_type = dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat64;
    const DType type = weights.defined() ? weights.dtype() : counts_type ? dtype : DType::kFloat32;
    const Tensor of_each = weights.defined() ? reshape(weights, shape(ids)) : zeros({0}, type);
    return cast(
        apply_one(RW_OP("DenseBincount"), {&ids, &size, &of_each}, {{"binary_output", mode == "multi_hot"}}),
        dtype);
  }
  Tensor ones = cast(one_hot(ids, depth), weights.defined() ? weights.dtype() : dtype);
  if (weights.defined()) ones = ones * expand_dims(weights, -1);
  return mode == "multi_hot" ? reduce_max(ones, {1}) : reduce_sum(ones, {1});
}

}  // namespace detail

CategoryEncoding::CategoryEncoding(int64_t num_tokens, const CategoryEncodingOptions& options)
    : LayerOf(layer_options(options)), num_tokens_(num_tokens), output_mode_(options.output_mode) {
  if (num_tokens < 1)
    fail_invalid("CategoryEncoding", "num_tokens must be at least 1: got " + std::to_string(num_tokens));
  detail::check_output_mode("CategoryEncoding", output_mode_, {"one_hot", "multi_hot", "count"});
  set_origin(origin_of(CategoryEncodingArguments{num_tokens, options}));
  set_built();
}

std::vector<Tensor> CategoryEncoding::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  if (inputs.size() > 2)
    fail_invalid(name(),
                 "numbers and their weights are expected: got " + std::to_string(inputs.size()) + " inputs");
  if (inputs.size() == 2 && output_mode_ != "count")
    fail_invalid(name(),
                 "weights are for the output mode \"count\": the layer's is \"" + output_mode_ + "\"");
  const Tensor weights = inputs.size() == 2 ? cast(inputs[1], compute_dtype()) : Tensor();
  return {detail::encode_categories(inputs[0], output_mode_, num_tokens_, compute_dtype(), weights)};
}

Hashing::Hashing(int64_t num_bins, const HashingOptions& options)
    : LayerOf(options_with_type(options, DType::kInt64)), num_bins_(num_bins), options_(options) {
  if (num_bins <= 0) fail_invalid("Hashing", "num_bins must be positive: got " + std::to_string(num_bins));
  detail::check_output_mode("Hashing", options.output_mode, {"int", "one_hot", "multi_hot", "count"});
  options_.salt = detail::hash_key("Hashing", options.salt);
  const DType type = compute_dtype();
  if (options.output_mode == "int" && type != DType::kInt32 && type != DType::kInt64)
    fail_invalid("Hashing", "dtype must be int32 or int64 in the output mode \"int\": got " +
                                std::string(name_of(type)));
  set_origin(origin_of(HashingArguments{num_bins, options_}));
  set_built();
}

Tensor Hashing::bins_of(const Tensor& in) const {
  const Tensor whole = is_floating(in.dtype()) ? cast(in, DType::kInt64) : in;
  const Tensor text = whole.dtype() == DType::kString ? whole : strings::as_string(whole);
  const auto* number = std::get_if<int64_t>(&options_.mask_value);
  const auto* word = std::get_if<std::string>(&options_.mask_value);
  if ((number && in.dtype() == DType::kString) || (word && in.dtype() != DType::kString))
    fail_invalid(name(), "mask_value must be of the inputs' type, " + std::string(name_of(in.dtype())));
  const bool masks = (number || word) && num_bins_ > 1;
  const int64_t bins = masks ? num_bins_ - 1 : num_bins_;
  const Tensor hashed = options_.salt.empty() ? strings::to_hash_bucket_fast(text, bins)
                                              : strings::to_hash_bucket_strong(text, bins, options_.salt);
  if (!masks) return hashed;
  const Tensor masked = word ? equal(in, *word) : equal(in, *number);
  return where(masked, zeros_like(hashed), hashed + 1);
}

Tensor Hashing::call(const Tensor& x, const CallArgs&) {
  Tensor in = x;
  if (options_.output_mode == "one_hot" && in.rank() > 0 && in.shape().back() == 1) in = squeeze(in, {-1});
  return detail::encode_categories(bins_of(in), options_.output_mode, num_bins_, compute_dtype());
}

HashedCrossing::HashedCrossing(int64_t num_bins, const HashedCrossingOptions& options)
    : LayerOf(options_with_type(options, DType::kInt64)),
      num_bins_(num_bins),
      output_mode_(options.output_mode) {
  if (num_bins <= 0)
    fail_invalid("HashedCrossing", "num_bins must be positive: got " + std::to_string(num_bins));
  detail::check_output_mode("HashedCrossing", output_mode_, {"int", "one_hot"});
  set_origin(origin_of(HashedCrossingArguments{num_bins, options}));
  set_built();
}

format::Json HashedCrossing::get_config() const {
  Config config = Layer::get_config(), out;
  for (const auto& [key, value] : *config.members())
    if (key == "dtype") out[key] = std::string(name_of(compute_dtype()));
    else if (key != "trainable") out[key] = value;
  return out;
}

std::vector<Tensor> HashedCrossing::call_many(const std::vector<Tensor>& inputs, const CallArgs&) {
  if (inputs.size() < 2)
    fail_invalid(name(), "at least two inputs are expected: got " + std::to_string(inputs.size()));
  const int rank = inputs[0].rank();
  for (const Tensor& x : inputs) {
    if (x.rank() != rank || rank > 2 || (rank == 2 && x.shape()[1] != 1))
      fail_invalid(name(), "inputs must have one shape, (), (batch) or (batch, 1): got " +
                               inputs[0].shape().to_string() + " and " + x.shape().to_string());
    if (x.dtype() != DType::kString && !is_integer(x.dtype()))
      fail_invalid(name(), "inputs must be strings or integers: got " + std::string(name_of(x.dtype())));
  }
  std::vector<Tensor> columns;
  for (const Tensor& x : inputs) {
    const Tensor column = rank == 2 ? x : reshape(x, {-1, 1});
    columns.push_back(
        x.dtype() == DType::kString || x.dtype() == DType::kInt64 ? column : cast(column, DType::kInt64));
  }
  const Tensor crossed = detail::cross_hashed(columns, num_bins_);  // (batch, 1)
  const Tensor ids = rank == 2 ? crossed : rank == 1 ? squeeze(crossed, {1}) : reshape(crossed, Shape{});
  return {detail::encode_categories(ids, output_mode_, num_bins_, compute_dtype())};
}

Discretization::Discretization(const DiscretizationOptions& options)
    : LayerOf(layer_options(options)), options_(options) {
  const char* tag = "Discretization";
  detail::check_output_mode(tag, options.output_mode, {"int", "one_hot", "multi_hot", "count"});
  if (options.num_bins && *options.num_bins < 0)
    fail_invalid(tag, "num_bins must not be negative: got " + std::to_string(*options.num_bins));
  if (!options.num_bins && options.bin_boundaries.empty())
    fail_invalid(tag, "num_bins or bin_boundaries must be given");
  state_->boundaries = options.bin_boundaries;
  set_origin(origin_of(DiscretizationArguments{options}));
  set_built();
}

format::Json Discretization::get_config() const {
  Config config = Layer::get_config(), out;
  for (const auto& [key, value] : *config.members())
    if (key != "trainable") out[key] = value;
  out["dtype"] = std::string(name_of(compute_dtype()));
  out["bin_boundaries"] = state_->boundaries.empty() ? Config() : to_config(state_->boundaries);
  return out;
}

Tensor Discretization::call(const Tensor& x, const CallArgs&) {
  const std::vector<double>& boundaries = state_->boundaries;
  if (boundaries.empty())
    fail_precondition(name(),
                      "the layer has no bin boundaries yet: call adapt(data), or give it bin_boundaries");
  const Tensor in = is_floating(x.dtype()) ? x : cast(x, DType::kFloat32);
  const Tensor bins = apply_one(RW_OP("Bucketize"), {&in}, {{"boundaries", boundaries}});
  const bool is_int = options_.output_mode == "int";
  return detail::encode_categories(bins, options_.output_mode, int64_t(boundaries.size()) + 1,
                                   is_int ? DType::kInt32 : compute_dtype());
}

void Discretization::adapt(const Tensor& data) const { adapt(std::vector{data}); }

void Discretization::start() const {
  if (!options_.num_bins)
    fail_precondition(name(), "the layer was given its bin_boundaries: there is nothing to adapt");
  state_->summary = {};
}
void Discretization::finish() const {
  if (state_->summary.values.empty()) fail_invalid(name(), "adapt() received no values");
  const Summary bins = compressed(state_->summary, 1.0 / double(*options_.num_bins));
  state_->boundaries.assign(bins.values.begin(), bins.values.end() - 1);
}

void Discretization::adapt(const std::vector<Tensor>& batches) const {
  start();
  for (const Tensor& batch : batches)
    state_->summary = joined(summarize(batch, options_.epsilon), state_->summary, options_.epsilon);
  finish();
}
void Discretization::adapt(const data::DatasetOf<Tensor>& batches, int64_t steps) const {
  start();
  int64_t taken = 0;
  if (steps != 0)
    for (const Tensor& batch : batches) {
      state_->summary = joined(summarize(batch, options_.epsilon), state_->summary, options_.epsilon);
      if (++taken == steps) break;
    }
  finish();
}

Discretization::Summary Discretization::summarize(const Tensor& data, double epsilon) {
  const Tensor floats = data.dtype() == DType::kFloat32 ? data : cast(data, DType::kFloat32);
  std::vector<float> values = floats.to_vector<float>();
  std::sort(values.begin(), values.end());
  const double step = std::max(double(values.size()) / (1.0 / epsilon), 1.0);
  Summary summary;
  for (size_t i = size_t(step - 1); i < values.size(); i += size_t(step)) {
    summary.values.push_back(values[i]);
    summary.weights.push_back(float(step));
  }
  return summary;
}

Discretization::Summary Discretization::joined(Summary first, const Summary& second, double epsilon) {
  first.values.insert(first.values.end(), second.values.begin(), second.values.end());
  first.weights.insert(first.weights.end(), second.weights.begin(), second.weights.end());
  std::vector<size_t> order(first.values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return first.values[a] < first.values[b]; });
  Summary sorted;
  for (const size_t i : order) {
    sorted.values.push_back(first.values[i]);
    sorted.weights.push_back(first.weights[i]);
  }
  return compressed(sorted, epsilon);
}

Discretization::Summary Discretization::compressed(const Summary& summary, double epsilon) {
  const size_t n = summary.values.size();
  if (double(n) * epsilon < 1) return summary;
  std::vector<float> total(n), share(n);
  float sum = 0;
  for (size_t i = 0; i < n; ++i) total[i] = sum += summary.weights[i];
  for (size_t i = 0; i < n; ++i) share[i] = total[i] / sum;
  // Between neighbours in a straight line, at the ends theirs.
  const auto at_share = [&](double x, const std::vector<float>& of) {
    const auto above = size_t(std::upper_bound(share.begin(), share.end(), x) - share.begin());
    if (above == 0) return double(of[0]);
    const size_t j = above - 1;
    if (j + 1 >= n || double(share[j]) == x) return double(of[j]);
    const double slope = (double(of[j + 1]) - double(of[j])) / (double(share[j + 1]) - double(share[j]));
    return slope * (x - double(share[j])) + double(of[j]);
  };
  Summary out;
  double before = 0;
  const auto count = size_t(std::ceil(1.0 / epsilon));
  for (size_t i = 0; i < count; ++i) {
    const double percent = epsilon + double(i) * epsilon;
    const double weight = at_share(percent, total);
    out.values.push_back(float(at_share(percent, summary.values)));
    out.weights.push_back(float(weight - before));
    before = weight;
  }
  return out;
}

}  // namespace rw::keras
