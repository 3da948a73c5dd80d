"""Whole training curves against real Keras: the networks of the examples mnist and cnn on Fashion-MNIST, with the same
initial weights (in a safetensors file) and the same order of images.

    check_keras_curves.py BUILD_FOLDER [--full]    (with a Python that has TensorFlow and safetensors)

The losses of 100 steps agree within 1e-3, the loss and accuracy of epochs within 2%: of an epoch over a tenth of the
images, with --full of ten epochs (mnist) and two (cnn) over all.
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


def mnist():
    x = keras.Input((28, 28))
    y = L.Reshape((784,))(L.Rescaling(1 / 255)(x))
    y = L.Dense(100, activation="relu")(y)
    y = L.Dense(100, activation="relu")(y)
    return keras.Model(x, L.Dense(10)(y))


def cnn():
    x = keras.Input((28, 28))
    y = L.Reshape((28, 28, 1))(L.Rescaling(1 / 255)(x))
    y = L.Conv2D(32, 3, activation="relu")(y)
    y = L.Conv2D(64, 3, activation="relu")(y)
    y = L.Flatten()(L.MaxPooling2D(2)(y))
    y = L.Dense(128, activation="relu")(y)
    return keras.Model(x, L.Dense(10)(y))


def rewind(*arguments):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if out.returncode: sys.exit(f"keras_curves {arguments} ended with {out.returncode}: {out.stderr[-800:]}")
    return np.array([float(line) for line in out.stdout.split()])


failed = 0
for make, batch, epochs in ((mnist, 100, 10), (cnn, 64, 2)):
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    model, name = make(), make.__name__
    start = model.get_weights()
    weights = folder / name
    save_file({v.path: v.numpy() for v in model.weights}, weights)

    def compiled():
        model.set_weights(start)
        model.compile(optimizer=keras.optimizers.Adam(), metrics=["accuracy"],
                      loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))

    compiled()
    theirs = []
    for i in range(100):
        model.reset_metrics()
        rows = slice(i * batch, (i + 1) * batch)
        theirs.append(float(model.train_on_batch(images[rows], labels[rows], return_dict=True)["loss"]))
    ours = rewind(name, weights, "steps", 100)
    steps = np.abs(ours - theirs) / np.abs(theirs)

    count, rows = (epochs, 60000) if full else (1, 6000)
    compiled()
    history = model.fit(images[:rows], labels[:rows], batch_size=batch, epochs=count, shuffle=False, verbose=0).history
    want = np.array(history["loss"] + history["accuracy"])
    means = np.abs(rewind(name, weights, "epochs", count, rows) - want) / want
    ok = steps.max() <= 1e-3 and means.max() <= 0.02
    failed += not ok
    print(f"{name}: losses of 100 steps differ by at most {steps.max():.1e}, loss and accuracy of {count} epoch(s) over "
          f"{rows} images by {means.max():.2%}: {'ok' if ok else 'TOO MUCH'}")
sys.exit(failed != 0)
