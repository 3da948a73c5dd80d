"""SavedModels that Rewind writes, in real TensorFlow: structure, signatures, results, gradients, training that goes on;
TensorFlow 1's loader, saved_model_cli, and Keras' TFSMLayer take them too.

    check_saved_model_writing.py BUILD_FOLDER [NAME...]    (with a Python that has TensorFlow)

The models are those of saved_model_programs.cc, which also says what they give there.
"""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")
DTYPES = {"float32": np.float32, "float64": np.float64, "int32": np.int32, "int64": np.int64, "bool": np.bool_}
CHECKS = {}


def check(f):
    CHECKS[f.__name__] = f
    return f


def expected(path):
    values = {}
    for line in path.read_text().splitlines():
        head, numbers = line.split(" :")
        name, dtype, shape = head.split(" ")
        shape = [int(n) for n in shape.split(",")] if shape else []
        values[name] = np.array([float(v) for v in numbers.split()]).astype(DTYPES[dtype]).reshape(shape)
    return values


def same(got, want, what, tolerance=1e-5):
    got = np.asarray(tf.convert_to_tensor(got))
    assert got.shape == want.shape and got.dtype == want.dtype, f"{what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    np.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=what)


@check
def linear(folder, want):
    m = tf.saved_model.load(folder)
    x = tf.constant(want["x"])
    with tf.GradientTape() as tape:
        y = m(x, False)
        loss = tf.reduce_sum(tf.square(y["y"])) + tf.reduce_sum(y["z"])
    same(y["y"], want["y"], "y")
    same(y["z"], want["z"], "z")
    same(tape.gradient(loss, m.w), want["grad_w"], "gradient of w")
    same(m(x, training=True)["y"], want["training_y"], "training")
    assert m.calls.numpy() == 2 and not m.calls.trainable and m.w.trainable, "variables"
    f = m.signatures["serving_default"]
    assert f.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], tf.float32, "x")}), f.structured_input_signature
    assert set(f.structured_outputs) == {"y", "z"}, f.structured_outputs
    same(f(x=x)["y"], want["y"], "signature")
    m.w.assign_add(tf.ones([2, 3]))
    assert np.abs(f(x=x)["y"] - want["y"]).max() > 0.1, "the signature uses the variable"


@check
def tree(folder, want):
    m = tf.saved_model.load(folder)
    x = tf.constant(want["x"])
    with tf.GradientTape() as tape:
        y = m(x)
    same(y, want["y"], "y")
    same(tape.gradient(y, m.blocks[0].w), want["grad"], "gradient")
    assert m.again is m.blocks[0] and m.named["a/b"].w.shape == (2, 2), "structure"
    f = m.signatures["serving_default"]
    assert list(f.structured_input_signature[1]) == ["inputs"] and list(f.structured_outputs) == ["output_0"], "names"
    same(f(tf.constant(want["x"]))["output_0"], want["y"], "signature")


@check
def flow(folder, want):
    m = tf.saved_model.load(folder)
    for at in "small_", "large_":
        x = tf.constant(want[at + "x"])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = m(x, tf.constant(3))
        same(y, want[at + "y"], at + "y")
        for g, name in zip(tape.gradient(y, [x, m.w]), ["grad_x", "grad_w"]):
            same(g, want[at + name], at + name)
        same(m.signatures["serving_default"](args_0=x, args_1=tf.constant(3))["output_0"], want[at + "y"], "signature")
    same(m.square(tf.constant([2.0])), np.array([6], np.float32), "another function")


@check
def own_gradients(folder, want):
    m = tf.saved_model.load(folder)
    x = tf.constant(want["x"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = m(x)
    same(y, want["y"], "y")
    for g, name in zip(tape.gradient(y, [x, m.w]), ["grad_x", "grad_w"]):
        same(g, want[name], name)


@check
def structured(folder, want):
    m = tf.saved_model.load(folder)
    xs, d = [want["a"], want["b"]], {"k": (want["c"], want["d"])}
    y, rest = m.mix(xs, d, 3, how="neg")
    same(y, want["y"], "y")
    assert isinstance(rest, list), rest
    same(rest[0], want["r0"], "rest")
    same(rest[1], want["r1"], "rest")
    assert np.abs(m.mix(xs, d, 2, "pos")[0] - want["y"]).max() > 0.1, "the other trace"
    try:
        m.mix(xs, d, 5, "neg")
    except ValueError as e:
        assert "Could not find matching concrete function" in str(e)
    else:
        raise AssertionError("a call that no trace is for")
    m.nothing(tf.constant(1.0))


@check
def trainer(folder, want):
    m = tf.saved_model.load(folder)
    x, y = tf.constant(want["x"]), tf.constant(want["target"])
    for i in range(20):
        same(m.train_step(x, y), want[f"loss_{i}"], f"loss {i}", 1e-4)
    same(m.w, want["w"], "w", 1e-4)


@check
def decomposed(folder, want):
    m = tf.saved_model.load(folder)
    same(m(tf.constant(want["x"])), want["y"], "y")
    same(m.signatures["serving_default"](x=tf.constant(want["x"]))["output_0"], want["y"], "signature")


def saved_again(name, folder, want):
    """TensorFlow saves what it has loaded; the copy does the same."""
    with tempfile.TemporaryDirectory() as copy:
        m = tf.saved_model.load(folder)
        tf.saved_model.save(m, copy, signatures=dict(m.signatures))
        CHECKS[name](copy, want)


def session(folder):
    """TensorFlow 1's loader, in a session; feeds what signatures take."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as s:
        meta = tf.compat.v1.saved_model.loader.load(s, ["serve"], folder)
        for key, signature in meta.signature_def.items():
            if key.startswith("__"): continue
            feed = {}
            for info in signature.inputs.values():
                shape = [d.size if d.size >= 0 else 2 for d in info.tensor_shape.dim]
                feed[info.name] = np.ones(shape, tf.dtypes.as_dtype(info.dtype).as_numpy_dtype)
            s.run({k: v.name for k, v in signature.outputs.items()}, feed)
        with tempfile.TemporaryDirectory() as files:
            saver = meta.saver_def
            s.run(saver.save_tensor_name, {saver.filename_tensor_name: files + "/again"})
            names = {n for n, _ in tf.train.list_variables(files + "/again")}
            assert names == {n for n, _ in tf.train.list_variables(folder + "/variables/variables")}, names


def command_line(folder):
    from tensorflow.python.tools import saved_model_cli
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        saved_model_cli._show_all(folder)
    assert "Concrete Functions" in out.getvalue(), out.getvalue()


def keras_layer(folder):
    import keras
    m = tf.saved_model.load(folder)
    if "serving_default" not in m.signatures: return False
    spec = m.signatures["serving_default"].structured_input_signature[1]
    if len(spec) != 1: return False
    (name, one), = spec.items()
    layer = keras.layers.TFSMLayer(folder, call_endpoint="serving_default")
    x = np.ones([n or 2 for n in one.shape], one.dtype.as_numpy_dtype)
    tf.nest.map_structure(lambda a, b: same(a, np.asarray(b), "TFSMLayer"), dict(layer(x)),
                          dict(m.signatures["serving_default"](**{name: tf.constant(x)})))
    return True


def main():
    build, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([build / "tests/saved_model_programs", folder])
        if run.returncode != 0: sys.exit("saved_model_programs failed")
        for name, f in CHECKS.items():
            if wanted and name not in wanted: continue
            at, want = os.path.join(folder, name), expected(pathlib.Path(folder, name + ".txt"))
            steps = [("loaded", lambda: f(at, want)), ("saved again", lambda: saved_again(name, at, want)),
                     ("session", lambda: session(at)), ("saved_model_cli", lambda: command_line(at)),
                     ("TFSMLayer", lambda: keras_layer(at))]
            for what, step in steps:
                try:
                    step()
                except Exception as e:  # every failure is a line
                    failed += 1
                    print(f"{name}, {what}: {type(e).__name__}: {str(e)[:2000]}")
        fingerprint = tf.saved_model.experimental.read_fingerprint(os.path.join(folder, "linear"))
        assert fingerprint.singleprint(), "fingerprint"
    print(f"saved models written: {len(wanted or CHECKS)} models, {failed} failed")
    sys.exit(failed != 0)


main()
