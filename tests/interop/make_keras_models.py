"""Writes tests/golden/keras/: small models of Keras 3 and of Keras 2, for tests that run without it.

    make_keras_models.py          with a Python that has TensorFlow and tf_keras

The models give x @ [[1, 2], [3, 4]] + [10, 20] for inputs x of two numbers.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "keras"

if "2" in sys.argv[1:]:
    import tf_keras as keras
else:
    import keras
import numpy as np  # noqa: E402

FOLDER.mkdir(exist_ok=True)
keras.utils.set_random_seed(1)
two = "2" in sys.argv[1:]
first = [keras.layers.Dense(2, name="line", input_shape=(2,))] if two else [keras.Input((2,), name="x"), keras.layers.Dense(2, name="line")]
model = keras.Sequential(first, name="lines")
model.compile(keras.optimizers.SGD(0.1, momentum=0.5), keras.losses.MeanSquaredError(), metrics=["mae"])
model.train_on_batch(np.ones((1, 2), "f4"), np.ones((1, 2), "f4"))
model.set_weights([np.array([[1, 2], [3, 4]], "f4"), np.array([10, 20], "f4")])
model.save(FOLDER / ("keras2.h5" if two else "lines.h5"))
if not two:
    model.save(FOLDER / "lines.keras")
    model.save_weights(FOLDER / "lines.weights.h5")
    subprocess.run([sys.executable, __file__, "2"], check=True, env=dict(os.environ, TF_USE_LEGACY_KERAS="1"))
