"""Whole training curves against real Keras: the networks of the examples mnist and cnn on Fashion-MNIST, with the same
initial weights (in a safetensors file) and the same order of images.

    check_keras_curves.py BUILD_FOLDER [--full]    (with a Python that has TensorFlow and safetensors)

The losses of 100 steps agree within 1e-3, the loss and accuracy of epochs within 2%: of an epoch over a tenth of the
images, with --full of ten epochs (mnist) and two (cnn) over all.

In float32 the steps of cnn amplify the last bit: TensorFlow with and without oneDNN is 1e-3 from itself after 15 steps
and 1e-2 after 30. So its steps are compared in float64, its epochs in float32.
"""
import glob
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers as L  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "keras_curves"
full = "--full" in sys.argv
folder = pathlib.Path(tempfile.mkdtemp())


def idx(name, header, shape):
    [path] = glob.glob(f"/usr/share/datasets/fashion-mnist/{name}*")
    return np.frombuffer(gzip.open(path).read(), np.uint8, offset=header).reshape(shape)


images = idx("train-images", 16, (60000, 28, 28))
labels = idx("train-labels", 8, (60000,))


def mnist(scale):
    x = keras.Input((28, 28))
    y = L.Reshape((784,))(L.Rescaling(scale)(x))
    y = L.Dense(100, activation="relu")(y)
    y = L.Dense(100, activation="relu")(y)
    return keras.Model(x, L.Dense(10)(y))


def cnn(scale):
    x = keras.Input((28, 28))
    y = L.Reshape((28, 28, 1))(L.Rescaling(scale)(x))
    y = L.Conv2D(32, 3, activation="relu")(y)
    y = L.Conv2D(64, 3, activation="relu")(y)
    y = L.Flatten()(L.MaxPooling2D(2)(y))
    y = L.Dense(128, activation="relu")(y)
    return keras.Model(x, L.Dense(10)(y))


def made(make, name, dtype):
    """The model in this type, with weights that both types can hold, and a file of them."""
    keras.config.set_floatx(dtype)
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    model = make(1 / 255 if dtype == "float32" else 2.0 ** -8)  # Keras makes a float32 of it first
    for v in model.weights: v.assign(v.numpy().astype("float32"))
    weights = folder / (name + dtype)
    save_file({v.path: v.numpy() for v in model.weights}, weights)
    model.compile(optimizer=keras.optimizers.Adam(1e-3 if dtype == "float32" else 2.0 ** -10), metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, weights


def rewind(*arguments):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if out.returncode: sys.exit(f"keras_curves {arguments} ended with {out.returncode}: {out.stderr[-800:]}")
    return np.array([float(line) for line in out.stdout.split()])


failed = 0
for make, batch, epochs, dtype in ((mnist, 100, 10, "float32"), (cnn, 64, 2, "float64")):
    name = make.__name__
    model, weights = made(make, name, dtype)
    theirs = []
    for i in range(100):
        model.reset_metrics()
        rows = slice(i * batch, (i + 1) * batch)
        theirs.append(float(model.train_on_batch(images[rows], labels[rows], return_dict=True)["loss"]))
    steps = np.abs(rewind(name, weights, "steps64" if dtype == "float64" else "steps", 100) - theirs) / np.abs(theirs)

    count, rows = (epochs, 60000) if full else (1, 6000)
    model, weights = made(make, name, "float32")
    history = model.fit(images[:rows], labels[:rows], batch_size=batch, epochs=count, shuffle=False, verbose=0).history
    want = np.array(history["loss"] + history["accuracy"])
    means = np.abs(rewind(name, weights, "epochs", count, rows) - want) / want
    ok = steps.max() <= 1e-3 and means.max() <= 0.02
    failed += not ok
    print(f"{name}: losses of 100 steps in {dtype} differ by at most {steps.max():.1e}, loss and accuracy of {count} "
          f"epoch(s) over {rows} images by {means.max():.2%}: {'ok' if ok else 'TOO MUCH'}")
sys.exit(failed != 0)
