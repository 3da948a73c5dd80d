// Layers of Keras, whose results check_keras.py compares with the real ones. A row is a name, the layer and
// its inputs; check_keras.py has the same rows. One line a case: "name|what v v v|what v v v"; summaries
// follow behind lines "summary NAME". Weights and inputs are filled with the same waves on both sides.
#include <cmath>
#include <cstdio>
#include <functional>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

Tensor wave(const Shape& shape, int number, double scale = 0.5) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(scale * std::sin(1.0 + 0.7 * double(i) + 1.3 * number) + 0.01 * number);
  return constant(values, shape);
}
Tensor ids(const Shape& shape, int limit) {
  std::vector<int32_t> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t((i * 7 + i / 3) % size_t(limit));
  return constant(values, shape);
}

void print_numbers(const std::string& what, const Tensor& t) {
  printf("|%s", what.c_str());
  for (const double v : cast(t, float64).to_vector<double>()) printf(" %.9g", v);
}

struct Case {
  std::string name;
  std::function<LayerRef()> make;
  std::vector<Tensor> inputs;
  CallArgs args = {};
};

void run(const Case& c) {
  printf("%s", c.name.c_str());
  try {
    clear_session();
    const LayerRef layer = c.make();
    layer->all(c.inputs, {.mask = c.args.mask});  // builds it
    int number = 1;
    for (const Variable& v : layer->weights()) {
      Tensor value = wave(v.shape(), number++, 0.4);
      if (weight_name(v).find("variance") != std::string::npos) value = abs(value) + 0.5;
      if (is_floating(v.dtype())) v.assign(value);
    }
    for (const Variable& v : layer->random_states())  // as if nothing was drawn yet
      if (v.dtype() == int64) v.assign(v * constant(std::vector<int64_t>{1, 0}));
    std::vector<Tensor> sources;
    for (const Tensor& x : c.inputs)
      if (is_floating(x.dtype())) sources.push_back(x);
    auto f = function([&](const std::vector<Tensor>& inputs) {
      GradientTape tape;
      std::vector<Tensor> floats, watched;
      for (const Tensor& x : inputs)
        if (is_floating(x.dtype())) floats.push_back(x);
      tape.watch(floats);
      const std::vector<Tensor> results = layer->all(inputs, c.args);
      std::vector<Tensor> terms;
      for (size_t i = 0; i < results.size(); ++i)
        if (is_floating(results[i].dtype()))
          terms.push_back(reduce_sum(results[i] * wave(results[i].shape(), int(i) + 3)));
      for (const Tensor& loss : layer->losses()) terms.push_back(loss);
      std::vector<Tensor> all = floats;
      for (const Variable& v : layer->trainable_weights()) all.push_back(v.handle());
      const std::vector<Gradient> gradients =
          tape.flat_gradient({add_n(terms)}, all, {.unconnected_gradients = UnconnectedGradients::ZERO});
      std::vector<Tensor> out = results;
      for (const Gradient& g : gradients) out.push_back(g.tensor());
      return out;
    });
    const std::vector<Tensor> out = f(c.inputs);
    const size_t gradients = sources.size() + layer->trainable_weights().size();
    const size_t results = out.size() - gradients;
    for (size_t i = 0; i < out.size(); ++i)
      print_numbers(i < results ? "result" + std::to_string(i) : "gradient" + std::to_string(i - results),
                    out[i]);
    int state = 0;
    for (const Variable& v : layer->non_trainable_weights())
      print_numbers("state" + std::to_string(state++), v.value());
    printf("|weights");
    for (const Variable& v : layer->weights())
      printf(" %s%s", weight_path(v).c_str(), v.shape().to_string().c_str());
    printf("|shape");
    for (size_t i = 0; i < results; ++i) printf(" %s", out[i].shape().to_string().c_str());
  } catch (const Error& e) { printf("|error %s", e.what()); }
  printf("\n");
}

template <class L>
Case row(const std::string& name, const L& make, std::vector<Tensor> inputs, CallArgs args = {}) {
  return {name, [make] { return LayerRef(make()); }, std::move(inputs), std::move(args)};
}
#define ROW(name, layer, ...) row(name, [] { return layer; }, __VA_ARGS__)

using In = std::vector<Tensor>;
const CallArgs kTraining{.training = true};

std::vector<Case> cases() {
  const Tensor flat = wave({3, 5}, 0), steps = wave({2, 6, 4}, 0), image = wave({2, 7, 6, 4}, 0),
               volume = wave({1, 5, 5, 6, 2}, 0), image_first = wave({2, 4, 7, 6}, 0);
  const Tensor tokens = ids({2, 6}, 8);
  const Tensor mask = constant(
      std::vector<bool>{true, true, true, false, false, false, true, true, true, true, true, false}, {2, 6});
  return {
      ROW("dense", Dense(4), In{flat}),
      ROW("dense_relu", Dense(4, {.activation = "relu", .use_bias = false, .name = "head"}), In{flat}),
      ROW("dense_3d", Dense(3, {.activation = "gelu"}), In{steps}),
      ROW("dense_regularized",
          Dense(4, {.kernel_regularizer = regularizers::L2(0.02),
                    .bias_regularizer = "l1",
                    .activity_regularizer = regularizers::L2(0.1)}),
          In{flat}),
      ROW("conv1d", Conv1D(5, 3), In{steps}),
      ROW("conv1d_causal", Conv1D(5, 2, {.padding = "causal", .dilation_rate = 2, .activation = "tanh"}),
          In{steps}),
      ROW("conv2d", Conv2D(5, 3), In{image}),
      ROW("conv2d_same_strides", Conv2D(5, {3, 2}, {.strides = 2, .padding = "same", .activation = "relu"}),
          In{image}),
      ROW("conv2d_groups", Conv2D(6, 3, {.groups = 2, .use_bias = false}), In{image}),
      ROW("conv2d_dilated", Conv2D(3, 2, {.dilation_rate = 2}), In{image}),
      ROW("conv3d", Conv3D(3, 2, {.strides = {1, 2, 1}, .padding = "same"}), In{volume}),
      ROW("depthwise_conv2d", DepthwiseConv2D(3, {.depth_multiplier = 2}), In{image}),
      ROW("depthwise_conv2d_same", DepthwiseConv2D(3, {.strides = 2, .padding = "same"}), In{image}),
      ROW("depthwise_conv1d", DepthwiseConv1D(3, {.depth_multiplier = 2}), In{steps}),
      ROW("separable_conv2d", SeparableConv2D(5, 3, {.depth_multiplier = 2, .activation = "relu"}),
          In{image}),
      ROW("separable_conv1d", SeparableConv1D(5, 3), In{steps}),
      ROW("conv2d_transpose", Conv2DTranspose(3, 3), In{image}),
      ROW("conv2d_transpose_same", Conv2DTranspose(3, 3, {.strides = 2, .padding = "same"}), In{image}),
      ROW("conv2d_transpose_output_padding",
          Conv2DTranspose(3, 3, {.strides = 2, .padding = "same", .output_padding = 1}), In{image}),
      ROW("conv2d_transpose_strides", Conv2DTranspose(3, 2, {.strides = 3}), In{image}),
      ROW("conv1d_transpose", Conv1DTranspose(3, 3, {.strides = 2}), In{steps}),
      ROW("conv3d_transpose", Conv3DTranspose(2, 2, {.strides = 2}), In{volume}),
      ROW("max_pooling1d", MaxPooling1D(), In{steps}),
      ROW("max_pooling2d", MaxPooling2D({2, 3}, {.strides = 2, .padding = "same"}), In{image}),
      ROW("max_pooling2d_first", MaxPooling2D(2, {.data_format = "channels_first"}), In{image_first}),
      ROW("max_pooling3d", MaxPooling3D(), In{volume}),
      ROW("average_pooling1d", AveragePooling1D(3, {.strides = 1, .padding = "same"}), In{steps}),
      ROW("average_pooling2d", AveragePooling2D(), In{image}),
      ROW("average_pooling2d_same", AveragePooling2D(3, {.strides = 2, .padding = "same"}), In{image}),
      ROW("average_pooling3d", AveragePooling3D(), In{volume}),
      ROW("global_max_pooling1d", GlobalMaxPooling1D(), In{steps}),
      ROW("global_max_pooling2d", GlobalMaxPooling2D({.keepdims = true}), In{image}),
      ROW("global_max_pooling3d", GlobalMaxPooling3D(), In{volume}),
      ROW("global_average_pooling1d", GlobalAveragePooling1D(), In{steps}),
      ROW("global_average_pooling1d_mask", GlobalAveragePooling1D(), In{steps}, {.mask = mask}),
      ROW("global_average_pooling2d", GlobalAveragePooling2D(), In{image}),
      ROW("global_average_pooling2d_first", GlobalAveragePooling2D({.data_format = "channels_first"}),
          In{image_first}),
      ROW("global_average_pooling3d", GlobalAveragePooling3D(), In{volume}),
      ROW("flatten", Flatten(), In{image}),
      ROW("reshape", Reshape({3, -1}), In{image}),
      ROW("permute", Permute({2, 1}), In{steps}),
      ROW("repeat_vector", RepeatVector(3), In{flat}),
      ROW("zero_padding1d", ZeroPadding1D({1, 2}), In{steps}),
      ROW("zero_padding2d", ZeroPadding2D(SpatialPairs({{1, 2}, {0, 1}})), In{image}),
      ROW("zero_padding3d", ZeroPadding3D(), In{volume}),
      ROW("cropping1d", Cropping1D({1, 2}), In{steps}),
      ROW("cropping2d", Cropping2D(SpatialPairs({{1, 2}, {0, 1}})), In{image}),
      ROW("cropping3d", Cropping3D(), In{volume}),
      ROW("up_sampling1d", UpSampling1D(3), In{steps}),
      ROW("up_sampling2d", UpSampling2D({2, 3}), In{image}),
      ROW("up_sampling2d_bilinear", UpSampling2D(2, {.interpolation = "bilinear"}), In{image}),
      ROW("up_sampling3d", UpSampling3D(), In{volume}),
      ROW("dropout_inference", Dropout(0.5), In{flat}),
      ROW("spatial_dropout_inference", SpatialDropout2D(0.5), In{image}),
      ROW("dropout_training", Dropout(0.5, {.seed = 3}), In{flat}, kTraining),
      ROW("dropout_rows", Dropout(0.3, {.noise_shape = {-1, 1}, .seed = 4}), In{flat}, kTraining),
      ROW("spatial_dropout_training", SpatialDropout2D(0.5, {.seed = 5}), In{image}, kTraining),
      ROW("gaussian_noise_training", GaussianNoise(0.2, {.seed = 6}), In{flat}, kTraining),
      ROW("gaussian_dropout_training", GaussianDropout(0.3, {.seed = 7}), In{flat}, kTraining),
      ROW("random_flip", RandomFlip({.seed = 7}), In{image}),  // these train unless they are told
      ROW("random_flip_horizontal", RandomFlip({.mode = "horizontal", .seed = 8}), In{image}, kTraining),
      ROW("random_flip_inference", RandomFlip({.seed = 7}), In{image}, {.training = false}),
      ROW("random_rotation", RandomRotation(0.2, {.seed = 7}), In{image}),
      ROW("random_rotation_constant",
          RandomRotation(0.1, 0.3, {.fill_mode = "constant", .fill_value = 0.3, .seed = 8}), In{image}),
      ROW("random_rotation_nearest", RandomRotation(0.4, {.fill_mode = "nearest", .seed = 9}), In{image}),
      ROW("random_rotation_wrap",
          RandomRotation(0.4, {.fill_mode = "wrap", .interpolation = "nearest", .seed = 10}), In{image}),
      ROW("random_rotation_wrap_smooth", RandomRotation(0.4, {.fill_mode = "wrap", .seed = 11}), In{image}),
      ROW("random_crop", RandomCrop(4, 3, {.seed = 7}), In{image}),
      ROW("simple_rnn_dropout", SimpleRNN(3, {.dropout = 0.4, .recurrent_dropout = 0.3, .seed = 7}),
          In{steps}, kTraining),
      ROW("lstm_dropout", LSTM(3, {.dropout = 0.4, .seed = 7}), In{steps}, kTraining),
      ROW("lstm_recurrent_dropout", LSTM(3, {.recurrent_dropout = 0.4, .seed = 7, .return_sequences = true}),
          In{steps}, kTraining),
      ROW("lstm_both_dropouts", LSTM(3, {.dropout = 0.3, .recurrent_dropout = 0.4, .seed = 7}), In{steps},
          kTraining),
      ROW("gru_dropout", GRU(3, {.dropout = 0.4, .seed = 7}), In{steps}, kTraining),
      ROW("gru_both_dropouts", GRU(3, {.dropout = 0.3, .recurrent_dropout = 0.4, .seed = 7}), In{steps},
          kTraining),
      ROW("gru_reset_before_dropout", GRU(3, {.reset_after = false, .recurrent_dropout = 0.4, .seed = 7}),
          In{steps}, kTraining),
      ROW("attention_dropout", MultiHeadAttention(2, 3, {.dropout = 0.4, .seed = 9}), (In{steps, steps}),
          kTraining),
      ROW("batch_normalization", BatchNormalization(), In{flat}),
      ROW("batch_normalization_training", BatchNormalization(), In{image}, kTraining),
      ROW("batch_normalization_axis",
          BatchNormalization({.axis = 1, .momentum = 0.8, .epsilon = 0.01, .center = false}), In{image},
          kTraining),
      ROW("batch_normalization_mask", BatchNormalization(), In{steps}, {.training = true, .mask = mask}),
      ROW("batch_normalization_frozen", BatchNormalization({.trainable = false}), In{image}, kTraining),
      ROW("layer_normalization", LayerNormalization(), In{steps}),
      ROW("layer_normalization_axes", LayerNormalization({.axis = {1, 2}, .epsilon = 0.1, .scale = false}),
          In{steps}),
      ROW("group_normalization", GroupNormalization({.groups = 2}), In{image}),
      ROW("group_normalization_instance", GroupNormalization({.groups = -1, .center = false}), In{steps}),
      ROW("embedding", Embedding(8, 3), In{tokens}),
      ROW("simple_rnn", SimpleRNN(3), In{steps}),
      ROW("simple_rnn_sequences",
          SimpleRNN(
              3, {.activation = "relu", .use_bias = false, .return_sequences = true, .go_backwards = true}),
          In{steps}),
      ROW("lstm", LSTM(3), In{steps}),
      ROW("lstm_sequences", LSTM(3, {.return_sequences = true, .return_state = true}), In{steps}),
      ROW("lstm_mask", LSTM(3, {.return_sequences = true}), In{steps}, {.mask = mask}),
      ROW("lstm_mask_backwards", LSTM(3, {.go_backwards = true}), In{steps}, {.mask = mask}),
      ROW("lstm_mask_state", LSTM(3, {.return_sequences = true, .return_state = true, .go_backwards = true}),
          (In{steps, wave({2, 3}, 1), wave({2, 3}, 2)}), {.mask = mask}),
      ROW("gru_long_mask", GRU(3, {.return_sequences = true}), In{wave({2, 40, 2}, 0)},
          {.mask = ids({2, 40}, 4) > 0}),
      ROW("lstm_state", LSTM(3), In{steps, wave({2, 3}, 1), wave({2, 3}, 2)}),
      ROW("lstm_long", LSTM(3, {.return_sequences = true}), In{wave({2, 40, 2}, 0)}),
      ROW("gru", GRU(3), In{steps}),
      ROW("gru_before", GRU(3, {.reset_after = false, .return_sequences = true}), In{steps}),
      ROW("gru_state", GRU(3, {.use_bias = false, .return_state = true}), In{steps, wave({2, 3}, 1)}),
      ROW("bidirectional", Bidirectional(LSTM(3)), In{steps}),
      ROW("bidirectional_sequences", Bidirectional(GRU(3, {.return_sequences = true}), {.merge_mode = "sum"}),
          In{steps}),
      ROW("bidirectional_mask", Bidirectional(LSTM(3, {.return_sequences = true})), In{steps},
          {.mask = mask}),
      ROW("time_distributed", TimeDistributed(Dense(3)), In{steps}),
      ROW("time_distributed_conv", TimeDistributed(Conv1D(2, 2)), In{image}),
      ROW("multi_head_attention", MultiHeadAttention(2, 3), (In{steps, wave({2, 5, 4}, 1)})),
      ROW("multi_head_attention_causal", MultiHeadAttention(2, 3, {.value_dim = 5, .output_shape = 7}),
          (In{steps, steps}), {.use_causal_mask = true}),
      ROW("multi_head_attention_scores", MultiHeadAttention(2, 3, {.use_bias = false}),
          (In{steps, steps, wave({2, 6, 3}, 1)}), {.return_attention_scores = true}),
      ROW("activation", ActivationLayer("tanh"), In{flat}),
      ROW("relu", ReLU({.max_value = 0.3, .negative_slope = 0.1, .threshold = 0.05}), In{flat}),
      ROW("leaky_relu", LeakyReLU(), In{flat}),
      ROW("elu", ELU({.alpha = 0.5}), In{flat}),
      ROW("softmax", Softmax(), In{flat}),
      ROW("softmax_axes", Softmax({.axis = {1, 2}}), In{steps}),
      ROW("p_relu", PReLU({.shared_axes = {1}}), In{steps}),
      ROW("add", Add(), (In{flat, wave({3, 5}, 1), wave({3, 5}, 2)})),
      ROW("add_broadcast", Add(), (In{steps, wave({2, 4}, 1)})),
      ROW("subtract", Subtract(), (In{flat, wave({3, 5}, 1)})),
      ROW("multiply", Multiply(), (In{flat, wave({3, 5}, 1)})),
      ROW("average", Average(), (In{flat, wave({3, 5}, 1), wave({3, 5}, 2)})),
      ROW("maximum", Maximum(), (In{flat, wave({3, 5}, 1)})),
      ROW("minimum", Minimum(), (In{flat, wave({3, 5}, 1)})),
      ROW("concatenate", Concatenate(), (In{steps, wave({2, 6, 2}, 1)})),
      ROW("concatenate_axis", Concatenate({.axis = 1}), (In{steps, wave({2, 3, 4}, 1)})),
      ROW("dot", Dot(1), (In{flat, wave({3, 5}, 1)})),
      ROW("dot_3d", Dot({2, 1}), (In{steps, wave({2, 4, 3}, 1)})),
      ROW("dot_cosine", Dot(1, {.normalize = true}), (In{flat, wave({3, 5}, 1)})),
      ROW("rescaling", Rescaling(1.0 / 255, {.offset = 0.5}), In{image}),
      ROW("normalization", Normalization(), In{flat}),
      ROW("normalization_given",
          Normalization(
              {.mean = constant({0.1, 0.2, 0.3, 0.4, 0.5}), .variance = constant({1.0, 2.0, 3.0, 4.0, 5.0})}),
          In{flat}),
      ROW("masking", Masking({.mask_value = 0.0}), In{steps}),
      ROW("masked_model",
          (Sequential({Embedding(8, 3, {.mask_zero = true}), LSTM(3, {.return_sequences = true}), LSTM(2),
                       Dense(2)})),
          In{tokens}),
      ROW("cnn",
          (Sequential(
              {Conv2D(4, 3, {.activation = "relu"}), MaxPooling2D(), Flatten(), Dropout(0.3), Dense(3)})),
          In{image}),
  };
}

void summary(const char* name, const std::function<std::string()>& text) {
  clear_session();
  printf("summary %s\n%s", name, text().c_str());
}

void summaries() {
  summary("unbuilt", [] {
    return Sequential({Reshape({784}), Dense(100, {.activation = "relu"}), Dense(10)}).summary_text();
  });
  summary("mnist",
          [] { return Sequential({Input({28, 28}), Reshape({784}), Dense(100), Dense(10)}).summary_text(); });
  summary("called", [] {
    auto m = Sequential({Dense(100), BatchNormalization(), Dense(10)});
    m(ones({2, 7}));
    return m.summary_text();
  });
  summary("trained", [] {
    auto m = Sequential({Dense(100, {.activation = "relu"}), BatchNormalization(), Dense(10)});
    m.compile({.optimizer = "adam", .loss = "mse"});
    m.fit(ones({4, 7}), ones({4, 10}), {.verbose = 0});
    return m.summary_text();
  });
  summary("cnn_wide", [] {
    auto m = Sequential({Input({28, 28, 1}), Conv2D(32, 3, {.activation = "relu"}), MaxPooling2D(2),
                         BatchNormalization(), GlobalAveragePooling2D(), Dropout(0.5), Dense(10)});
    return m.summary_text({.line_length = 70});
  });
  summary("functional", [] {
    const KerasTensor x = Input({784}), image = Input({8, 8, 3}, {.name = "picture_of_something"});
    const KerasTensor y = Dense(5)(x), z = Dense(5)(x);
    const KerasTensor c = GlobalAveragePooling2D()(Conv2D(5, 3)(image));
    const KerasTensor o = Add()({y, z, c});
    const KerasTensor o2 = Dense(2)(o * 2.0 + y);
    return Model({x, image}, {o, o2}).summary_text();
  });
  summary("chain", [] {
    const KerasTensor x = Input({10});
    return Model(x, Dense(2)(Dense(3)(x) * 2.0)).summary_text({.show_trainable = true});
  });
  summary("shared", [] {
    const KerasTensor a = Input({4}), b = Input({4});
    const Dense shared(3, {.name = "a_layer_with_a_rather_long_name"});
    return Model({a, b}, Concatenate()({shared(a), shared(b)})).summary_text();
  });
  summary("nested", [] {
    auto inner = Sequential({Dense(4), BatchNormalization()});
    auto m = Sequential({Input({7}), inner, Dense(2)});
    inner.set_trainable(false);
    return m.summary_text({.expand_nested = true, .show_trainable = true});
  });
  summary("rnn", [] {
    const KerasTensor x = Input({-1}, {.dtype = int32});
    const KerasTensor e = Embedding(1000, 16)(x);
    const std::vector<KerasTensor> all = LSTM(8, {.return_sequences = true, .return_state = true}).all(e);
    const KerasTensor y = Bidirectional(GRU(8))(all[0]);
    return Model(x, {Dense(1)(y), all[1]}).summary_text();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "summary") {
    summaries();
    return 0;
  }
  for (const Case& c : cases())
    if (c.name.find(word) != std::string::npos) run(c);
}
