"""The command line beside TensorFlow's own: `rewind saved_model show` says what `saved_model_cli show --all` does, `run` gives
TensorFlow's results, and what `convert` writes TensorFlow and Keras open.

    check_command_line.py BUILD_FOLDER    (with a Python that has TensorFlow)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.python.tools import saved_model_utils  # noqa: E402
import tally  # noqa: E402
from tally import check, failed  # noqa: E402

tf.get_logger().setLevel("ERROR")
rewind = pathlib.Path(sys.argv[1]) / "cli" / "rewind"
folder = pathlib.Path(tempfile.mkdtemp())


def run(*arguments):
    done = subprocess.run([rewind, *map(str, arguments)], capture_output=True, text=True)
    check(" ".join(map(str, arguments)), done.returncode == 0, done.stderr.strip()[-500:])
    return done.stdout


class Texts(tf.Module):
    def __init__(self): self.w = tf.Variable(2.0, name="w")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "s"), tf.TensorSpec([None, 2], tf.float32, "x"),
                                  tf.TensorSpec([], tf.bool, "b"), tf.TensorSpec(None, tf.int64, "n")])
    def call(self, s, x, b, n):
        y = tf.cond(b, lambda: x * self.w, lambda: x)
        return {"joined": tf.strings.join([s, "!"]), "y": y, "not": tf.logical_not(b), "n": n + 1}


texts = Texts()
tf.saved_model.save(texts, str(folder / "texts"), signatures={"serving_default": texts.call, "other": texts.call})
x = keras.Input((4,), name="features")
model = keras.Model(x, [keras.layers.Dense(2, name="u")(x), keras.layers.Dense(1, activation="relu", name="v")(x)])
model.compile(keras.optimizers.Adam(0.01), ["mse", "mse"])
data = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
model.train_on_batch(data, [data[:, :2], data[:, :1]])
model.export(folder / "exported", verbose=False)

# ---- show
for name in ["texts", "exported"]:
    shown = json.loads(run("saved_model", "show", folder / name, "--json"))
    (graph,) = saved_model_utils.read_saved_model(str(folder / name)).meta_graphs
    check(f"{name}: tags", shown["tags"] == list(graph.meta_info_def.tags), shown["tags"])
    ops = {n.op for n in graph.graph_def.node} | {n.op for f in graph.graph_def.library.function for n in f.node_def}
    check(f"{name}: ops", set(shown["ops"]) == ops, set(shown["ops"]) ^ ops)
    want = {k: v for k, v in graph.signature_def.items() if k != "__saved_model_init_op"}
    check(f"{name}: signatures", set(shown["signatures"]) == set(want), set(shown["signatures"]) ^ set(want))
    for key, signature in want.items():
        got = shown["signatures"][key]
        check(f"{name}: method of {key}", got["method"] == signature.method_name, got["method"])
        for side in ["inputs", "outputs"]:
            facts = {n: {"dtype": tf.dtypes.as_dtype(t.dtype).name, "tensor": t.name,
                         "shape": None if t.tensor_shape.unknown_rank else [None if d.size < 0 else d.size for d in t.tensor_shape.dim]}
                     for n, t in getattr(signature, side).items()}
            check(f"{name}: {side} of {key}", got[side] == facts, f"{got[side]} for {facts}")
    values = {v.name.split(":")[0]: list(v.shape) for v in tf.saved_model.load(str(folder / name)).variables} if name == "exported" else {"w": []}
    check(f"{name}: variables", {v["name"].split(":")[0]: v["shape"] for v in shown["variables"]} == values, shown["variables"])

# ---- run: numpy's S and U, its wide numbers
for s in [np.array(["äb", "c"]), np.array([b"ab", b"c"])]:
    given = {"s": s, "x": np.array([[1, 2.5], [3, 4]]), "b": np.array(True), "n": np.array([[1], [2]])}
    np.savez(folder / "in.npz", **given)
    run("saved_model", "run", folder / "texts", "--signature", "other", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
    got = dict(np.load(folder / "out.npz"))
    want = texts.call(tf.constant(s.tolist()), tf.constant(given["x"], tf.float32), tf.constant(True), tf.constant(given["n"]))
    for k, v in want.items():
        check(f"run: {k}", np.array_equal(got[k], v.numpy().astype(got[k].dtype)) and got[k].shape == v.shape, f"{got[k]} for {v}")

# ---- convert: whole models, through every format that holds one
want = [np.array(v) for v in model(data)]
model.save(folder / "m.keras")
run("convert", folder / "m.keras", folder / "m.h5")
run("convert", folder / "m.h5", folder / "again.keras")
again = keras.models.load_model(folder / "again.keras")
check("convert: results", all(np.allclose(a, b, 1e-6) for a, b in zip(again(data), want)))
check("convert: optimizer", all(np.array_equal(a, b) for a, b in zip(again.optimizer.variables, model.optimizer.variables)))
run("convert", folder / "m.keras", f"{folder}/served/")
served = tf.saved_model.load(str(folder / "served"))
out = served.signatures["serving_default"](features=tf.constant(data))
check("convert: SavedModel", all(np.allclose(out[f"output_{i}"], v, 1e-5, 1e-6) for i, v in enumerate(want)), str(out))
run("convert", folder / "m.keras", folder / "ckpt")
fresh = keras.models.clone_model(model)
tf.train.Checkpoint(fresh).read(str(folder / "ckpt")).expect_partial()
check("convert: checkpoint", all(np.array_equal(a, b) for a, b in zip(fresh.weights, model.weights)))
run("convert", folder / "m.keras", folder / "m.weights.h5")
fresh = keras.models.clone_model(model)
fresh.compile(keras.optimizers.Adam(0.01), ["mse", "mse"])
fresh.optimizer.build(fresh.trainable_variables)
fresh.load_weights(folder / "m.weights.h5")
check("convert: weights", all(np.array_equal(a, b) for a, b in zip(fresh.weights, model.weights)))
run("convert", folder / "exported", folder / "arrays.npz")
arrays = np.load(folder / "arrays.npz")
check("convert: arrays", any(np.array_equal(arrays[k], model.weights[0]) for k in arrays.files), str(arrays.files))
# ---- checkpoints with what only TensorFlow can read: the state of an iterator
iterator = iter(tf.data.Dataset.range(20).shuffle(7, seed=3).batch(2))
next(iterator)
tf.train.Checkpoint(it=iterator, v=tf.Variable([1.0, 2.0])).write(str(folder / "iterator_a"))
check("iterator: list", "variant" in run("checkpoint", "list", folder / "iterator_a"))
check("iterator: diff", "none differing" in run("checkpoint", "diff", folder / "iterator_a", folder / "iterator_a"))
run("convert", folder / "iterator_a", folder / "iterator.npz")
check("iterator: convert", np.load(folder / "iterator.npz").files == ["v/.ATTRIBUTES/VARIABLE_VALUE"], str(np.load(folder / "iterator.npz").files))

# ---- convert: frozen graphs, which TensorFlow runs with the same results
class Flow(tf.Module):
    def __init__(self):
        super().__init__()
        self.w, self.table = tf.Variable(np.float32([[0.5, -1.0], [0.25, 2.0]]), name="w"), tf.Variable(data, name="table")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([None], tf.int32, "ids")])
    def call(self, x, ids):
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x @ self.w, lambda: x - tf.reduce_sum(self.w))
        for i in tf.range(3):
            if i % 2 == 0: y = tf.tanh(y @ self.w)
            else: y += tf.gather(self.table, ids)[:, :2]
        return {"Y": y, "rows": tf.nn.embedding_lookup(self.table, ids), "shape": tf.shape(self.table)}


flow = Flow()
tf.saved_model.save(flow, str(folder / "flow"), signatures={"serving_default": flow.call})
lstm = keras.Sequential([keras.Input((None,), dtype="int32", name="words"), keras.layers.Embedding(9, 4, mask_zero=True),
                         keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True)), keras.layers.GRU(2), keras.layers.BatchNormalization()])
lstm.export(folder / "lstm", verbose=False)
small = keras.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classes=5)
small.export(folder / "mobilenet", verbose=False)
feeds = {"flow": [{"x": s * data[:2, :2], "ids": np.array([1, 4], np.int32)} for s in (1, -1)], "lstm": [{"words": np.array([[1, 5, 0, 0], [2, 3, 8, 1]], np.int32)}],
         "mobilenet": [{small.inputs[0].name: np.random.default_rng(1).normal(size=(1, 64, 64, 3)).astype(np.float32)}], "exported": [{"features": data}]}
for name, calls in feeds.items():
    f = tf.saved_model.load(str(folder / name)).signatures["serving_default"]
    for ending in ["pb", "pbtxt"] if name == "flow" else ["pb"]:
        frozen = folder / f"{name}.{ending}"
        names = json.loads(run("convert", folder / name, frozen, "--json") or "null")
        if not names: continue
        graph = tf.compat.v1.GraphDef()
        if ending == "pb": graph.ParseFromString(frozen.read_bytes())
        else: text_format.Parse(frozen.read_text(), graph)
        ops = {n.op for n in graph.node} | {n.op for fn in graph.library.function for n in fn.node_def}
        check(f"frozen {name}: no variables", not ops & {"VarHandleOp", "ReadVariableOp", "ResourceGather"}, ops)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.import_graph_def(graph, name="")
            results = [session.run(names["outputs"], {names["inputs"][k]: v for k, v in inputs.items()}) for inputs in calls]
        for inputs, got in zip(calls, results):
            for k, v in f(**{k: tf.constant(v) for k, v in inputs.items()}).items():
                check(f"frozen {name}: {k}", np.allclose(got[k], v, 1e-4, 1e-5), f"{got[k]} for {v}")
print("\n".join(failed))
print(f"command line: {tally.count - len(failed)} checks agree, {len(failed)} differ")
sys.exit(bool(failed))
