"""Weights in files against the real safetensors library and Keras, both ways.

    check_safetensors.py BUILD_FOLDER    (with a Python that has TensorFlow and safetensors)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers as L  # noqa: E402
from safetensors import safe_open  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

program = pathlib.Path(sys.argv[1]) / "tests" / "saved_weights"
folder = pathlib.Path(tempfile.mkdtemp())


def rewind(*arguments):
    out = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if out.returncode: sys.exit(f"saved_weights {arguments} ended with {out.returncode}: {out.stderr[-800:]}")
    return np.array([float(line) for line in out.stdout.split()], np.float32)


def every_type():
    """A file of the real library, read and written again by Rewind, read by the real library."""
    rng = np.random.default_rng(1)
    arrays = {}
    for dtype in ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
                  "float32", "float64", "complex64", ml_dtypes.bfloat16]:
        for shape in [(), (0,), (3,), (2, 0, 4), (3, 5, 2)]:
            bits = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8)
            value = (bits & 1).astype(bool) if dtype == "bool" else bits.view(dtype)
            arrays[f"{np.dtype(dtype).name}/{shape} \"é\""] = value.reshape(shape)
    save_file(arrays, folder / "theirs", metadata={"epoch": "3", "é\n": "\"\\"})
    rewind("copy", folder / "theirs", folder / "ours")
    back = load_file(folder / "ours")
    check("names", back.keys() == arrays.keys())
    for name in back.keys() & arrays.keys():
        a, b = arrays[name], back[name]
        check(name, a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    with safe_open(folder / "ours", "np") as f:
        check("metadata", f.metadata() == {"epoch": "3", "é\n": "\"\\"})


def network():
    x = keras.Input((8, 8, 2))
    y = L.Conv2D(3, 3, padding="same")(x)
    y = L.BatchNormalization()(y)
    y = L.Reshape((8, 24))(y)
    y = L.Bidirectional(L.LSTM(5, return_sequences=True))(y)
    y = L.MultiHeadAttention(2, 4)(y, y)
    y = L.LayerNormalization()(y)
    y = L.GlobalAveragePooling1D()(y)
    return keras.Model(x, L.Dense(3)(L.Dense(6, activation="relu")(y)))


def model_both_ways():
    model = network()
    images = np.sin(0.37 * np.arange(4 * 8 * 8 * 2)).astype(np.float32).reshape(4, 8, 8, 2)
    ours = rewind("save", folder / "model")
    arrays = load_file(folder / "model")
    check("paths of the weights", arrays.keys() == {v.path for v in model.weights})
    for v in model.weights: v.assign(arrays[v.path])
    check("Keras with Rewind's weights", np.allclose(model(images).numpy().ravel(), ours, rtol=1e-4, atol=1e-5))
    for v in model.weights: v.assign(v.numpy() * np.float32(0.5) + np.float32(0.1))
    save_file({v.path: v.numpy() for v in model.weights}, folder / "keras")
    ours = rewind("predict", folder / "keras")
    check("Rewind with Keras' weights", np.allclose(model(images).numpy().ravel(), ours, rtol=1e-4, atol=1e-5))


every_type()
model_both_ways()
print("\n".join(failed))
print(f"safetensors: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
