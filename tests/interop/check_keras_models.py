"""Whole models in files, both ways: .keras and .h5 files of Keras run and go on training in Rewind, and those that Rewind
then writes do the same in Keras.

    check_keras_models.py BUILD_FOLDER [NAME...] [--full]    (with a Python that has TensorFlow)

Each model is trained a little in Keras and saved. Keras' own loaded copy says what the file means: its outputs, and losses,
weights and variables of the optimizer over more steps. Rewind loads the same file and must agree; the file that it saves
then has Keras' configs and its own values bit for bit, and Keras goes on training it with the same results.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import h5py  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from absl import logging  # noqa: E402
from config_difference import difference, plain  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import optimizers as O  # noqa: E402
from keras_model_cases import MODELS, Net, Scale, cubed, real, twice  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

warnings.simplefilter("ignore")
logging.set_verbosity(logging.ERROR)
STEPS = 3


def configs(path):
    """What a file says of the model, as JSON."""
    if str(path).endswith(".keras"):
        with zipfile.ZipFile(path) as z: return {"config": json.loads(z.read("config.json"))}
    with h5py.File(path) as f:
        found = {k: json.loads(f.attrs[k]) for k in ("model_config", "training_config") if k in f.attrs}
    # Keras does not open its own older files with the short names of losses.
    if "training_config" in found: found["training_config"]["loss"] = full_names(found["training_config"]["loss"])
    return found


def full_names(c):
    if isinstance(c, dict): return c if "class_name" in c else {k: full_names(v) for k, v in c.items()}
    if isinstance(c, list): return [full_names(v) for v in c]
    return {"mse": "mean_squared_error", "mae": "mean_absolute_error"}.get(c, c)


def objects(path):
    """The arrays of a file: names, shapes and types."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset): found[name] = (item.shape, str(item.dtype))

    def walk(f): f.visititems(visit)
    if str(path).endswith(".keras"):
        with zipfile.ZipFile(path) as z, z.open("model.weights.h5") as w, h5py.File(w) as f: walk(f)
        return found
    # Older files go by the order of the weights; names of variables depend on when a layer was built.
    with h5py.File(path) as f:
        lists = {"optimizer_weights": f["optimizer_weights"]} if "optimizer_weights" in f else {}
        for name in f["model_weights"].attrs["layer_names"]: lists[name] = f["model_weights"][name]
        return {name: [(g[w].shape, str(g[w].dtype)) for w in g.attrs["weight_names"]] for name, g in lists.items()}


def flat(values): return keras.tree.flatten(values)


def structured(like, values):
    """Inputs or targets as the model has them; dictionaries go by their keys."""
    if like is not None: return keras.tree.pack_sequence_as(like, values)
    return list(values) if len(values) > 1 else values[0]


def inputs(m, case): return structured(getattr(m, "_inputs_struct", None), case.x)
def targets(m, case): return structured(getattr(m, "_outputs_struct", None), case.y)


def numbers(list_, letter):
    return {f"{letter}{i}": np.asarray(keras.ops.convert_to_numpy(v)).astype(np.float32 if "float16" in str(v.dtype) else None)
            for i, v in enumerate(list_)}


def run_keras(m, case, steps):
    """What keras_models.cc does."""
    m.run_eagerly = True
    out = numbers(flat(m(inputs(m, case), training=False)), "p")
    for i in range(steps):
        logs = m.train_on_batch(inputs(m, case), targets(m, case), return_dict=True)
        out[f"l{i}"] = np.array([float(logs[k]) for k in sorted(logs)])
    if steps: out |= numbers(flat(m(inputs(m, case), training=False)), "q")
    out |= numbers(m.weights, "w")
    if m.compiled and m.optimizer: out |= numbers(m.optimizer.variables, "o")
    return out


def compare(what, ours, theirs, tolerance):
    if ours.keys() != theirs.keys():
        return check(what, False, f"other arrays: {sorted(ours.keys() ^ theirs.keys())}")
    for k, want in theirs.items():
        got = ours[k]
        if got.shape != want.shape: return check(what, False, f"{k} is {got.shape}, not {want.shape}")
        if want.dtype.kind == "f": ok = np.allclose(got, want, tolerance, tolerance, equal_nan=True)
        else: ok = np.array_equal(got, want)
        if not ok: return check(what, False, f"{k} is off by {np.abs(got.astype('f8') - want.astype('f8')).max()}: {got.ravel()[:4]} for {want.ravel()[:4]}")
    check(what, True)


def load(path, **options):
    return keras.saving.load_model(path, custom_objects={"Scale": Scale, "Net": Net, "twice": twice, "cubed": cubed}, **options)


def opens(path):
    """Keras does not open all .h5 files that it writes: with operations, or losses by their short names."""
    try: return load(path) is not None
    except Exception: return False


def both_ways(name, case, folder, program):
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    m = case.make()
    steps = STEPS if case.options["train"] and m.compiled else 0
    m.run_eagerly = True
    for _ in range(2 if steps else 0):  # the optimizer's slots are not those of a beginning
        m.train_on_batch(inputs(m, case), targets(m, case))
    data = folder / "data.npz"
    np.savez(data, **{f"x{i}": v for i, v in enumerate(case.x)}, **{f"y{i}": v for i, v in enumerate(case.y)})
    m.run_eagerly = False
    for extension in case.options["formats"]: m.save(folder / ("theirs" + extension))
    for extension in case.options["formats"]:
        what = name + extension
        theirs, out, again = folder / ("theirs" + extension), folder / "out.npz", folder / ("again" + extension)
        for p in (out, again): p.unlink(missing_ok=True)
        if extension == ".keras":  # an .h5 file says the same; Keras does not go on training from those
            keras.backend.clear_session()
            want = run_keras(load(theirs), case, steps)
        done = subprocess.run([program, "run", theirs, data, out, str(steps), again], capture_output=True, text=True)
        if done.returncode:
            check(what, False, done.stderr.strip()[-900:])
            continue
        if done.stderr: check(what, False, "stderr: " + done.stderr.strip()[-400:])
        got = dict(np.load(out))
        compare(what + ": read", got, want, case.options["tolerance"])
        if case.options["exact_config"]:
            d = difference(plain(configs(again)), plain(configs(theirs)))
            check(what + ": config", not d, d)
        check(what + ": objects", objects(again) == objects(theirs),
              f"{objects(again)} for {objects(theirs)}"[:600])
        keras.backend.clear_session()
        if extension == ".h5":
            if not opens(theirs): continue
            copy = load(again, compile=False)
            check(what + ": compiled", load(again).compiled == m.compiled)
        else:
            copy = load(again)
        mine = run_keras(copy, case, 0)
        for letter in "wo":  # bit for bit
            bad = [k for k in mine if k[0] == letter and not (k in got and np.array_equal(got[k], mine[k]))]
            check(f"{what}: written {letter}", not bad, str(bad))
        compare(what + ": written", {k: v for k, v in mine.items() if k[0] == "p"},
                {"p" + k[1:]: v for k, v in got.items() if k[0] == ("q" if steps else "p")}, case.options["tolerance"])
        if not steps or extension == ".h5": continue
        # Both go on from Rewind's file.
        mine = run_keras(copy, case, steps)
        subprocess.run([program, "run", again, data, out, str(steps)], check=True)
        compare(what + ": goes on", dict(np.load(out)), mine, case.options["tolerance"])


def saved_model_layers(folder, program):
    """TFSMLayer on what Keras exports and on a module's SavedModel."""
    import tensorflow as tf
    data = real(8, 4)

    class Module(tf.Module):
        def __init__(self): self.w, self.shift = tf.Variable(real(4, 3)), tf.Variable(real(3), trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def infer(self, x): return tf.tanh(x @ self.w) + self.shift

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def train(self, x): return tf.tanh(x @ self.w) * 2.0

    module = Module()
    tf.saved_model.save(module, str(folder / "module"), signatures={"serving_default": module.infer, "second": module.train})
    exported = keras.Sequential([keras.Input((4,), name="x"), L.Dense(3, activation="tanh"), L.BatchNormalization()])
    exported.export(folder / "exported", verbose=False)
    np.savez(folder / "data.npz", x0=data, y0=data[:, :1])
    for at, call, training in [("module", "infer", "train"), ("module", "infer", ""), ("exported", "serve", ""),
                               ("module", "serving_default", "second"), ("exported", "serving_default", "")]:
        what = f"TFSMLayer {at} {call} {training}"
        keras.backend.clear_session()
        layer = L.TFSMLayer(folder / at, call_endpoint=call, call_training_endpoint=training or None)
        want = numbers(flat(layer(data, training=False)), "p") | numbers(flat(layer(data, training=True)), "t")
        want["counts"] = np.array([len(layer.trainable_weights), len(layer.non_trainable_weights)])
        x = keras.Input((4,))
        y = layer(x)
        m = keras.Model(x, L.Dense(1, kernel_initializer="ones")(y if not isinstance(y, dict) else y[sorted(y)[0]]))
        m.compile(O.SGD(0.1), "mse", run_eagerly=True)
        for _ in range(3): m.train_on_batch(data, data[:, :1])
        want |= numbers([m(data, training=False)], "q")
        done = subprocess.run([program, "tfsm", folder / at, call, training, folder / "data.npz", folder / "out.npz"],
                              capture_output=True, text=True)
        check(what, done.returncode == 0, done.stderr.strip()[-600:])
        if done.returncode == 0: compare(what, dict(np.load(folder / "out.npz")), want, 1e-5)
    for path in ["module", "exported"]:
        done = subprocess.run([program, "error", folder / path], capture_output=True, text=True)
        check(f"load_model of {path}", done.returncode == 1 and "keras::TFSMLayer(" in done.stderr, done.stderr)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build")
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--full", action="store_true")
    a = arguments.parse_args()
    program = pathlib.Path(a.build).resolve() / "tests" / "keras_models"
    folder = pathlib.Path(tempfile.mkdtemp())
    for name, case in MODELS.items():
        if a.names and name not in a.names or case.options["full"] and not (a.full or a.names): continue
        try: both_ways(name, case, folder, program)
        except Exception as e: check(name, False, f"{type(e).__name__}: {str(e)[:600]}")
    if not a.names or "TFSMLayer" in a.names: saved_model_layers(folder, program)
    shutil.rmtree(folder)
    print("\n".join(failed))
    print(f"keras models: {tally.count - len(failed)} checks agree, {len(failed)} differ")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
