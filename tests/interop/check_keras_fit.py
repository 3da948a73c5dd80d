"""Training against real Keras: curves of losses and metrics, and predictions behind them.

    check_keras_fit.py BUILD_FOLDER    (with a Python that has TensorFlow)

The same models as in keras_fit.cc, by name.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers as L  # noqa: E402


def wave(shape, number, scale=0.5):
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (scale * np.sin(1.0 + 0.7 * i + 1.3 * number) + 0.01 * number).astype(np.float32).reshape(shape)


def ids(shape, limit):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + i // 3) % limit).astype(np.int32).reshape(shape)


def run(model, how, x, y, **options):
    model(x)
    for number, v in enumerate(model.weights, 1):
        value = wave(tuple(v.shape), number, 0.3)
        v.assign(np.abs(value) + np.float32(0.5) if "variance" in v.name else value)
    model.compile(**how)
    result = dict(model.fit(x, y, shuffle=False, verbose=0, **options).history)
    predictions = model.predict(x, verbose=0)
    parts = predictions if isinstance(predictions, list) else [predictions]
    result["predictions"] = np.concatenate([np.ravel(p) for p in parts])
    return result


def mlp():
    m = keras.Sequential([L.Dense(20, activation="relu"), L.Dense(10)])
    return run(m, dict(optimizer=keras.optimizers.Adam(0.01), metrics=["accuracy"],
                       loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)),
               wave((60, 12), 0, 2.0), ids((60,), 10), batch_size=16, epochs=15, validation_split=0.2)


def cnn():
    m = keras.Sequential([L.Conv2D(4, 3, padding="same", use_bias=False), L.BatchNormalization(), L.ReLU(),
                          L.MaxPooling2D(), L.Flatten(),
                          L.Dense(3, activation="softmax", kernel_regularizer=keras.regularizers.L2(0.01))])
    return run(m, dict(optimizer=keras.optimizers.SGD(0.05, momentum=0.9), loss="sparse_categorical_crossentropy",
                       metrics=["accuracy"]),
               wave((24, 6, 6, 2), 0, 1.0), ids((24,), 3), batch_size=8, epochs=10,
               validation_data=(wave((9, 6, 6, 2), 5, 1.0), ids((9,), 3)))


def masked():
    m = keras.Sequential([L.Embedding(8, 4, mask_zero=True), L.LSTM(5, return_sequences=True), L.Dense(1)])
    return run(m, dict(optimizer=keras.optimizers.RMSprop(0.01), loss="mse", metrics=["mae"]), ids((12, 6), 8),
               wave((12, 6, 1), 2), batch_size=4, epochs=8)


def binary():
    m = keras.Sequential([L.Dense(6, activation="tanh"), L.Dense(1, activation="sigmoid")])
    return run(m, dict(optimizer="adamw", loss="binary_crossentropy", metrics=["accuracy", keras.metrics.AUC()],
                       weighted_metrics=["mse"]), wave((40, 5), 0, 1.5), ids((40, 1), 2).astype(np.float32),
               batch_size=16, epochs=6, sample_weight=np.abs(wave((40,), 4)) + np.float32(0.1))


def class_weight():
    m = keras.Sequential([L.Dense(4, activation="softmax")])
    return run(m, dict(optimizer=keras.optimizers.Adagrad(0.1), loss="sparse_categorical_crossentropy"),
               wave((30, 5), 0, 1.5), ids((30,), 4), batch_size=10, epochs=6,
               class_weight={0: 2.0, 2: 0.5, 1: 1.0, 3: 3.0})


def outputs():
    x = keras.Input((6,))
    h = L.Dense(8, activation="gelu")(x)
    m = keras.Model(x, [L.Dense(1, name="value")(h), L.Dense(3, name="kind")(h)])
    return run(m, dict(optimizer=keras.optimizers.Nadam(0.01), loss_weights=[2.0, 0.5], metrics=[["mae"], ["accuracy"]],
                       loss=["mse", keras.losses.SparseCategoricalCrossentropy(from_logits=True)]),
               wave((32, 6), 0), [wave((32, 1), 1), ids((32,), 3)], batch_size=8, epochs=6, validation_split=0.25)


def main():
    out = subprocess.run([pathlib.Path(sys.argv[1]) / "tests" / "keras_fit"], capture_output=True, text=True)
    if out.returncode: sys.exit(f"keras_fit ended with {out.returncode}: {out.stderr[-500:]}")
    ours = {}
    for line in out.stdout.splitlines():
        name, rest = line.split("|")
        key, *numbers = rest.split()
        ours.setdefault(name, {})[key] = np.array([float(n) for n in numbers])
    failed, curves = [], 0
    for make in (mlp, cnn, masked, binary, class_weight, outputs):
        keras.utils.clear_session()
        name, want = make.__name__, make()
        got = ours.get(name, {})
        if want.keys() != got.keys(): failed.append(f"{name}: Keras has {sorted(want)}, Rewind {sorted(got)}")
        for key in want.keys() & got.keys():
            curves += 1
            a, b = np.asarray(want[key], np.float64), got[key]
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4):
                failed.append(f"{name} {key}:\n  Keras  {a[:8]}\n  Rewind {b[:8]}")
    print("\n".join(failed))
    print(f"keras fit: {curves - len(failed)} curves agree, {len(failed)} differ")
    sys.exit(bool(failed))


main()
