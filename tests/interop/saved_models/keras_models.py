"""Models of Keras layers, by model.export and by tf.saved_model.save."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

from saved_models.registry import floats, ints, model


@model(short=True)
def encoder(folder, vocabulary=1000, length=16, width=32, heads=4, blocks=2):
    ids, mask = keras.Input((None,), dtype="int32", name="ids"), keras.Input((None,), dtype="int32", name="mask")
    positions = keras.ops.cumsum(keras.ops.ones_like(ids), axis=1) - 1
    x = L.Embedding(vocabulary, width)(ids) + L.Embedding(64, width)(positions)
    x = L.Dropout(0.1)(L.LayerNormalization(epsilon=1e-12)(x))
    seen = keras.ops.cast(mask, "bool")[:, None, :]
    for _ in range(blocks):
        a = L.MultiHeadAttention(heads, width // heads, dropout=0.1)(x, x, attention_mask=seen)
        x = L.LayerNormalization(epsilon=1e-12)(x + a)
        f = L.Dense(width)(L.Dense(4 * width, activation="gelu")(x))
        x = L.LayerNormalization(epsilon=1e-12)(x + f)
    pooled = L.Dense(width, activation="tanh")(x[:, 0])
    m = keras.Model({"ids": ids, "mask": mask}, {"logits": L.Dense(3)(pooled), "states": x})
    m.export(folder, verbose=False)
    lengths = np.array([[1] * length, [1] * (length // 2) + [0] * (length - length // 2)], np.int32)
    return [dict(signature="serving_default", inputs={"ids": ints(2, length, high=vocabulary), "mask": lengths},
                 gradients=1),
            dict(signature="serve", inputs={"ids": ints(1, 5, high=vocabulary), "mask": np.ones((1, 5), np.int32)})]


@model(short=True)
def lstm(folder):
    m = keras.Sequential([keras.Input((None,), dtype="int32", name="words"), L.Embedding(50, 8, mask_zero=True),
                          L.Bidirectional(L.LSTM(6, return_sequences=True)), L.LSTM(5), L.Dense(2)])
    m.export(folder, verbose=False)
    words = ints(3, 9, high=50)
    words[1, 5:] = 0
    return [dict(signature="serving_default", inputs={"words": words}, gradients=1),
            dict(function="serve", args=[ints(1, 4, high=50)])]


@model(short=True)
def gru(folder):
    m = keras.Sequential([keras.Input((7, 5), name="x"), L.GRU(6, return_sequences=True, dropout=0.2),
                          L.SimpleRNN(4, go_backwards=True), L.Dense(2)])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, 7, 5)}, gradients=1)]


@model()
def convolutions(folder):
    x = keras.Input((12, 12, 3), name="x")
    y = L.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    y = L.SeparableConv2D(8, 3, padding="same")(y)
    y = L.DepthwiseConv2D(3, dilation_rate=2, padding="same", depth_multiplier=2)(y)
    y = L.Conv2DTranspose(4, 3, strides=2, padding="same")(y)
    y = L.UpSampling2D(interpolation="bilinear")(L.AveragePooling2D(2)(L.ZeroPadding2D(2)(y)))
    y = L.GroupNormalization(2)(L.Cropping2D(1)(L.MaxPooling2D(3, strides=1)(y)))
    z = L.Conv1D(3, 3, padding="causal", activation="swish")(L.Reshape((-1, 4))(y))
    m = keras.Model(x, [L.GlobalMaxPooling2D()(y), L.Dense(2)(L.Flatten()(z))])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 12, 12, 3)}, gradients=1)]


@model()
def activations(folder):
    names = ["relu", "relu6", "elu", "selu", "silu", "gelu", "softplus", "softsign", "tanh", "sigmoid", "hard_sigmoid",
             "hard_silu", "mish", "leaky_relu", "exponential", "log_softmax", "softmax", "celu", "glu"]
    x = keras.Input((6,), name="x")
    m = keras.Model(x, {n: L.Activation(n)(L.Dense(4)(x)) for n in names})
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, 6)}, gradients=1)]


@model()
def saved_by_tensorflow(folder):
    m = keras.Sequential([keras.Input((4,)), L.Dense(5, activation="swish"), L.BatchNormalization(), L.Dense(2)])
    tf.saved_model.save(m, folder)
    name, = tf.saved_model.load(folder).signatures["serving_default"].structured_input_signature[1]
    return [dict(signature="serving_default", inputs={name: floats(3, 4)}, gradients=1)]


def exported(folder, layers, *shape, dtype="float32", x=None):
    m = keras.Sequential([keras.Input(shape, name="x", dtype=dtype), *layers])
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, *shape) if x is None else x}, gradients=1)]


@model(tolerance=5e-2)
def mixed_precision(folder, policy="mixed_bfloat16"):
    before = keras.mixed_precision.dtype_policy()
    keras.mixed_precision.set_dtype_policy(policy)
    try:
        return exported(folder, [L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.GlobalAveragePooling2D(),
                                 L.LayerNormalization(), L.Dense(3, dtype="float32")], 8, 8, 3)
    finally:
        keras.mixed_precision.set_dtype_policy(before)


@model()
def recurrent_cells(folder):
    x = keras.Input((None, 3), name="x")
    cells = [L.LSTMCell(4, recurrent_dropout=0.1), L.GRUCell(3), L.SimpleRNNCell(2)]
    y = L.RNN(cells, return_sequences=True)(L.Masking(0.0)(x))
    y = L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="mul")(L.TimeDistributed(L.Dense(2))(y))
    keras.Model(x, y).export(folder, verbose=False)
    value = floats(2, 6, 3)
    value[1, 4:] = 0
    return [dict(signature="serving_default", inputs={"x": value}, gradients=1)]


@model()
def stateful_recurrent(folder):
    x = keras.Input(batch_shape=(2, 5, 3), name="x")
    y, h, c = L.LSTM(4, stateful=True, return_sequences=True, return_state=True)(x)
    z, g = L.GRU(3, stateful=True, return_state=True, reset_after=False)(y)
    keras.Model(x, [z, h, c, g]).export(folder, verbose=False)
    call = dict(signature="serving_default", inputs={"x": floats(2, 5, 3)})
    return [call, call, dict(call, gradients=1)]


@model()
def conv_lstm(folder):
    return exported(folder, [L.ConvLSTM2D(4, 3, padding="same", return_sequences=True), L.ConvLSTM2D(2, 3, dropout=0.1),
                             L.GlobalMaxPooling2D()], 4, 6, 6, 2)


@model()
def convolutions_3d(folder):
    return exported(folder, [L.Conv3D(4, 3, padding="same", activation="relu"), L.BatchNormalization(), L.MaxPooling3D(2),
                             L.Conv3DTranspose(3, 2, strides=2), L.AveragePooling3D(2), L.ZeroPadding3D(1), L.UpSampling3D(2),
                             L.GlobalAveragePooling3D()], 4, 4, 4, 2)


@model()
def convolutions_1d(folder):
    return exported(folder, [L.Conv1D(6, 3, dilation_rate=2, padding="causal", activation="relu"),
                             L.SeparableConv1D(6, 3, padding="same"), L.DepthwiseConv1D(3, padding="same"),
                             L.Conv1DTranspose(4, 3, strides=2, padding="same"), L.MaxPooling1D(2),
                             L.Conv1D(4, 3, groups=2), L.GlobalAveragePooling1D()], 16, 3)


@model()
def attention(folder):
    q, v = keras.Input((5, 8), name="q"), keras.Input((7, 8), name="v")
    out = {"attention": L.Attention(use_scale=True)([q, v]), "additive": L.AdditiveAttention()([q, v]),
           "grouped": L.GroupQueryAttention(4, 4, 2)(q, v), "causal": L.MultiHeadAttention(2, 4)(q, q, use_causal_mask=True)}
    keras.Model([q, v], out).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"q": floats(2, 5, 8), "v": floats(2, 7, 8, seed=1)}, gradients=1)]


@model()
def normalizations(folder):
    x = keras.Input((6, 8), name="x")
    out = {"unit": L.UnitNormalization()(x), "rms": L.RMSNormalization()(x), "spectral": L.SpectralNormalization(L.Dense(3))(x),
           "group": L.GroupNormalization(4)(x), "layer": L.LayerNormalization(axis=[1, 2])(x),
           "batch": L.BatchNormalization(axis=1)(x), "data": L.Normalization(mean=1.0, variance=2.0)(x)}
    keras.Model(x, out).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 6, 8)}, gradients=1)]


@model()
def quantized(folder):
    m = keras.Sequential([keras.Input((8,), name="x"), L.Dense(16, activation="relu"), L.Dense(3)])
    m.quantize("int8")
    m.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 8)})]


@model(short=True)
def keras_control_flow(folder):
    """Loops, branches and maps of keras.ops; vectorized_map leaves PlaceholderWithDefault behind."""
    k = keras.ops

    class Control(L.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")

        def call(self, x):
            y = k.cond(k.sum(x) > 0, lambda: x * self.w, lambda: x - self.w)
            _, y = k.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, k.tanh(y * self.w)), (0, y))
            y = k.fori_loop(0, 2, lambda i, v: v * 1.1, y)
            y = k.map(lambda row: row * self.w, y)
            y = k.switch(1, [lambda q: q, lambda q: q * 2], y)
            return k.vectorized_map(lambda row: row + 1, y)

    x = keras.Input((4,), name="x")
    keras.Model(x, Control()(x)).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 4)}, gradients=1)]


@model()
def sampling(folder):
    class Sampling(L.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.seed = keras.random.SeedGenerator(7)

        def call(self, inputs):
            mean, log_variance = inputs
            return mean + keras.ops.exp(0.5 * log_variance) * keras.random.normal(keras.ops.shape(mean), seed=self.seed)

    x = keras.Input((8, 8, 1), name="x")
    y = L.Flatten()(L.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x))
    mean, log_variance = L.Dense(2)(y), L.Dense(2)(y)
    z = L.Reshape((4, 4, 4))(L.Dense(64)(Sampling()([mean, log_variance])))
    y = L.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(z)
    keras.Model(x, [y, mean]).export(folder, verbose=False)
    call = dict(signature="serving_default", inputs={"x": floats(2, 8, 8, 1)}, gradients=1)
    return [call, call]


@model()
def sequence_to_sequence(folder):
    source, target = (keras.Input((None,), dtype="int32", name=n) for n in ("source", "target"))
    _, h, c = L.LSTM(6, return_state=True)(L.Embedding(20, 5, mask_zero=True)(source))
    y = L.LSTM(6, return_sequences=True)(L.Embedding(20, 5, mask_zero=True)(target), initial_state=[h, c])
    keras.Model([source, target], L.TimeDistributed(L.Dense(20))(y)).export(folder, verbose=False)
    words = 1 + ints(2, 6, high=19)
    words[0, 4:] = 0
    return [dict(signature="serving_default", inputs={"source": words, "target": 1 + ints(2, 4, high=19, seed=2)}, gradients=1)]


@model()
def several_endpoints(folder):
    m = keras.Sequential([keras.Input((5,)), L.Dense(4, activation="gelu"), L.BatchNormalization(), L.Dropout(0.5, seed=3), L.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(m)
    spec = [tf.TensorSpec((None, 5), name="x")]
    archive.add_endpoint("serve", lambda x: m(x, training=False), input_signature=spec)
    archive.add_endpoint("train", lambda x: m(x, training=True), input_signature=spec)
    archive.add_variable_collection("weights", m.trainable_variables)
    archive.write_out(folder, verbose=False)
    x = floats(3, 5)
    return [dict(signature=s, inputs={"x": x}, gradients=1) for s in ("serve", "train", "train", "serve")]


@model()
def model_in_model(folder):
    inner = keras.Sequential([keras.Input((6,), name="x"), L.Dense(4, activation="relu")])
    inner.export(folder + "/inner", verbose=False)
    outer = keras.Sequential([keras.Input((6,), name="x"), L.TFSMLayer(folder + "/inner", call_endpoint="serve"), L.Dense(2)])
    outer.export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 6)}, gradients=1)]


@model()
def sharded(folder):
    m = keras.Sequential([keras.Input((8,), name="x"), L.Dense(64), L.Dense(64), L.Dense(2)])
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=5000)
    tf.saved_model.save(m, folder, options=tf.saved_model.SaveOptions(
        experimental_sharding_callback=policy, experimental_variable_policy="save_variable_devices"))
    assert len(os.listdir(folder + "/variables")) > 3
    name, = tf.saved_model.load(folder).signatures["serving_default"].structured_input_signature[1]
    return [dict(signature="serving_default", inputs={name: floats(2, 8)}, gradients=1)]
