"""Models that Keras 2 (tf_keras) saved, in .h5 and .keras files: Rewind runs them and goes on training with Keras 2's results.

    check_keras2_models.py BUILD_FOLDER    (with a Python that has TensorFlow and tf_keras)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np  # noqa: E402
import tf_keras as keras  # noqa: E402
from absl import logging  # noqa: E402
from tf_keras import layers as L  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

logging.set_verbosity(logging.ERROR)
rng = np.random.default_rng(3)
program = pathlib.Path(sys.argv[1]) / "tests" / "keras_models"
folder = pathlib.Path(tempfile.mkdtemp())


def real(*shape): return rng.normal(size=shape).astype("f4")


def compiled(m, x, y, optimizer, loss, **options):
    m.compile(optimizer, loss, **options)
    return m, x, y


def sequential():
    m = keras.Sequential([L.Dense(5, activation="relu", input_shape=(4,)), L.BatchNormalization(), L.Dropout(0.0),
                          L.Dense(3, activation="softmax")])
    return compiled(m, [real(8, 4)], [rng.integers(0, 3, 8).astype("i4")], keras.optimizers.Adam(0.01),
                    "sparse_categorical_crossentropy", metrics=["accuracy"])


def convolutions():
    m = keras.Sequential([L.Conv2D(4, 3, activation="relu", input_shape=(9, 9, 3)), L.MaxPooling2D(), L.SeparableConv2D(3, 2),
                          L.Flatten(), L.Dense(2)])
    return compiled(m, [real(4, 9, 9, 3)], [real(4, 2)], "sgd", "mse")


def several():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    d = L.Dense(3)
    y = L.Concatenate()([d(a), d(b), L.Add()([a, b])])
    m = keras.Model([a, b], [L.Dense(2, name="u")(y), L.Dense(1, name="v")(y)])
    return compiled(m, [real(6, 4), real(6, 4)], [real(6, 2), real(6, 1)], keras.optimizers.RMSprop(0.01),
                    {"u": "mse", "v": "mae"}, loss_weights={"u": 1.0, "v": 0.5})


def nested():
    i, x = keras.Input((3,)), keras.Input((3,))
    inner = keras.Model(i, L.Dense(4, activation="tanh")(i), name="inner")
    m = keras.Model(x, keras.Sequential([L.Dense(2)])(inner(x)))
    return compiled(m, [real(6, 3)], [real(6, 2)], keras.optimizers.SGD(0.1, momentum=0.9), "mse")


def recurrent():
    x = keras.Input((5,))
    y = L.Embedding(9, 4, mask_zero=True)(x)
    y = L.GRU(3)(L.Bidirectional(L.LSTM(3, return_sequences=True))(y))
    return compiled(keras.Model(x, L.Dense(2)(y)), [rng.integers(0, 9, (4, 5)).astype("i4")], [real(4, 2)],
                    keras.optimizers.SGD(0.1, momentum=0.9), "mse")


def operators():
    x = keras.Input((4,))
    y = (L.Dense(4)(x) * 2.0 + x - 1.0) / 3.0
    return compiled(keras.Model(x, L.Dense(2)(y)), [real(4, 4)], [real(4, 2)], "sgd", "mse")


def attention():
    x = keras.Input((5, 6))
    y = L.LayerNormalization()(L.MultiHeadAttention(2, 3)(x, x) + x)
    return compiled(keras.Model(x, y), [real(4, 5, 6)], [real(4, 5, 6)], "sgd", "mse")


def many_layers():
    m = keras.Sequential([L.InputLayer(input_shape=(8, 8, 2)), L.ZeroPadding2D(1), L.DepthwiseConv2D(3), L.ReLU(6.0),
                          L.PReLU(shared_axes=[1, 2]), L.LeakyReLU(0.2), L.UpSampling2D(), L.AveragePooling2D(),
                          L.GlobalAveragePooling2D(), L.Reshape((1, 2)), L.LSTM(3), L.Activation("swish"),
                          L.Dense(2, kernel_regularizer="l2", kernel_initializer=keras.initializers.HeNormal(seed=1),
                                  bias_constraint="non_neg")])
    return compiled(m, [real(4, 8, 8, 2)], [real(4, 2)],
                    keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)), keras.losses.Huber(),
                    metrics=[keras.metrics.MeanAbsoluteError()])


def application():
    return keras.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classes=5), [real(2, 64, 64, 3)], []


def flat(values): return list(values) if isinstance(values, (list, tuple)) else [values]


def one(values): return values if len(values) > 1 else values[0]


for make in [sequential, convolutions, several, nested, recurrent, operators, attention, many_layers, application]:
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    m, x, y = make()
    steps = 3 if y else 0
    for _ in range(2 if y else 0): m.train_on_batch(one(x), one(y))
    for extension in [".h5", ".keras"]: m.save(folder / ("model" + extension))
    np.savez(folder / "data.npz", **{f"x{i}": v for i, v in enumerate(x)}, **{f"y{i}": v for i, v in enumerate(y)})
    want = {f"p{i}": np.array(v) for i, v in enumerate(flat(m(one(x), training=False)))}
    losses = [m.train_on_batch(one(x), one(y), return_dict=True)["loss"] for _ in range(steps)]
    if steps: want |= {f"q{i}": np.array(v) for i, v in enumerate(flat(m(one(x), training=False)))}
    for extension in [".h5", ".keras"]:
        what = make.__name__ + extension
        done = subprocess.run([program, "run", folder / ("model" + extension), folder / "data.npz", folder / "out.npz", str(steps)],
                              capture_output=True, text=True)
        check(what, done.returncode == 0, done.stderr.strip()[-600:])
        if done.returncode: continue
        got = dict(np.load(folder / "out.npz"))
        for k, v in want.items(): check(f"{what}: {k}", np.allclose(got[k], v, 1e-4, 1e-4), f"off by {np.abs(got[k] - v).max()}")
        for i, loss in enumerate(losses): check(f"{what}: loss {i}", any(np.isclose(got[f"l{i}"], loss, 1e-4)), f"{got[f'l{i}']} for {loss}")

# Code of Python's in a file is refused, with what to do.
m = keras.Sequential([L.Dense(3, input_shape=(4,)), L.Lambda(lambda t: t * 2, name="doubled")])
for extension in [".h5", ".keras"]:
    m.save(folder / ("lambda" + extension))
    done = subprocess.run([program, "error", folder / ("lambda" + extension)], capture_output=True, text=True)
    check("lambda" + extension, done.returncode == 1 and 'layer "doubled" is a Lambda with Python code' in done.stderr, done.stderr)
print("\n".join(failed))
print(f"keras 2 models: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
