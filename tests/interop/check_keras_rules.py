"""Rules of Keras that are not arithmetic against real Keras: masks, names of metrics, single batches, shapes, loss scales.

    check_keras_rules.py BUILD_FOLDER    (with a Python that has TensorFlow)

The same rows as in keras_rules.cc, by name.
"""
import os
import pathlib
import subprocess
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import metrics as M  # noqa: E402

tf.get_logger().setLevel("FATAL")
warnings.simplefilter("ignore")
theirs = {}


def wave(shape, number, scale=0.5):
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (scale * np.sin(1.0 + 0.7 * i + 1.3 * number) + 0.01 * number).astype(np.float32).reshape(shape)


def ids(shape, limit):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + i // 3) % limit).astype(np.int32).reshape(shape)


def numbers(x): return "".join(f" {v:.7g}" for v in np.asarray(x, np.float64).ravel())
def text_of_shape(s): return "(" + ", ".join(map(str, s)) + ("," if len(s) == 1 else "") + ")"
def report(section, name, text): theirs[f"{section} {name}"] = text


# ---- masks


class Probe(L.Layer):
    seen = None

    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, x, mask=None):
        Probe.seen = mask
        return x


class Plain(L.Layer):
    def call(self, x): return x * 2.0


class Passing(L.Layer):
    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, x): return x * 2.0


def mask_report(name, model, inputs):
    Probe.seen = None
    y = model(inputs)
    seen = Probe.seen
    mask = "none" if seen is None else text_of_shape(seen.shape) + numbers(seen)
    report("mask", name, mask + " sum" + numbers(np.sum(y)))


def mask(name, f):
    keras.utils.clear_session()
    i, j = keras.Input((6, 4)), keras.Input((6, 4))
    model = keras.Model([i, j], Probe()(f(L.Masking()(i), j)))
    x = wave((2, 6, 4), 0)
    x[0, 3:] = 0
    x[1, 5:] = 0
    mask_report(name, model, [x, wave((2, 6, 4), 1)])


def mask_merge(name, layer):
    late = np.array([0, 0, 1, 1, 1, 1], np.float32).reshape(1, 6, 1)
    mask(name + "_mj", lambda m, j: layer()([m, j]))
    mask(name + "_jm", lambda m, j: layer()([j, m]))
    mask(name + "_mm", lambda m, j: layer()([m, L.Masking()(m * 1.0)]))
    mask(name + "_other", lambda m, j: layer()([m, L.Masking()(j * late)]))


def mask_tokens(name, zero, through_lambda):
    keras.utils.clear_session()
    i = keras.Input((6,), dtype="int32")
    y = L.Embedding(5, 3, embeddings_initializer="ones", mask_zero=zero)(i)
    if through_lambda: y = L.Lambda(lambda x: x + 1.0)(y)
    mask_report(name, keras.Model(i, Probe()(y)), np.array([[1, 2, 0, 0, 3, 0], [1, 0, 0, 0, 0, 0]], np.int32))


def masks():
    rnn = dict(kernel_initializer="ones", recurrent_initializer="ones")
    ones = dict(kernel_initializer="ones")
    for name, make in {
        "activation": lambda: L.Activation("relu"), "relu": L.ReLU, "leaky_relu": L.LeakyReLU, "elu": L.ELU,
        "prelu": L.PReLU, "dense": lambda: L.Dense(3, **ones), "dropout": lambda: L.Dropout(0.5),
        "spatial_dropout": lambda: L.SpatialDropout1D(0.5), "gaussian_noise": lambda: L.GaussianNoise(0.5),
        "gaussian_dropout": lambda: L.GaussianDropout(0.5), "batch_normalization": L.BatchNormalization,
        "layer_normalization": L.LayerNormalization, "group_normalization": lambda: L.GroupNormalization(2),
        "flatten": L.Flatten, "reshape": lambda: L.Reshape((6, 4)), "reshape_other": lambda: L.Reshape((4, 6)),
        "permute": lambda: L.Permute((2, 1)), "permute_nothing": lambda: L.Permute((1, 2)),
        "zero_padding": lambda: L.ZeroPadding1D(1), "zero_padding_nothing": lambda: L.ZeroPadding1D(0),
        "cropping_nothing": lambda: L.Cropping1D((0, 0)), "up_sampling": lambda: L.UpSampling1D(2),
        "up_sampling_nothing": lambda: L.UpSampling1D(1), "conv": lambda: L.Conv1D(3, 2, **ones),
        "max_pooling": lambda: L.MaxPooling1D(1), "average_pooling": lambda: L.AveragePooling1D(1),
        "global_average": L.GlobalAveragePooling1D,
        "global_average_keepdims": lambda: L.GlobalAveragePooling1D(keepdims=True),
        "global_max": L.GlobalMaxPooling1D, "gru": lambda: L.GRU(2, **rnn),
        "gru_sequences": lambda: L.GRU(2, return_sequences=True, **rnn),
        "lstm_sequences": lambda: L.LSTM(2, return_sequences=True, **rnn),
        "bidirectional": lambda: L.Bidirectional(L.GRU(2, **rnn)),
        "bidirectional_sequences": lambda: L.Bidirectional(L.GRU(2, return_sequences=True, **rnn)),
        "time_distributed": lambda: L.TimeDistributed(L.Dense(2, **ones)),
        "lambda": lambda: L.Lambda(lambda x: x * 2.0), "rescaling": lambda: L.Rescaling(2.0),
        "normalization": lambda: L.Normalization(mean=0.0, variance=1.0), "masking": lambda: L.Masking(0.5),
        "own_plain": Plain, "own_passing": Passing,
        "sequential": lambda: keras.Sequential([L.Dense(3, **ones), L.Dropout(0.1)]),
        "sequential_drops": lambda: keras.Sequential([L.Dense(3, **ones), L.Lambda(lambda x: x + 1.0)]),
    }.items():
        mask(name, lambda m, j, make=make: make()(m))
    mask("add_op", lambda m, j: m + j)
    mask("add_op_same", lambda m, j: m + m)
    mask("multiply_op", lambda m, j: m * 2.0)
    mask("negative_op", lambda m, j: -m)
    mask("subtract_op", lambda m, j: 1.0 - m)
    mask("divide_op", lambda m, j: m / 2.0)
    for layer in (L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum, L.Concatenate):
        mask_merge(layer.__name__.lower(), layer)
    mask("concatenate_time", lambda m, j: L.Concatenate(axis=1)([m, j]))
    mask("dot", lambda m, j: L.Dot(2)([m, j]))
    mask("attention_mm", lambda m, j: L.MultiHeadAttention(1, 2, **ones)(m, m))
    mask("attention_mj", lambda m, j: L.MultiHeadAttention(1, 2, **ones)(m, j))
    mask("attention_jm", lambda m, j: L.MultiHeadAttention(1, 2, **ones)(j, m))

    def functional(m, make):
        a = keras.Input((6, 4))
        return keras.Model(a, make(a))(m)
    mask("functional", lambda m, j: functional(m, L.Dense(3, **ones)))
    mask("functional_op", lambda m, j: functional(m, lambda a: a * 2.0))
    mask_tokens("embedding", False, False)
    mask_tokens("embedding_zero", True, False)
    mask_tokens("embedding_lambda", True, True)


# ---- names and numbers of logs

X = wave((8, 4), 0)


def target(number): return wave((8, 1), number)


def names(name, model, y, **how):
    model.compile(optimizer="sgd", **how)
    history = model.fit(X, y, batch_size=4, verbose=0, validation_data=(X, y)).history
    logs = model.evaluate(X, y, verbose=0, return_dict=True)
    report("names", name, " ".join(["history", *history, "evaluate", *logs]))


def one(units, activation):
    keras.utils.clear_session()
    return keras.Sequential([L.Dense(units, activation=activation)])


def outputs(*names):
    keras.utils.clear_session()
    i = keras.Input((4,))
    return keras.Model(i, [L.Dense(1, name=n)(i) for n in names])


class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = L.Dense(1), L.Dense(1)

    def call(self, x): return [self.a(x), self.b(x)]


def pair():
    keras.utils.clear_session()
    return Pair()


def all_names():
    y, classes, sparse = target(1), ids((8,), 3), "sparse_categorical_crossentropy"
    names("none", one(1, "linear"), y, loss="mse")
    names("weighted_same", one(3, "softmax"), classes, loss=sparse, metrics=["accuracy"], weighted_metrics=["accuracy"])
    names("weighted_same_twice", one(3, "softmax"), classes, loss=sparse, metrics=["accuracy", "accuracy"],
          weighted_metrics=["accuracy", "accuracy"])
    names("twice", one(1, "linear"), y, loss="mse", metrics=["mae", "mae", "mae"])
    names("short_and_object", one(1, "linear"), y, loss="mse",
          metrics=["mae", M.MeanAbsoluteError(), M.MeanAbsoluteError()])
    names("named", one(1, "linear"), y, loss="mse", metrics=[M.MeanAbsoluteError(name=n) for n in ("first", "second", "first")])
    names("spellings", one(1, "linear"), y, loss="mse", metrics=["MeanAbsoluteError", "mean_absolute_error", "MAE"])
    names("weighted_only", one(1, "linear"), y, loss="mse", weighted_metrics=["mae"])
    names("weighted_some", one(1, "linear"), y, loss="mse", metrics=["mae"], weighted_metrics=["mse", "mae", "mae"])
    names("called_loss", one(1, "linear"), y, loss="mse", metrics=[M.MeanSquaredError(name="loss")])
    names("binary", one(1, "sigmoid"), ids((8, 1), 2).astype(np.float32), loss="binary_crossentropy",
          metrics=["accuracy", M.AUC(), M.Precision(), M.Recall()])
    names("accuracies", one(3, "softmax"), classes, loss=sparse, metrics=["sparse_categorical_accuracy", "accuracy", "acc"])
    names("outputs", outputs("a", "b"), [y, y], loss=["mse", "mae"])
    names("outputs_one_loss", outputs("a", "b"), [y, y], loss="mse")
    names("outputs_flat", outputs("a", "b"), [y, y], loss="mse", metrics=["mae", "mse"])
    names("outputs_lists", outputs("a", "b"), [y, y], loss="mse", metrics=[["mae", "mae"], ["mae"]],
          weighted_metrics=["mae", "mse"])
    names("outputs_first", outputs("a", "b"), [y, y], loss="mse", metrics=[["mae"], None])
    names("outputs_one_lost", outputs("a", "b"), [y, y], loss=["mse", None], metrics=[["mae"], ["mse"]])
    names("outputs_middle_lost", outputs("a", "b", "c"), [y, y, y], loss=["mse", None, "mae"],
          metrics=[["mae"], None, ["mse", "mse"]])
    names("outputs_collide", outputs("a", "a_b"), [y, y], loss="mse",
          metrics=[[M.MeanAbsoluteError(name="b_x")], [M.MeanAbsoluteError(name="x")]])
    i, d = keras.Input((4,)), L.Dense(1, name="d")
    names("outputs_one_layer", keras.Model(i, [d(i), d(i + 1.0)]), [y, y], loss="mse", metrics=["mae", "mae"])
    names("subclass", pair(), [y, y], loss=["mse", "mae"], metrics=[["mae"], ["mse", "mae"]])
    names("subclass_same", pair(), [y, y], loss=["mse", "mse"], metrics=["mae", "mae"], weighted_metrics=["mae", "mae"])
    names("subclass_objects", pair(), [y, y], metrics=["mae", "mae"],
          loss=[keras.losses.MeanSquaredError(), keras.losses.Huber(name="hub")])


# ---- single batches


def batches():
    model = one(1, "linear")
    model(X)
    model.weights[0].assign(wave((4, 1), 5))
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    logs = [model.train_on_batch(wave((8, 4), k), target(k), return_dict=True) for k in range(3)]
    logs += [model.test_on_batch(wave((8, 4), k), target(k), return_dict=True) for k in (9, 8)]
    report("batch", "train_and_test", "".join(f" {k} {v:.7g}" for log in logs for k, v in log.items()))


# ---- shapes


def shapes(name, model, inputs):
    texts = []
    for x in inputs:
        try:
            texts.append(text_of_shape(model(x).shape))
        except (ValueError, tf.errors.InvalidArgumentError):
            texts.append("refused")
    report("shapes", name, "".join(" " + t for t in texts))


def all_shapes():
    keras.utils.clear_session()
    S = keras.Sequential
    def x(*list_of_shapes): return [np.ones(s, np.float32) for s in list_of_shapes]
    shapes("tokens", S([L.Embedding(10, 4), L.GRU(3), L.Dense(2)]), [ids(s, 9) for s in ((16, 5), (16, 6), (8, 7), (8, 3))])
    shapes("images", S([L.Conv2D(4, 3), L.GlobalAveragePooling2D(), L.Dense(2)]),
           x((2, 8, 8, 3), (2, 10, 9, 3), (2, 8, 8, 4), (3, 3, 3, 3)))
    shapes("dense", S([L.Dense(4), L.Dense(2)]), x((2, 8), (2, 9), (2, 3, 8), (2, 1), (2, 8, 1)))
    shapes("dense_of_one", S([L.Dense(4)]), x((2, 1), (2,), (2, 1, 1)))
    shapes("flatten", S([L.Flatten(), L.Dense(2)]), x((2, 4, 4), (2, 5, 4), (2, 2, 8), (2, 4, 4, 1), (2, 16)))
    shapes("reshape", S([L.Reshape((16,)), L.Dense(2)]), x((2, 4, 4), (2, 2, 8), (2, 5, 4), (3, 4, 4)))
    shapes("reshape_open", S([L.Reshape((-1, 4)), L.GRU(2)]), x((2, 4, 4), (2, 5, 4), (2, 4, 8)))
    shapes("input", S([keras.Input((8, 8, 3)), L.Conv2D(4, 3), L.GlobalAveragePooling2D()]),
           x((2, 8, 8, 3), (2, 10, 9, 3), (2, 8, 8, 4), (2, 8, 8)))
    shapes("input_batch", S([keras.Input(batch_shape=(2, 8)), L.Dense(3)]), x((2, 8), (3, 8)))
    shapes("batch_normalization", S([L.BatchNormalization()]), x((2, 8), (2, 9), (3, 8)))
    shapes("layer_normalization", S([L.LayerNormalization()]), x((2, 8), (2, 9), (3, 8), (3, 2, 8)))
    shapes("nested", S([S([L.LSTM(3, return_sequences=True)]), L.GRU(2)]), x((2, 8, 4), (2, 9, 4), (2, 9, 5)))
    shapes("bidirectional", S([L.Bidirectional(L.LSTM(3)), L.Dense(1)]), x((2, 8, 4), (5, 3, 4)))
    i = keras.Input((8, 8, 3))
    shapes("functional", keras.Model(i, L.GlobalAveragePooling2D()(L.Conv2D(4, 3)(i))),
           x((2, 8, 8, 3), (2, 9, 9, 3), (2, 8, 8, 4), (2, 8, 8)))
    i = keras.Input((None, None, 3))
    shapes("functional_open", keras.Model(i, L.GlobalAveragePooling2D()(L.Conv2D(4, 3)(i))),
           x((2, 8, 8, 3), (2, 9, 9, 3), (2, 8, 8, 4)))
    shapes("sequential_inside", keras.Model(i, S([L.Conv2D(3, 3), L.GlobalMaxPooling2D()])(i)),
           x((2, 8, 8, 3), (2, 9, 9, 3)))
    i = keras.Input((8, 1))
    shapes("functional_last_one", keras.Model(i, L.Flatten()(i)), x((2, 8), (3, 8, 1), (2, 8, 1, 1), (2, 7)))


# ---- loss scales


def scales(name, auto_scale_loss, target_scale):
    keras.utils.clear_session()
    keras.config.set_dtype_policy("mixed_float16")
    model = keras.Sequential([L.Dense(3), L.Dense(1)])
    x, y = wave((64, 4), 0), wave((64, 1), 1) * np.float32(target_scale)
    model(x)
    for number, v in enumerate(model.weights, 1): v.assign(wave(tuple(v.shape), number, 0.001) * np.float32(0.01))
    model.compile(optimizer=keras.optimizers.SGD(100.0), loss="mse", auto_scale_loss=auto_scale_loss)
    text = ""
    for _ in range(3):
        model.train_on_batch(x, y)
        text += "".join(numbers(v) for v in model.weights)
    text += " variables" + "".join(numbers(v) for v in model.optimizer.variables if len(v.shape) == 0)
    keras.config.set_dtype_policy("float32")
    report("scale", name, text)


def same(a, b, loose):
    a, b = a.split(), b.split()
    if len(a) != len(b): return False
    for p, q in zip(a, b):
        if p == q: continue
        try:
            if not np.isclose(float(p), float(q), rtol=loose, atol=1e-6 if loose < 1e-3 else 1e-9, equal_nan=True): return False
        except ValueError:
            return False
    return True


def main():
    out = subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "keras_rules"], capture_output=True, text=True)
    if out.returncode: sys.exit(f"keras_rules ended with {out.returncode}: {out.stdout[-300:]}{out.stderr[-500:]}")
    ours = dict(line.split("|") for line in out.stdout.splitlines())
    masks()
    all_names()
    batches()
    all_shapes()
    for row in (("plain", False, 1e-4), ("scaled", True, 1e-4), ("overflow", True, 1e5)): scales(*row)
    failed = [f"{name}: only on one side" for name in ours.keys() ^ theirs.keys()]
    for name in ours.keys() & theirs.keys():
        loose = 1e-2 if name.startswith("scale") else 1e-5
        if not same(theirs[name], ours[name], loose): failed.append(f"{name}:\n  Keras  {theirs[name]}\n  Rewind {ours[name]}")
    print("\n".join(sorted(failed)))
    print(f"keras rules: {len(theirs.keys() | ours.keys()) - len(failed)} agree, {len(failed)} differ")
    sys.exit(bool(failed))


main()
