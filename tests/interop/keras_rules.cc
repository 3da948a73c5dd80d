// Rules of Keras that are not arithmetic, which check_keras_rules.py compares live: which layers hand masks
// on, how metrics are called in logs, what a batch's metrics are, which shapes a model takes, loss scales.
// One line a case: "section name|text"; numbers in it are compared with a tolerance. check_keras_rules.py has
// the same rows.
#include <cstdio>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "waves.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

std::string numbers(const Tensor& t) {
  std::string text;
  char part[40];
  for (const double v : cast(t, float64).to_vector<double>()) {
    snprintf(part, sizeof(part), " %.7g", v);
    text += part;
  }
  return text;
}
void report(const char* section, const std::string& name, const std::string& text) {
  printf("%s %s|%s\n", section, name.c_str(), text.c_str());
}

// ---- masks ------------------------------------------------------------------------------------------------

Tensor seen;
struct Probe : LayerOf<Probe> {
  Tensor call(const Tensor& x, const CallArgs& args) override {
    seen = args.mask;
    return x;
  }
  bool supports_masking() const override { return true; }
};
struct Plain : LayerOf<Plain> {
  Tensor call(const Tensor& x, const CallArgs&) override { return x * 2.0; }
};
struct Passing : LayerOf<Passing> {
  Tensor call(const Tensor& x, const CallArgs&) override { return x * 2.0; }
  bool supports_masking() const override { return true; }
};

void mask_report(const std::string& name, const Model& model, const std::vector<Tensor>& inputs) {
  seen = {};
  const Tensor y = model(inputs);
  const std::string mask = seen.defined() ? seen.shape().to_string() + numbers(seen) : "none";
  report("mask", name, mask + " sum" + numbers(reduce_sum(y)));
}

using Step = std::function<KerasTensor(const KerasTensor& masked, const KerasTensor& other)>;
void mask(const std::string& name, const Step& f) {
  clear_session();
  const auto i = Input({6, 4}), j = Input({6, 4});
  const auto m = Masking()(i);
  const Model model({i, j}, Probe()(f(m, j)));
  std::vector<float> values = wave({2, 6, 4}, 0).to_vector<float>();
  for (int k = 0; k < 12; ++k) values[size_t(12 + k)] = 0;  // steps 3 to 5 of the first example
  for (int k = 0; k < 4; ++k) values[size_t(24 + 20 + k)] = 0;
  mask_report(name, model, {constant(values, {2, 6, 4}), wave({2, 6, 4}, 1)});
}
template <class L>
void mask_layer(const std::string& name, const L& layer) {
  mask(name, [&](const KerasTensor& m, const KerasTensor&) { return layer(m); });
}
template <class L>
void mask_merge(const std::string& name) {
  using K = KerasTensor;
  mask(name + "_mj", [](const K& m, const K& j) { return L()({m, j}); });
  mask(name + "_jm", [](const K& m, const K& j) { return L()({j, m}); });
  mask(name + "_mm", [](const K& m, const K&) { return L()({m, Masking()(m * 1.0)}); });
  mask(name + "_other", [](const K& m, const K& j) {
    const Tensor late = constant(std::vector<float>{0, 0, 1, 1, 1, 1}, {1, 6, 1});
    return L()({m, Masking()(j * late)});
  });
}
void mask_tokens(const std::string& name, bool zero, bool through_lambda) {
  clear_session();
  const auto i = Input({6}, {.dtype = int32});
  auto y = Embedding(5, 3, {.embeddings_initializer = "ones", .mask_zero = zero})(i);
  if (through_lambda) y = Lambda([](const Tensor& x) { return x + 1.0; })(y);
  mask_report(name, Model(i, Probe()(y)),
              {constant(std::vector<int32_t>{1, 2, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0}, {2, 6})});
}

void masks() {
  const GRUOptions sequences{
      .kernel_initializer = "ones", .recurrent_initializer = "ones", .return_sequences = true};
  const GRUOptions last{.kernel_initializer = "ones", .recurrent_initializer = "ones"};
  const LSTMOptions lstm{
      .kernel_initializer = "ones", .recurrent_initializer = "ones", .return_sequences = true};
  mask_layer("activation", layers::Activation("relu"));
  mask_layer("relu", ReLU());
  mask_layer("leaky_relu", LeakyReLU());
  mask_layer("elu", ELU());
  mask_layer("prelu", PReLU());
  mask_layer("dense", Dense(3, {.kernel_initializer = "ones"}));
  mask_layer("dropout", Dropout(0.5));
  mask_layer("spatial_dropout", SpatialDropout1D(0.5));
  mask_layer("gaussian_noise", GaussianNoise(0.5));
  mask_layer("gaussian_dropout", GaussianDropout(0.5));
  mask_layer("batch_normalization", BatchNormalization());
  mask_layer("layer_normalization", LayerNormalization());
  mask_layer("group_normalization", GroupNormalization({.groups = 2}));
  mask_layer("flatten", Flatten());
  mask_layer("reshape", Reshape({6, 4}));
  mask_layer("reshape_other", Reshape({4, 6}));
  mask_layer("permute", Permute({2, 1}));
  mask_layer("permute_nothing", Permute({1, 2}));
  mask_layer("zero_padding", ZeroPadding1D(1));
  mask_layer("zero_padding_nothing", ZeroPadding1D(0));
  mask_layer("cropping_nothing", Cropping1D(0));
  mask_layer("up_sampling", UpSampling1D(2));
  mask_layer("up_sampling_nothing", UpSampling1D(1));
  mask_layer("conv", Conv1D(3, 2, {.kernel_initializer = "ones"}));
  mask_layer("max_pooling", MaxPooling1D(1));
  mask_layer("average_pooling", AveragePooling1D(1));
  mask_layer("global_average", GlobalAveragePooling1D());
  mask_layer("global_average_keepdims", GlobalAveragePooling1D({.keepdims = true}));
  mask_layer("global_max", GlobalMaxPooling1D());
  mask_layer("gru", GRU(2, last));
  mask_layer("gru_sequences", GRU(2, sequences));
  mask_layer("lstm_sequences", LSTM(2, lstm));
  mask_layer("bidirectional", Bidirectional(GRU(2, last)));
  mask_layer("bidirectional_sequences", Bidirectional(GRU(2, sequences)));
  mask_layer("time_distributed", TimeDistributed(Dense(2, {.kernel_initializer = "ones"})));
  mask_layer("lambda", Lambda([](const Tensor& x) { return x * 2.0; }));
  mask_layer("rescaling", Rescaling(2.0));
  mask_layer("normalization", Normalization({.mean = constant(0.0f), .variance = constant(1.0f)}));
  mask_layer("masking", Masking({.mask_value = 0.5}));
  mask_layer("own_plain", Plain());
  mask_layer("own_passing", Passing());
  mask_layer("sequential", Sequential({Dense(3, {.kernel_initializer = "ones"}), Dropout(0.1)}));
  mask_layer("sequential_drops", Sequential({Dense(3, {.kernel_initializer = "ones"}),
                                             Lambda([](const Tensor& x) { return x + 1.0; })}));
  using K = KerasTensor;
  mask("add_op", [](const K& m, const K& j) { return m + j; });
  mask("add_op_same", [](const K& m, const K&) { return m + m; });
  mask("multiply_op", [](const K& m, const K&) { return m * 2.0; });
  mask("negative_op", [](const K& m, const K&) { return -m; });
  mask("subtract_op", [](const K& m, const K&) { return 1.0 - m; });
  mask("divide_op", [](const K& m, const K&) { return m / 2.0; });
  mask_merge<Add>("add");
  mask_merge<Subtract>("subtract");
  mask_merge<Multiply>("multiply");
  mask_merge<Average>("average");
  mask_merge<Maximum>("maximum");
  mask_merge<Minimum>("minimum");
  mask_merge<Concatenate>("concatenate");
  mask("concatenate_time", [](const K& m, const K& j) { return Concatenate({.axis = 1})({m, j}); });
  mask("dot", [](const K& m, const K& j) { return Dot(2)({m, j}); });
  const MultiHeadAttentionOptions ones{.kernel_initializer = "ones"};
  mask("attention_mm", [&](const K& m, const K&) { return MultiHeadAttention(1, 2, ones)({m, m}); });
  mask("attention_mj", [&](const K& m, const K& j) { return MultiHeadAttention(1, 2, ones)({m, j}); });
  mask("attention_jm", [&](const K& m, const K& j) { return MultiHeadAttention(1, 2, ones)({j, m}); });
  mask("functional", [](const K& m, const K&) {
    const auto a = Input({6, 4});
    return Model(a, Dense(3, {.kernel_initializer = "ones"})(a))(m);
  });
  mask("functional_op", [](const K& m, const K&) {
    const auto a = Input({6, 4});
    return Model(a, a * 2.0)(m);
  });
  mask_tokens("embedding", false, false);
  mask_tokens("embedding_zero", true, false);
  mask_tokens("embedding_lambda", true, true);
}

// ---- names and numbers of logs ----------------------------------------------------------------------------

const Tensor& features() {
  static const Tensor x = wave({8, 4}, 0);
  return x;
}
Tensor target(int number) { return wave({8, 1}, number); }
Tensor classes() { return ids({8}, 3); }

std::string keys(const Logs& logs) {
  std::string text;
  for (const auto& [key, value] : logs.items()) text += " " + key;
  return text;
}

template <class M>
void names(const std::string& name, M model, const Arrays& y, CompileOptions how) {
  how.optimizer = "sgd";
  model.compile(how);
  std::string text = "history";
  const History history = model.fit(
      features(), y, {.batch_size = 4, .verbose = 0, .validation_data = ValidationData{features(), y}});
  for (const auto& [key, values] : history.history) text += " " + key;
  report("names", name, text + " evaluate" + keys(model.evaluate(features(), y, {.verbose = 0})));
}

Sequential one(int64_t units, const char* activation) {
  clear_session();
  return Sequential({Dense(units, {.activation = activation})});
}
Model outputs(const std::vector<std::string>& names) {
  clear_session();
  const auto i = Input({4});
  std::vector<KerasTensor> list;
  for (const std::string& n : names) list.push_back(Dense(1, {.name = n})(i));
  return {i, list};
}
struct Pair : Model {
  Dense a{1}, b{1};
  std::vector<Tensor> call_many(const std::vector<Tensor>& x, const CallArgs&) override {
    return {a(x[0]), b(x[0])};
  }
  RW_TRACK(a, b)
};
Pair pair() {
  clear_session();
  return {};
}

void all_names() {
  const char* sparse = "sparse_categorical_crossentropy";
  const Tensor y = target(1);
  const std::vector<std::string> two{"a", "b"}, three{"a", "b", "c"};
  names("none", one(1, "linear"), y, {.loss = "mse"});
  names("weighted_same", one(3, "softmax"), classes(),
        {.loss = sparse, .metrics = {"accuracy"}, .weighted_metrics = {"accuracy"}});
  names("weighted_same_twice", one(3, "softmax"), classes(),
        {.loss = sparse, .metrics = {"accuracy", "accuracy"}, .weighted_metrics = {"accuracy", "accuracy"}});
  names("twice", one(1, "linear"), y, {.loss = "mse", .metrics = {"mae", "mae", "mae"}});
  names("short_and_object", one(1, "linear"), y,
        {.loss = "mse", .metrics = {"mae", metrics::MeanAbsoluteError(), metrics::MeanAbsoluteError()}});
  names("named", one(1, "linear"), y,
        {.loss = "mse",
         .metrics = {metrics::MeanAbsoluteError({.name = "first"}),
                     metrics::MeanAbsoluteError({.name = "second"}),
                     metrics::MeanAbsoluteError({.name = "first"})}});
  names("spellings", one(1, "linear"), y,
        {.loss = "mse", .metrics = {"MeanAbsoluteError", "mean_absolute_error", "MAE"}});
  names("weighted_only", one(1, "linear"), y, {.loss = "mse", .weighted_metrics = {"mae"}});
  names("weighted_some", one(1, "linear"), y,
        {.loss = "mse", .metrics = {"mae"}, .weighted_metrics = {"mse", "mae", "mae"}});
  names("called_loss", one(1, "linear"), y,
        {.loss = "mse", .metrics = {metrics::MeanSquaredError({.name = "loss"})}});
  names("binary", one(1, "sigmoid"), cast(ids({8, 1}, 2), float32),
        {.loss = "binary_crossentropy", .metrics = {"accuracy", AUC(), Precision(), Recall()}});
  names("accuracies", one(3, "softmax"), classes(),
        {.loss = sparse, .metrics = {"sparse_categorical_accuracy", "accuracy", "acc"}});
  names("outputs", outputs(two), {y, y}, {.loss = {"mse", "mae"}});
  names("outputs_one_loss", outputs(two), {y, y}, {.loss = "mse"});
  names("outputs_flat", outputs(two), {y, y}, {.loss = "mse", .metrics = {"mae", "mse"}});
  names("outputs_lists", outputs(two), {y, y},
        {.loss = "mse", .weighted_metrics = {"mae", "mse"}, .output_metrics = {{"mae", "mae"}, {"mae"}}});
  names("outputs_first", outputs(two), {y, y}, {.loss = "mse", .output_metrics = {{"mae"}, {}}});
  names("outputs_one_lost", outputs(two), {y, y},
        {.loss = {"mse", nullptr}, .output_metrics = {{"mae"}, {"mse"}}});
  names("outputs_middle_lost", outputs(three), {y, y, y},
        {.loss = {"mse", nullptr, "mae"}, .output_metrics = {{"mae"}, {}, {"mse", "mse"}}});
  names("outputs_collide", outputs({"a", "a_b"}), {y, y},
        {.loss = "mse",
         .output_metrics = {{metrics::MeanAbsoluteError({.name = "b_x"})},
                            {metrics::MeanAbsoluteError({.name = "x"})}}});
  {
    clear_session();
    const auto i = Input({4});
    const Dense d(1, {.name = "d"});
    names("outputs_one_layer", Model(i, {d(i), d(i + 1.0)}), {y, y},
          {.loss = "mse", .metrics = {"mae", "mae"}});
  }
  names("subclass", pair(), {y, y}, {.loss = {"mse", "mae"}, .output_metrics = {{"mae"}, {"mse", "mae"}}});
  names("subclass_same", pair(), {y, y},
        {.loss = {"mse", "mse"}, .metrics = {"mae", "mae"}, .weighted_metrics = {"mae", "mae"}});
  names("subclass_objects", pair(), {y, y},
        {.loss = {MeanSquaredError(), Huber({.name = "hub"})}, .metrics = {"mae", "mae"}});
}

// ---- single batches ---------------------------------------------------------------------------------------

std::string text_of(const Logs& logs) {
  std::string text;
  char part[60];
  for (const auto& [key, value] : logs.items()) {
    snprintf(part, sizeof(part), " %s %.7g", key.c_str(), value);
    text += part;
  }
  return text;
}

void batches() {
  auto model = one(1, "linear");
  model(features());
  model.weights()[0].assign(wave({4, 1}, 5));
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse", .metrics = {"mae"}});
  std::string text;
  for (int k = 0; k < 3; ++k) text += text_of(model.train_on_batch(wave({8, 4}, k), target(k)));
  text += text_of(model.test_on_batch(wave({8, 4}, 9), target(9)));
  text += text_of(model.test_on_batch(wave({8, 4}, 8), target(8)));
  report("batch", "train_and_test", text);
}

// ---- shapes -----------------------------------------------------------------------------------------------

// The shapes of the results, or "refused".
template <class M>
void shapes(const std::string& name, M model, const std::vector<Tensor>& inputs) {
  std::string text;
  for (const Tensor& x : inputs) {
    try {
      text += " " + model(x).shape().to_string();
    } catch (const Error&) { text += " refused"; }
  }
  report("shapes", name, text);
}

void all_shapes() {
  clear_session();
  auto x = [](const Shape& s) { return ones(s); };
  shapes("tokens", Sequential({Embedding(10, 4), GRU(3), Dense(2)}),
         {ids({16, 5}, 9), ids({16, 6}, 9), ids({8, 7}, 9), ids({8, 3}, 9)});
  shapes("images", Sequential({Conv2D(4, 3), GlobalAveragePooling2D(), Dense(2)}),
         {x({2, 8, 8, 3}), x({2, 10, 9, 3}), x({2, 8, 8, 4}), x({3, 3, 3, 3})});
  shapes("dense", Sequential({Dense(4), Dense(2)}),
         {x({2, 8}), x({2, 9}), x({2, 3, 8}), x({2, 1}), x({2, 8, 1})});
  shapes("dense_of_one", Sequential({Dense(4)}), {x({2, 1}), x({2}), x({2, 1, 1})});
  shapes("flatten", Sequential({Flatten(), Dense(2)}),
         {x({2, 4, 4}), x({2, 5, 4}), x({2, 2, 8}), x({2, 4, 4, 1}), x({2, 16})});
  shapes("reshape", Sequential({Reshape({16}), Dense(2)}),
         {x({2, 4, 4}), x({2, 2, 8}), x({2, 5, 4}), x({3, 4, 4})});
  shapes("reshape_open", Sequential({Reshape({-1, 4}), GRU(2)}), {x({2, 4, 4}), x({2, 5, 4}), x({2, 4, 8})});
  shapes("input", Sequential({Input({8, 8, 3}), Conv2D(4, 3), GlobalAveragePooling2D()}),
         {x({2, 8, 8, 3}), x({2, 10, 9, 3}), x({2, 8, 8, 4}), x({2, 8, 8})});
  shapes("input_batch", Sequential({Input({8}, {.batch_size = 2}), Dense(3)}), {x({2, 8}), x({3, 8})});
  shapes("batch_normalization", Sequential({BatchNormalization()}), {x({2, 8}), x({2, 9}), x({3, 8})});
  shapes("layer_normalization", Sequential({LayerNormalization()}),
         {x({2, 8}), x({2, 9}), x({3, 8}), x({3, 2, 8})});
  shapes("nested", Sequential({Sequential({LSTM(3, {.return_sequences = true})}), GRU(2)}),
         {x({2, 8, 4}), x({2, 9, 4}), x({2, 9, 5})});
  shapes("bidirectional", Sequential({Bidirectional(LSTM(3)), Dense(1)}), {x({2, 8, 4}), x({5, 3, 4})});
  {
    const auto i = Input({8, 8, 3});
    shapes("functional", Model(i, GlobalAveragePooling2D()(Conv2D(4, 3)(i))),
           {x({2, 8, 8, 3}), x({2, 9, 9, 3}), x({2, 8, 8, 4}), x({2, 8, 8})});
  }
  {
    const auto i = Input({-1, -1, 3});
    shapes("functional_open", Model(i, GlobalAveragePooling2D()(Conv2D(4, 3)(i))),
           {x({2, 8, 8, 3}), x({2, 9, 9, 3}), x({2, 8, 8, 4})});
    shapes("sequential_inside", Model(i, Sequential({Conv2D(3, 3), GlobalMaxPooling2D()})(i)),
           {x({2, 8, 8, 3}), x({2, 9, 9, 3})});
  }
  {
    const auto i = Input({8, 1});
    shapes("functional_last_one", Model(i, Flatten()(i)),
           {x({2, 8}), x({3, 8, 1}), x({2, 8, 1, 1}), x({2, 7})});
  }
}

// ---- loss scales ------------------------------------------------------------------------------------------

// Gradients of 1e-8 and below are 0 in float16.
void scales(const std::string& name, bool auto_scale_loss, double target_scale) {
  clear_session();
  set_dtype_policy("mixed_float16");
  auto model = Sequential({Dense(3), Dense(1)});
  const Tensor x = wave({64, 4}, 0), y = wave({64, 1}, 1) * target_scale;
  model(x);
  int number = 1;
  for (const Variable& v : model.weights()) v.assign(wave(v.shape(), number++, 0.001) * 0.01);
  model.compile(
      {.optimizer = SGD({.learning_rate = 100.0}), .loss = "mse", .auto_scale_loss = auto_scale_loss});
  std::string text;
  for (int k = 0; k < 3; ++k) {
    model.train_on_batch(x, y);
    for (const Variable& v : model.weights()) text += numbers(v.value());
  }
  text += " variables";
  for (const Variable& v : model.optimizer().variables())
    if (v.shape().rank() == 0) text += numbers(v.value());
  set_dtype_policy("float32");
  report("scale", name, text);
}

void all_scales() {
  scales("plain", false, 1e-4);
  scales("scaled", true, 1e-4);
  scales("overflow", true, 1e5);  // steps are skipped, and the scale halves
}

}  // namespace

int main() {
  masks();
  all_names();
  batches();
  all_shapes();
  all_scales();
}
