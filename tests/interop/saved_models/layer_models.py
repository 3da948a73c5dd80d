"""Whole Keras models as people build them: several inputs, nested and shared models, text, images, sequences."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

from saved_models.registry import floats, ints, model


@model(short=True)
def inputs_in_structures(folder):
    """Dictionaries of lists of inputs, and of results."""
    a, b, c = keras.Input((3,), name="a"), keras.Input((4,), name="b"), keras.Input((2,), name="c")
    joined = L.Concatenate()([L.Dense(3, activation="relu")(a), b, c])
    m = keras.Model({"left": [a, b], "right": {"deep": [c]}}, {"u": L.Dense(2)(joined), "v": L.Dense(1)(b * 2.0)})
    m.export(folder, verbose=False)
    values = floats(2, 3), floats(2, 4, seed=1), floats(2, 2, seed=2)
    given = {"left": [values[0], values[1]], "right": {"deep": [values[2]]}}
    return [dict(function="serve", args=[given], gradients=1),
            dict(signature="serving_default", inputs=dict(zip("abc", values)))]


@model()
def twins(folder):
    """A model that is called twice, inside another one, with layers that both share."""
    x = keras.Input((8, 8, 1))
    tower = keras.Model(x, L.Dense(6)(L.Flatten()(L.MaxPooling2D()(L.Conv2D(4, 3, activation="relu")(x)))), name="tower")
    head = keras.Sequential([L.Dense(4, activation="tanh"), L.Dense(1)], name="head")
    left, right = keras.Input((8, 8, 1), name="left"), keras.Input((8, 8, 1), name="right")
    u, v = tower(left), tower(right)
    near = L.Dot(1, normalize=True)([u, v])
    m = keras.Model([left, right], {"near": near, "score": head(keras.ops.abs(u - v)), "self": head(u)})
    m.export(folder, verbose=False)
    values = {"left": floats(2, 8, 8, 1), "right": floats(2, 8, 8, 1, seed=1)}
    return [dict(signature="serving_default", inputs=values, gradients=1),
            dict(function="serve", args=[list(values.values())])]


@model()
def vision_transformer(folder, width=16):
    class Tokens(L.Layer):
        def build(self, shape):
            self.first = self.add_weight(shape=(1, 1, shape[-1]), name="first")
            self.places = self.add_weight(shape=(1, shape[1] + 1, shape[-1]), name="places")

        def call(self, x):
            first = keras.ops.broadcast_to(self.first, (keras.ops.shape(x)[0], 1, keras.ops.shape(x)[2]))
            return keras.ops.concatenate([first, x], axis=1) + self.places

    x = keras.Input((16, 16, 3), name="x")
    y = Tokens()(L.Reshape((16, width))(L.Conv2D(width, 4, strides=4)(x)))
    for _ in range(2):
        n = L.LayerNormalization()(y)
        y = y + L.MultiHeadAttention(4, 4)(n, n)
        y = y + L.Dense(width)(L.Dropout(0.1)(L.Dense(4 * width, activation="gelu")(L.LayerNormalization()(y))))
    keras.Model(x, L.Dense(5)(L.LayerNormalization()(y)[:, 0])).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 16, 16, 3)}, gradients=1)]


@model()
def masked_stack(folder):
    """Bidirectional layers above a mask, and attention that reads the mask again."""
    x = keras.Input((None, 4), name="x")
    m = L.Masking(-1.0)(x)
    y = L.Bidirectional(L.GRU(5, return_sequences=True, reset_after=True), merge_mode="concat")(m)
    y = L.Bidirectional(L.LSTM(4, return_sequences=True), merge_mode="ave")(L.LayerNormalization()(y))
    weights = L.Softmax(axis=1)(L.Dense(1)(y), mask=keras.ops.any(x != -1.0, axis=-1)[..., None])
    pooled = keras.ops.sum(weights * y, axis=1)
    last, h, c = L.LSTM(3, return_state=True)(y)
    keras.Model(x, {"pooled": pooled, "last": last, "h": h, "c": c}).export(folder, verbose=False)
    value = floats(3, 7, 4)
    value[1, 5:], value[2, 2:] = -1.0, -1.0
    return [dict(signature="serving_default", inputs={"x": value}, gradients=1)]


@model()
def conv_lstms(folder):
    x, y = keras.Input((3, 10, 2), name="line"), keras.Input((3, 5, 5, 2), name="plane")
    a = L.ConvLSTM1D(3, 3, padding="same", return_sequences=True)(x)
    b = L.Bidirectional(L.ConvLSTM2D(2, 3, padding="same", recurrent_activation="sigmoid"))(y)
    z = L.ConvLSTM3D(1, 2, return_state=True)(L.Reshape((3, 5, 5, 2, 1))(y))
    keras.Model([x, y], [a, b, *z]).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"line": floats(2, 3, 10, 2), "plane": floats(2, 3, 5, 5, 2)}, gradients=1)]


@model()
def text_convolutions(folder):
    words = keras.Input((None,), dtype="int32", name="words")
    e = L.SpatialDropout1D(0.2)(L.Embedding(30, 8)(words))
    parts = [L.GlobalMaxPooling1D()(L.Conv1D(4, k, padding="same", activation="relu")(e)) for k in (2, 3)]
    parts.append(L.GlobalAveragePooling1D()(L.SeparableConv1D(4, 3, dilation_rate=2, padding="same", activation="elu")(e)))
    y = L.Dropout(0.5)(L.Concatenate()(parts))
    keras.Model(words, L.Dense(2, activation="softmax")(y)).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"words": ints(2, 9, high=30)}, gradients=1),
            dict(function="serve", args=[ints(3, 4, high=30)])]


@model(tolerance=1e-3)
def unet(folder):
    """Any size of image."""
    x = keras.Input((None, None, 3), name="image")
    block = lambda n: lambda t: L.ReLU()(L.BatchNormalization()(L.Conv2D(n, 3, padding="same", use_bias=False)(t)))
    down, y = [], x
    for n in (4, 8):
        y = block(n)(y)
        down.append(y)
        y = L.MaxPooling2D()(y)
    y = block(16)(y)
    for n, skip in zip((8, 4), reversed(down)):
        y = block(n)(L.Concatenate()([L.Conv2DTranspose(n, 2, strides=2)(y), skip]))
    keras.Model(x, L.Conv2D(2, 1, activation="sigmoid")(y)).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"image": floats(1, 8, 12, 3)}, gradients=1),
            dict(function="serve", args=[floats(2, 16, 8, 3)])]


@model()
def repeated_decoder(folder):
    x = keras.Input((12, 2), name="x")
    y = L.LeakyReLU(0.1)(L.Conv1D(4, 4, strides=2, padding="same")(x))
    code = L.Dense(3, name="code")(L.Flatten()(L.LayerNormalization()(y)))
    z = L.LSTM(4, return_sequences=True, go_backwards=True)(L.RepeatVector(6)(code))
    z = L.Conv1DTranspose(2, 4, strides=2, padding="same", activation="tanh")(L.TimeDistributed(L.Dense(3))(z))
    keras.Model(x, [z, code]).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(3, 12, 2)}, gradients=1)]


@model()
def residual_volumes(folder):
    x = keras.Input((4, 6, 6, 1), name="x")
    y = L.PReLU(shared_axes=[1, 2, 3])(L.Conv3D(3, 3, padding="same")(x))
    y = L.Add()([y, L.Conv3D(3, (1, 3, 3), padding="same", activation="selu")(y)])
    y = L.Multiply()([y, L.Reshape((1, 1, 1, 3))(L.Dense(3, activation="sigmoid")(L.GlobalAveragePooling3D()(y)))])
    y = L.SpatialDropout3D(0.1)(L.AveragePooling3D((2, 2, 2))(L.Cropping3D((0, 1, 1))(y)))
    keras.Model(x, L.Dense(2)(L.Flatten()(y))).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 4, 6, 6, 1)}, gradients=1)]


@model(tolerance=2e-2)
def half_precision(folder):
    before = keras.mixed_precision.dtype_policy()
    keras.mixed_precision.set_dtype_policy("mixed_float16")
    try:
        x = keras.Input((6, 8), name="x")
        y = x + L.MultiHeadAttention(2, 4, use_bias=False)(x, x)
        y = L.LSTM(4, return_sequences=True)(L.LayerNormalization()(y))
        y = L.DepthwiseConv1D(3, padding="same", activation="silu")(y)
        keras.Model(x, L.Dense(3, dtype="float32")(L.GlobalMaxPooling1D()(y))).export(folder, verbose=False)
    finally:
        keras.mixed_precision.set_dtype_policy(before)
    return [dict(signature="serving_default", inputs={"x": floats(2, 6, 8)}, gradients=1)]


@model(short=True)
def states_in_layers(folder):
    """A layer that counts and averages, in training only."""
    class Running(L.Layer):
        def build(self, shape):
            self.mean = self.add_weight(shape=(shape[-1],), initializer="zeros", trainable=False, name="mean")
            self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, dtype="int32", name="count")
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

        def call(self, x, training=False):
            if training:
                self.count.assign_add(1)
                rate = 1.0 / keras.ops.cast(self.count, "float32")
                self.mean.assign((1.0 - rate) * self.mean + rate * keras.ops.mean(x, axis=0))
            return (x - self.mean) * self.scale

    m = keras.Sequential([keras.Input((4,)), L.Dense(3), Running(), L.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(m)
    spec = [tf.TensorSpec((None, 4), name="x")]
    archive.add_endpoint("serve", lambda x: m(x, training=False), input_signature=spec)
    archive.add_endpoint("adapt", lambda x: m(x, training=True), input_signature=spec)
    archive.write_out(folder, verbose=False)
    return [dict(signature=s, inputs={"x": floats(5, 4, seed=i)}) for i, s in enumerate(("serve", "adapt", "adapt", "serve"))]


@model()
def preprocessing(folder):
    x, size, kind = keras.Input((12, 10, 3), name="x"), keras.Input((1,), name="size"), keras.Input((2,), dtype="int32", name="kind")
    n = L.Normalization(axis=-1, mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0])
    image = L.Rescaling(2.0, -1.0)(L.CenterCrop(8, 6)(n(x)))
    image = L.Resizing(4, 4, interpolation="bilinear")(image)
    buckets = L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5], output_mode="one_hot")(size)
    kinds = L.CategoryEncoding(5, output_mode="multi_hot")(kind)
    y = L.Concatenate()([L.Flatten()(image), keras.ops.cast(buckets, "float32"), kinds])
    keras.Model([x, size, kind], L.Dense(3)(y)).export(folder, verbose=False)
    return [dict(signature="serving_default", inputs={"x": floats(2, 12, 10, 3), "size": floats(2, 1), "kind": ints(2, 2, high=5)},
                 may_miss=["Bucketize", "DenseBincount"])]


# ---- Keras 2, by model.save(save_format="tf"), which keeps layers, losses and the optimizer

def of_keras2(make):
    import tf_keras
    make(tf_keras, tf_keras.layers)


@model(short=True)
def keras2_functional(folder):
    def make(k, layers):
        a, b = k.Input((4,), name="a"), k.Input((6,), name="b")
        y = layers.Concatenate()([layers.Dense(3, activation="relu")(a), layers.BatchNormalization()(b) * 0.5])
        m = k.Model([a, b], [layers.Dense(2, name="u")(y), layers.Dense(1, name="v")(layers.Dropout(0.3)(y))])
        m.compile("adam", "mse")
        m.fit([floats(8, 4), floats(8, 6)], [floats(8, 2), floats(8, 1)], verbose=0)
        m.save(folder, save_format="tf")

    of_keras2(make)
    values = {"a": floats(3, 4), "b": floats(3, 6)}
    return [dict(signature="serving_default", inputs=values, gradients=1),
            dict(function="__call__", args=[list(values.values())], gradients=1),
            dict(function="__call__", args=[list(values.values()), False])]


@model()
def keras2_recurrent(folder):
    def make(k, layers):
        words = k.Input((None,), dtype="int32", name="words")
        y = layers.Embedding(20, 6, mask_zero=True)(words)
        y = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(y)
        y = layers.GRU(4)(layers.TimeDistributed(layers.Dense(4, activation="tanh"))(y))
        k.Model(words, layers.Dense(2)(y)).save(folder, save_format="tf")

    of_keras2(make)
    words = 1 + ints(3, 6, high=19)
    words[0, 4:] = 0
    return [dict(signature="serving_default", inputs={"words": words}, gradients=1)]


@model()
def keras2_convolutions(folder):
    def make(k, layers):
        m = k.Sequential([layers.Conv2D(4, 3, input_shape=(10, 10, 3), activation="swish"), layers.SeparableConv2D(6, 3, padding="same"),
                          layers.LayerNormalization(), layers.Conv2DTranspose(3, 3, strides=2), layers.MaxPooling2D(),
                          layers.GlobalAveragePooling2D(), layers.Dense(2)])
        m.export(folder)

    of_keras2(make)
    return [dict(function="serve", args=[floats(2, 10, 10, 3)], gradients=1)]


@model()
def keras2_train_step(folder):
    """The optimizers of Keras 2 with kernels of their own: ResourceApplyAdam, ResourceApplyKerasMomentum, ..."""
    def make(k, layers):
        legacy = k.optimizers.legacy

        class Trained(tf.Module):
            def __init__(self):
                super().__init__()
                self.models = [k.Sequential([layers.Dense(3, activation="tanh", input_shape=(4,)), layers.Dense(1)]) for _ in range(5)]
                self.optimizers = [legacy.Adam(0.01, amsgrad=True), legacy.SGD(0.1, momentum=0.9, nesterov=True),
                                   legacy.RMSprop(0.01, centered=True, momentum=0.5), legacy.Adagrad(0.1), k.optimizers.AdamW(0.01)]

            @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, 1])])
            def step(self, x, y):
                losses = []
                for m, o in zip(self.models, self.optimizers):
                    with tf.GradientTape() as tape: losses.append(tf.reduce_mean((m(x, training=True) - y) ** 2))
                    o.apply_gradients(zip(tape.gradient(losses[-1], m.trainable_variables), m.trainable_variables))
                return tf.stack(losses)

        m = Trained()
        m.step(floats(5, 4), floats(5, 1))
        tf.saved_model.save(m, folder)

    of_keras2(make)
    return [dict(function="step", args=[floats(5, 4, seed=i), floats(5, 1, seed=i)]) for i in range(4)]


# ---- TensorFlow 1

@model(short=True)
def simple_save(folder):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 4], "x")
        keep = v1.placeholder_with_default(tf.constant(1.0), [], "keep")
        with v1.variable_scope("net"):
            w = v1.get_variable("w", initializer=floats(4, 3), use_resource=True)
            b = v1.get_variable("b", initializer=floats(3), use_resource=True)
            table = v1.get_variable("table", initializer=floats(6, 3), use_resource=True)
        h = tf.nn.relu(tf.matmul(x, w) + b) * keep
        y = tf.nn.softmax(h + tf.nn.embedding_lookup(table, [1, 3])[0])
        session.run(v1.global_variables_initializer())
        os.rmdir(folder)
        v1.saved_model.simple_save(session, folder, {"x": x, "keep": keep}, {"y": y, "h": h})
    return [dict(signature="serving_default", inputs={"x": floats(2, 4), "keep": np.float32(0.5)})]
