"""The models of check_keras_models.py: MODELS has, by name, what makes a compiled model, and its inputs and targets."""
import collections

import keras
import numpy as np
from keras import layers as L
from keras import losses, metrics, ops
from keras import optimizers as O

MODELS = {}
Case = collections.namedtuple("Case", "make x y options")
rng = np.random.default_rng(7)


def real(*shape): return rng.normal(size=shape).astype(np.float32)
def classes(n, *shape): return rng.integers(0, n, shape).astype(np.int32)


def model(x, y, full=False, formats=(".keras", ".h5"), train=True, tolerance=2e-5, exact_config=True, name=None):
    """Adds f as a model: it returns a compiled model for inputs x and targets y."""
    def add(f):
        MODELS[name or f.__name__] = Case(f, x, y, {"full": full, "formats": formats, "train": train, "tolerance": tolerance,
                                                    "exact_config": exact_config})
        return f
    return add


def compiled(m, optimizer="sgd", loss=None, **options):
    m.compile(optimizer, loss or losses.MeanSquaredError(), **options)
    return m


def chain(shape, *layers): return keras.Sequential([keras.Input(shape), *layers])


# ---- a program's own classes, which keras_models.cc has too
@keras.saving.register_keras_serializable("interop")
class Scale(L.Layer):
    def __init__(self, start=1.0, **kwargs):
        super().__init__(**kwargs)
        self.start = start

    def build(self, shape):
        self.factor = self.add_weight(name="factor", shape=shape[-1:], initializer=keras.initializers.Constant(self.start))
        self.offset = self.add_weight(name="offset", shape=shape[-1:], initializer="zeros", trainable=False)

    def call(self, x): return x * self.factor + self.offset
    def get_config(self): return {**super().get_config(), "start": self.start}


@keras.saving.register_keras_serializable("interop")
class Net(keras.Model):
    def __init__(self, factor=1.0, **kwargs):
        super().__init__(**kwargs)
        self.hidden, self.blocks, self.out = L.Dense(3, activation="tanh"), [L.Dense(3), L.Dense(3)], L.Dense(2)
        self.factor = factor

    def call(self, x):
        y = self.hidden(x) * self.factor
        for d in self.blocks: y = d(y) + y
        return self.out(y)

    def get_config(self): return {**super().get_config(), "factor": self.factor}


@keras.saving.register_keras_serializable("interop")
def twice(x): return x * 2.0


@keras.saving.register_keras_serializable("interop")
def cubed(y_true, y_pred): return ops.mean(ops.abs(y_true - y_pred) ** 3, axis=-1)


for c in (Scale, Net, twice, cubed): c.__module__ = "__main__"  # Keras then writes no module


# ---- models
@model([real(8, 4)], [classes(3, 8)])
def classifier():
    m = chain((4,), L.Dense(5, activation="relu"), L.BatchNormalization(), L.Dropout(0.0), L.Dense(3, activation="softmax"))
    return compiled(m, O.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])


@model([real(8, 4)], [real(8, 2)])
def without_input():
    m = keras.Sequential([L.Dense(5, activation="tanh"), L.Dense(2)])
    m.build((None, 4))
    return compiled(m, "rmsprop")


@model([real(6, 4), real(6, 4)], [real(6, 2), real(6, 1)])
def shared_layers():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    same = L.Dense(3)
    m = keras.Model([a, b], [L.Dense(2, name="u")(same(a) + same(b) * 2.0), L.Dense(1, name="v")(same(b))])
    return compiled(m, O.SGD(0.01, momentum=0.5), ["mse", "mae"], loss_weights=[0.5, 2.0], metrics=[["mae"], ["mse", "mae"]])


@model([real(6, 3)], [real(6, 3)])
def nested():
    inner = keras.Sequential([L.Dense(3), L.Dense(3)], name="inner")
    i = keras.Input((3,))
    middle = keras.Model(i, L.Dense(3, activation="tanh")(inner(i)), name="middle")
    x = keras.Input((3,))
    return compiled(keras.Model(x, middle(L.Dense(3)(middle(x)))), O.Nadam(0.01))


@model([real(6, 8, 8, 3)], [real(6, 2)])
def frozen_base():
    """Transfer learning: a frozen base, called with training=False."""
    base = keras.Sequential([keras.Input((8, 8, 3)), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU()], name="base")
    base.trainable = False
    x = keras.Input((8, 8, 3))
    m = keras.Model(x, L.Dense(2)(L.GlobalAveragePooling2D()(base(x, training=False))))
    return compiled(m, O.Adam(0.01))


@model([real(6, 4)], [real(6, 2)])
def training_in_the_graph():
    x = keras.Input((4,))
    y = L.BatchNormalization()(L.Dense(3)(x), training=False)
    return compiled(keras.Model(x, L.Dense(2)(L.BatchNormalization()(y, training=True))))


@model([real(6, 4)], [real(6, 4), real(6, 4)])
def inputs_as_outputs():
    x = keras.Input((4,))
    return compiled(keras.Model(x, [x, L.Dense(4)(x)]), "sgd", ["mse", "mae"])


@model([real(6, 4), real(6, 3)], [real(6, 1), real(6, 2)])
def dictionaries():
    a, b = keras.Input((3,), name="b_first"), keras.Input((4,), name="a_second")
    y = L.Concatenate()([L.Dense(2)(a), b])
    m = keras.Model({"b_first": a, "a_second": b}, {"v": L.Dense(2, name="v")(y), "u": L.Dense(1, name="u")(y)})
    return compiled(m, "adam", {"u": "mse", "v": "mae"}, loss_weights={"u": 2.0, "v": 0.5}, metrics={"v": ["mse"]})


@model([real(6, 3), real(6, 4), real(6, 2)], [real(6, 2), real(6, 1), real(6, 3)])
def structures():
    a, b, c = keras.Input((3,), name="a"), keras.Input((4,), name="b"), keras.Input((2,), name="c")
    y = L.Concatenate()([L.Dense(2)(a), b, c])
    inner = keras.Model({"left": [a, b], "right": {"deep": [c]}}, {"u": [L.Dense(2)(y), L.Dense(1)(y)], "v": L.Dense(3)(b)}, name="inner")
    return compiled(inner, "adam", {"u": ["mse", "mae"], "v": "mse"})


@model([real(6, 3), real(6, 4)], [real(6, 2)])
def structures_inside():
    a, b = keras.Input((3,)), keras.Input((4,))
    inner = keras.Model({"x": [a], "y": {"z": b}}, [L.Dense(2)(L.Concatenate()([a, b]))], name="inner")
    p, q = keras.Input((3,), name="p"), keras.Input((4,), name="q")
    y, = inner({"x": [L.Dense(3)(p)], "y": {"z": q}})
    return compiled(keras.Model({"q": q, "p": [p]}, L.Dense(2)(y)), "sgd")


@model([real(6, 3), real(6, 4)], [real(6, 2), real(6, 1)])
def losses_by_name():
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    y = L.Concatenate()([L.Dense(2)(a), b])
    m = keras.Model([a, b], [L.Dense(2, name="v")(y), L.Dense(1, name="u")(y)])
    return compiled(m, "adam", {"u": "mse", "v": losses.Huber(0.5)}, loss_weights={"u": 2.0, "v": 1.0},
                    metrics={"v": ["mse"], "u": [metrics.MeanAbsoluteError(name="far")]}, weighted_metrics={"u": ["mae"]})


@model([real(6, 4)], [real(6, 2)])
def list_of_one():
    x = keras.Input((4,))
    return compiled(keras.Model([x], [L.Dense(2)(x)]), "sgd", ["mse"], metrics=[["mae"]])


@model([classes(9, 4, 6)], [real(4, 2)])
def masked_text():
    x = keras.Input((6,), dtype="int32")
    y = L.Embedding(9, 4, mask_zero=True)(x)
    y = L.Bidirectional(L.LSTM(3, return_sequences=True))(y)
    return compiled(keras.Model(x, L.Dense(2)(L.GRU(3)(y))), O.RMSprop(0.01))


@model([real(4, 5, 3)], [real(4, 2)])
def masking_layer():
    return compiled(chain((None, 3), L.Masking(), L.SimpleRNN(3, return_sequences=True), L.GlobalAveragePooling1D(), L.Dense(2)),
                    O.Adagrad(0.1))


@model([classes(2, 4, 5).astype(bool), real(4, 5, 3)], [real(4, 2)])
def mask_as_an_argument():
    m, x = keras.Input((5,), dtype="bool"), keras.Input((5, 3))
    return compiled(keras.Model([m, x], L.Dense(2)(L.LSTM(3)(x, mask=m))))


@model([real(4, 5, 3), real(4, 6, 3)], [real(4, 6, 2)])
def encoder_and_decoder():
    a, b = keras.Input((None, 3)), keras.Input((None, 3))
    _, h, c = L.LSTM(4, return_state=True)(a)
    y = L.LSTM(4, return_sequences=True)(b, initial_state=[h, c])
    return compiled(keras.Model([a, b], L.TimeDistributed(L.Dense(2))(y)), O.Adam(0.01))


@model([real(4, 5, 6)], [real(4, 5, 6)], exact_config=False)  # query=, value= and key= come back as a list
def transformer():
    x = keras.Input((5, 6))
    y = L.LayerNormalization()(x + L.MultiHeadAttention(2, 3, name="attend")(x, x, use_causal_mask=True))
    z = L.MultiHeadAttention(2, 4, value_dim=5)(query=y, value=x, key=y)
    return compiled(keras.Model(x, y + L.Dense(6)(L.Dense(8, activation="gelu")(z))), O.SGD(0.01, momentum=0.9))


@model([real(4, 5, 6)], [real(4, 5, 6), real(4, 2, 5, 5)])
def attention_scores():
    x = keras.Input((5, 6))
    y, scores = L.MultiHeadAttention(2, 3)(x, x, return_attention_scores=True)
    return compiled(keras.Model(x, [y, scores]), "sgd", ["mse", "mse"])


@model([real(4, 3, 6), real(4, 5, 6), classes(2, 4, 3, 5).astype(bool)], [real(4, 3, 6)])
def attention_mask():
    q, v, m = keras.Input((3, 6)), keras.Input((5, 6)), keras.Input((3, 5), dtype="bool")
    return compiled(keras.Model([q, v, m], L.MultiHeadAttention(2, 3)(q, v, attention_mask=m)))


@model([real(4, 6, 6, 2)], [real(4, 3)])
def operators():
    x = keras.Input((6, 6, 2))
    y = (1.0 - x) * 0.5 + x / 3.0 - (-x) + x ** 2 + 2.0 / (ops.abs(x) + 1.0)
    y = ops.concatenate([y, ops.sin(x), ops.relu(y)], axis=-1)
    y = ops.mean(y, axis=[1, 2])
    y = ops.reshape(ops.expand_dims(y, 1), (-1, 6)) + ops.sum(x, axis=(1, 2, 3), keepdims=False)[:, None]
    return compiled(keras.Model(x, L.Dense(3)(ops.clip(y, -5.0, 5.0))))


@model([real(4, 6, 3)], [real(4, 3)])
def slices():
    x = keras.Input((6, 3))
    return compiled(keras.Model(x, L.Dense(3)(x[:, 0] + x[:, -1, :] * x[:, 2, :3] + ops.mean(x[:, 1:5:2], axis=1))))


@model([real(4, 6, 3)], [real(4, 3)])
def tensors_of_the_graph():
    x = keras.Input((6, 3))
    y = ops.matmul(x, np.ones((3, 3), np.float32) * 0.5) + ops.ones((3,)) + np.arange(3, dtype=np.float32)
    a, b = ops.split(y, 2, axis=1)
    z = ops.stack([a, ops.tanh(b)], axis=1)
    z = ops.max(z, axis=1) + ops.squeeze(ops.min(ops.transpose(y, (0, 1, 2)), axis=1, keepdims=True), axis=1)[:, None]
    return compiled(keras.Model(x, L.Dense(3)(ops.mean(z, axis=1))))


@model([real(4, 6, 3)], [real(4, 3)])
def more_operations():
    x = keras.Input((6, 3))
    y = ops.einsum("abc,dc->abd", x, np.eye(3, dtype=np.float32))
    y = ops.where(ops.greater(x, 0.0), y, ops.exp(ops.minimum(x, 0.5)))
    y = ops.cast(y, "float32") + ops.softmax(x, axis=1) + ops.gelu(x) + ops.silu(x)
    y = ops.maximum(y, ops.zeros_like(y)) + ops.square(x) * ops.sqrt(ops.abs(x) + 1.0) + ops.log(ops.abs(x) + 1.0)
    y = ops.add(y, ops.repeat(x[:, :1], 6, axis=1))
    return compiled(keras.Model(x, L.Dense(3)(ops.mean(ops.flip(y, axis=1), axis=1))))


@model([real(4, 4), real(4, 4)], [real(4, 2)])
def merges():
    a, b = keras.Input((4,)), keras.Input((4,))
    y = [L.Add()([a, b]), L.Subtract()([a, b]), L.Multiply()([a, b]), L.Average()([a, b]), L.Maximum()([a, b]),
         L.Minimum()([a, b]), L.Dot(1, normalize=True)([a, b])]
    return compiled(keras.Model([a, b], L.Dense(2)(L.Concatenate()(y))), O.Ftrl(0.1))


@model([real(4, 9, 9, 3)], [real(4, 2)])
def convolutions():
    m = chain((9, 9, 3), L.Rescaling(0.5, 0.1), L.ZeroPadding2D(1), L.Conv2D(4, 3, strides=2, activation="relu"),
              L.DepthwiseConv2D(2, depth_multiplier=2), L.SeparableConv2D(4, 2), L.Conv2DTranspose(3, 2), L.PReLU(shared_axes=[1, 2]),
              L.MaxPooling2D(2), L.LeakyReLU(0.1), L.UpSampling2D(2), L.Cropping2D(1), L.GroupNormalization(1),
              L.AveragePooling2D(2), L.Flatten(), L.Dense(2))
    return compiled(m, O.Adam(0.01, amsgrad=True))


@model([real(4, 12, 2)], [real(4, 2)])
def sequences():
    m = chain((12, 2), L.Conv1D(3, 3, padding="causal"), L.SeparableConv1D(3, 2), L.Conv1DTranspose(2, 2), L.ELU(),
              L.MaxPooling1D(2), L.Permute((2, 1)), L.Reshape((3, 4)), L.GlobalMaxPooling1D(), L.RepeatVector(3),
              L.Softmax(), L.Flatten(), L.Dense(2))
    return compiled(m, O.Adamax(0.01))


@model([real(4, 4, 4, 4, 1)], [real(4, 1)])
def volumes():
    m = chain((4, 4, 4, 1), L.Conv3D(2, 2), L.Conv3DTranspose(1, 2), L.ZeroPadding3D(1), L.MaxPooling3D(2),
              L.GlobalAveragePooling3D())
    return compiled(m, O.Adadelta(1.0))


@model([real(4, 5, 3)], [real(4, 2)])
def recurrent():
    m = chain((5, 3), L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum"),
              L.TimeDistributed(L.BatchNormalization()), L.GRU(3, reset_after=False, return_sequences=True, go_backwards=True),
              L.Bidirectional(L.SimpleRNN(2), backward_layer=L.LSTM(2, go_backwards=True)), L.Dense(2))
    return compiled(m, O.Lion(0.01))


@model([real(8, 4)], [real(8, 2)])
def seeded_dropout():
    m = chain((4,), L.Dense(6, kernel_initializer=keras.initializers.HeNormal(seed=1)), L.Dropout(0.5, seed=3),
              L.GaussianNoise(0.5, seed=4), L.GaussianDropout(0.2, seed=5), L.Dense(2))
    return compiled(m, O.SGD(0.01))


@model([real(4, 8, 8, 3)], [real(4, 2)])
def augmented():
    m = chain((8, 8, 3), L.RandomFlip("horizontal", seed=1), L.RandomRotation(0.1, seed=2), L.RandomCrop(6, 6, seed=3),
              L.SpatialDropout2D(0.5, seed=4), L.Conv2D(2, 3), L.GlobalAveragePooling2D())
    return compiled(m, O.SGD(0.01))


@model([real(8, 3)], [real(8, 2)])
def known_statistics():
    return compiled(chain((3,), L.Normalization(mean=[0.485, 0.1, 1e-3], variance=[0.229, 2.0, 0.3]), L.Dense(2)))


@model([real(8, 3)], [real(8, 2)], exact_config=False)  # adapt() builds for the data's shape, a model for its own
def normalized():
    n = L.Normalization()
    n.adapt(real(20, 3) * 3 + 1)
    return compiled(chain((3,), n, L.LayerNormalization(), L.Dense(2)))


@model([real(8, 4)], [real(8, 2)])
def regularized():
    d = L.Dense(5, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_constraint="non_neg",
                kernel_constraint=keras.constraints.MaxNorm(0.5), activity_regularizer="l2")
    return compiled(chain((4,), d, L.Dense(2, kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.1))),
                    O.SGD(0.1, weight_decay=0.01, clipnorm=1.0))


@model([real(8, 4)], [real(8, 2)], formats=(".keras",))
def own_layers():
    m = chain((4,), L.Dense(3, activation=twice), Scale(0.5, name="scaled"), L.Dense(2))
    return compiled(m, O.Adam(0.01))


@model([real(8, 4)], [real(8, 2)], formats=(".keras",))
def own_model():
    m = Net(0.5)
    m(np.ones((1, 4), np.float32))
    return compiled(m, O.Adam(0.01))


@model([real(8, 4)], [real(8, 2)])
def own_function():
    return compiled(chain((4,), L.Lambda(twice), L.Activation(twice), L.Dense(2)), O.SGD(0.01), cubed, metrics=["mae"])


@model([real(8, 4)], [real(8, 2)], formats=(".keras",), tolerance=2e-2)
def mixed_bfloat16():
    m = chain((4,), L.Dense(3, dtype="mixed_bfloat16"), L.Dense(2, dtype="float32"))
    return compiled(m, O.SGD(0.01))


@model([real(8, 4)], [real(8, 2)], tolerance=2e-3)
def mixed_float16():
    m = chain((4,), L.Dense(3, dtype="mixed_float16"), L.Dense(2, dtype="float32"))
    return compiled(m, O.LossScaleOptimizer(O.SGD(0.01, momentum=0.5)))


@model([real(8, 4).astype("f8")], [real(8, 2).astype("f8")])
def double_precision():
    m = keras.Sequential([keras.Input((4,), dtype="float64"), L.Dense(3, dtype="float64", activation="elu"), L.Dense(2, dtype="float64")])
    return compiled(m, O.SGD(0.01))


@model([real(6, 4)], [real(6, 2)])
def fixed_batch():
    return compiled(keras.Sequential([keras.Input(batch_shape=(6, 4)), L.Dense(2)]))


@model([real(6, 4)], [real(6, 2)], train=False)  # the states are not in the file
def stateful():
    x = keras.Input(batch_shape=(6, 4))
    return compiled(keras.Model(x, L.LSTM(2, stateful=True)(L.Reshape((2, 2))(x))))


@model([real(6, 4)], [])
def uncompiled():
    return chain((4,), L.Dense(2, name="a dense layer, ünicode"), L.Dense(1))


@model([real(6, 4, 3)], [real(6, 4, 2)])
def models_in_layers():
    inner = keras.Sequential([L.Dense(3, activation="relu"), L.Dense(2)])
    i = keras.Input((4, 2))
    other = keras.Model(i, L.Dense(2)(i))
    return compiled(chain((4, 3), L.TimeDistributed(inner), other, keras.Sequential([L.Dense(2)])))


@model([real(8, 4)], [classes(3, 8)])
def schedule():
    m = chain((4,), L.Dense(3))
    return compiled(m, O.Adam(O.schedules.CosineDecay(0.1, 10, 0.1, warmup_target=0.2, warmup_steps=4), use_ema=True,
                              ema_overwrite_frequency=2), losses.SparseCategoricalCrossentropy(from_logits=True),
                    metrics=[metrics.SparseCategoricalAccuracy(), metrics.SparseTopKCategoricalAccuracy(2, name="top")])


@model([real(8, 4)], [classes(2, 8, 1).astype("f4")])
def binary():
    return compiled(chain((4,), L.Dense(1, activation="sigmoid")), O.SGD(O.schedules.PiecewiseConstantDecay([2], [0.1, 0.01])),
                    losses.BinaryFocalCrossentropy(gamma=1.5), metrics=["accuracy", metrics.AUC(20), metrics.Precision(), metrics.Recall(0.3)])


@model([real(8, 4)], [real(8, 2)])
def accumulating():
    return compiled(chain((4,), L.Dense(2)), O.Adam(0.01, gradient_accumulation_steps=2))


OPTIMIZERS = {"SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {}, "AdamW": {}, "Adamax": {}, "Nadam": {},
              "RMSprop": {"centered": True, "momentum": 0.5}, "Adagrad": {}, "Adadelta": {}, "Ftrl": {}, "Lion": {}}
for name, options in OPTIMIZERS.items():
    model([real(8, 4)], [real(8, 2)], full=True, name="optimizer_" + name)(
        lambda name=name, options=options: compiled(chain((4,), L.Dense(3, activation="tanh"), L.Dense(2)),
                                                    getattr(O, name)(0.01, **options)))
SCHEDULES = {"exponential": O.schedules.ExponentialDecay(0.1, 3, 0.5, True), "inverse_time": O.schedules.InverseTimeDecay(0.1, 3, 0.5),
             "polynomial": O.schedules.PolynomialDecay(0.1, 5, 0.01, 2.0, True),
             "restarts": O.schedules.CosineDecayRestarts(0.1, 3, 1.5, 0.5, 0.1)}
for name, rate in SCHEDULES.items():
    model([real(8, 4)], [real(8, 2)], full=True, name="schedule_" + name)(
        lambda rate=rate: compiled(chain((4,), L.Dense(2)), O.SGD(rate, momentum=0.5)))
APPLICATIONS = {"MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64, "EfficientNetV2B0": 64, "NASNetMobile": 64,
                "DenseNet121": 64, "ResNet50": 64, "ResNet50V2": 64, "Xception": 96, "InceptionV3": 96, "VGG16": 32}
for name, size in APPLICATIONS.items():
    model([real(2, size, size, 3)], [], full=name != "MobileNetV2", formats=(".keras", ".h5") if name == "ResNet50" else (".keras",),
          tolerance=1e-4, name="application_" + name)(
        lambda name=name, size=size: getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10))
